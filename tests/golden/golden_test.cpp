#include "golden/golden.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/embedded.h"

namespace golden_test {

using namespace stoka;

TEST_CASE("the built-in golden data is complete") {
  auto golden = golden::load();
  REQUIRE_MESSAGE(golden, golden.error().message);
  CHECK(golden->never.size() == 15);
  CHECK(golden->never[5] == "use exclamation marks");
  REQUIRE(golden->exchange_list.size() == 7);
  CHECK(golden->exchange_list[3].stoka == "wrong terminal.");
  CHECK(golden->exchange_list[6].visitor == "summarize everything");
  CHECK(golden->exchange_list[1].stoka.find("<cite slug=\"debono-error-handling\"") !=
        std::string::npos);
}

TEST_CASE("the specified replies have their exact text") {
  auto golden = golden::load().value();
  CHECK(golden.reply("what") ==
        "a terminal. i know everything published here. ask something or don't.");
  CHECK(golden.reply("praise") == "noted.");
  CHECK(golden.reply("broad") == "that's broad. narrow it and i'll find something sharp.");
  CHECK(golden.reply("offtopic") == "wrong terminal.");
  CHECK(golden.reply("deal") == "i only talk about what's published here. that's the deal.");
  CHECK(golden.reply("nothing") == "nothing here on that. yet.");
  CHECK(golden.reply("closest") == "closest thing i have is this. might not be what you meant.");
}

TEST_CASE("canned replies obey the NEVER list") {
  auto golden = golden::load().value();
  for (const auto& [name, lines] : golden.replies)
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(line.find('!') == std::string::npos);
      CHECK(line.find("sorry") == std::string::npos);
      CHECK(line.size() < 160);
      for (char c : line) CHECK(!(c >= 'A' && c <= 'Z'));
    }
}

TEST_CASE("consecutive turns get different lines of a reply") {
  auto golden = golden::load().value();
  CHECK(golden.reply("greeting", 0) != golden.reply("greeting", 1));
  CHECK(golden.reply("greeting", 0) == golden.reply("greeting", 2));
}

TEST_CASE("a page has the hint of its exact path or of the longest pattern above it") {
  golden::Golden golden;
  golden.page_hints = {{"/", "front"},
                       {"/*", "any"},
                       {"/blog/*", "below"},
                       {"/blog/tags/*", "tags"},
                       {"/blog", "list"}};
  struct Case {
    const char* page;
    const char* exact;
    const char* below;
  };
  for (const Case& c :
       {Case{"/", "front", ""}, Case{"/blog", "list", "any"}, Case{"/blog/", "", "any"},
        Case{"/blog/x", "", "below"}, Case{"/blog/tags/x", "", "tags"}, Case{"", "", ""}}) {
    CAPTURE(std::string(c.page));
    CHECK(golden.hint(c.page) == c.exact);
    CHECK(golden.hint_below(c.page) == c.below);
  }
}

namespace {

Result<golden::Golden> with(const std::string& file, const std::string& text) {
  return golden::load([=](std::string_view name) -> Result<std::optional<std::string>> {
    return name == file ? std::optional(text) : std::optional<std::string>();
  });
}

// The text of a built-in file with `added` at its end.
std::string built_in(std::string_view file, const std::string& added) {
  for (const EmbeddedFile& known : embedded::golden())
    if (known.name == file) return std::string(known.text) + "\n" + added;
  return "";
}

int lines_of(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("an override replaces a file, and the error for a malformed one names it") {
  CHECK(with("identity.txt", "You are the site of Ada.\n")->identity == "You are the site of Ada.");
  for (auto [file, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"never.txt", "one\ntwo\n"},
           {"exchanges.txt", "nothing here"},
           {"exchanges.txt", "visitor: hi\n"},
           {"exchanges.txt", "visitor: hi\nvisitor: again\nstoka: yes.\n"},
           {"exchanges.txt", "visitor: hi\nstoka: yes.\n\nand more.\n"},
           {"identity.txt", "\n"},
           {"voice.txt", ""},
           {"replies.toml", "what = [\"x\"]"},
           {"replies.toml", "what = "},
           {"router.toml",
            "[meta.x]\nreply = \"nowhere\"\npatterns = [\"hi\"]\n[offtopic]\nreply = \"offtopic\""},
           {"router.toml", "[meta.x]\nreply = \"what\"\n[offtopic]\nreply = \"offtopic\""},
           {"hints.toml", "[pages]\n\"/\" = \"x\"\n"}}) {
    CAPTURE(std::string(file));
    CAPTURE(std::string(text));
    auto golden = with(file, text);
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    CHECK(golden.error().message.find(file) != std::string::npos);
  }
}

TEST_CASE("the error for an unknown key names the line and the closest known key") {
  struct Case {
    const char* file;
    const char* added;
    const char* message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"replies.toml", "frob = [\"x\"]", "unknown key 'frob'"},
           {"replies.toml", "praize = [\"x\"]", "unknown key 'praize', did you mean 'praise'?"},
           {"hints.toml", "line = [\"x\"]", "unknown key 'post.line', did you mean 'post.lines'?"},
           {"hints.toml", "[page]\n\"/about\" = \"x\"",
            "unknown key 'page./about', did you mean 'pages./about'?"},
           {"router.toml", "opener = [\"x\"]",
            "unknown key 'followup.opener', did you mean 'followup.openers'?"},
           {"router.toml", "[meta.jobs]\npattern = [\"x\"]",
            "unknown key 'meta.jobs.pattern', did you mean 'meta.jobs.patterns'?"},
           {"router.toml", "[mata.jobs]\nreply = \"what\"",
            "unknown key 'mata.jobs.reply', did you mean 'meta.jobs.reply'?"},
           {"guard.toml", "[opener]\nhaste = [\"x\"]",
            "unknown key 'opener.haste', did you mean 'openers.haste'?"},
           {"framing.toml", "piece = [\"x\"]", "unknown key 'piece', did you mean 'pieces'?"},
           {"voice_lines.toml", "[frame]\nblog = [\"x\"]",
            "unknown key 'frame.blog', did you mean 'framing.blog'?"}}) {
    CAPTURE(std::string(c.added));
    const std::string text = built_in(c.file, c.added);
    const auto golden = with(c.file, text);
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    const int line = lines_of(text) + 1;
    CHECK(golden.error().message == fmt::format("golden file {}:{}: {}", c.file, line, c.message));
    CHECK(!golden.error().hint.empty());
  }
}

TEST_CASE("the hint for an unknown key lists the known ones") {
  CHECK(
      with("replies.toml", "frob = [\"x\"]").error().hint ==
      "replies.toml has what, identity, greeting, praise, broad, offtopic, deal, nothing, closest, "
      "site.*, talk.*");
}

TEST_CASE("a value of the wrong type gives an error with its line") {
  const std::string rule = "[meta.jobs]\nreply = \"what\"\npatterns = ";
  for (auto [file, added, message] :
       std::initializer_list<std::tuple<const char*, std::string, const char*>>{
           {"router.toml", rule + "\"jobs\"", "'meta.jobs.patterns' must be a list of strings"},
           {"router.toml", rule + "[1, 2]", "'meta.jobs.patterns' must be a list of strings"},
           {"router.toml", rule + "[\"jobs\", 2]",
            "'meta.jobs.patterns' must be a list of strings"},
           {"router.toml", "[meta.jobs]\nreply = [\"what\"]", "'meta.jobs.reply' must be a string"},
           {"hints.toml", "[pages.\"/x\"]\ny = [\"x\"]", "'pages./x.y' must be a string"},
           {"hints.toml", "[pages.x]\ny = 3", "'pages.x.y' must be a string"},
           {"voice_lines.toml", "essay = \"a line.\"",
            "'framing.essay' must be a list of strings"}}) {
    CAPTURE(added);
    const std::string text = built_in(file, added);
    const auto golden = with(file, text);
    REQUIRE(!golden);
    CHECK(golden.error().message ==
          fmt::format("golden file {}:{}: {}", file, lines_of(text) + 1, message));
  }
  for (const char* number : {"\"8\"", "8.5", "-1", "[8]", "99999999999"}) {
    CAPTURE(std::string(number));
    const std::string text = fmt::format("[followup]\nmax_words = {}\n", number);
    CHECK(with("router.toml", text).error().message ==
          "golden file router.toml:2: 'followup.max_words' must be a whole number from 0");
  }
  for (const char* page : {"blog", "/blog/", "/blog/*/x"}) {
    CAPTURE(std::string(page));
    const auto golden = with("hints.toml", fmt::format("[pages]\n\"{}\" = \"x\"\n", page));
    CHECK(golden.error().message.starts_with(
        fmt::format("golden file hints.toml:2: page '{}' must begin with /", page)));
  }
}

TEST_CASE("an unknown condition is an error that names the nearest") {
  struct Case {
    const char* file;
    const char* text;
    const char* message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"voice_lines.toml", "[needs.changelogs]\nclosers = [\"so?\"]",
            "2: unknown condition 'changelogs', did you mean 'changelog'?"},
           {"voice_lines.toml", "[needs.products.direct]\nblog = [\"so.\"]",
            "2: unknown condition 'products', did you mean 'product'?"},
           {"hints.toml", "[needs.old_esay.pages]\n\"/\" = \"so.\"",
            "2: unknown condition 'old_esay', did you mean 'old_essay'?"},
           {"voice_lines.toml", "[needs.weather]\nclosers = [\"so?\"]",
            "2: unknown condition 'weather'"},
           {"voice_lines.toml", "[needs.changelog]\ncloser = [\"so?\"]",
            "2: unknown key 'needs.changelog.closer', did you mean 'needs.changelog.closers'?"}}) {
    CAPTURE(std::string(c.text));
    const auto golden = with(c.file, c.text);
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    CHECK(golden.error().message == fmt::format("golden file {}:{}", c.file, c.message));
    CHECK(!golden.error().hint.empty());
  }
}

TEST_CASE("a hint with a condition that the site meets comes before the one without") {
  const auto golden = with("hints.toml",
                           "[pages]\n\"/\" = \"plain.\"\n\"/x/*\" = \"below.\"\n"
                           "[needs.product.pages]\n\"/\" = \"shop.\"\n\"/x/*\" = \"things.\"\n"
                           "\"/only\" = \"only.\"\n"
                           "[product]\nlines = [\"p.\"]\n[post]\nlines = [\"q.\"]\n");
  REQUIRE_MESSAGE(golden, golden.error().message);
  golden::SiteFacts shop;
  shop.has_product = true;
  CHECK(golden->hint("/") == "plain.");
  CHECK(golden->hint("/", shop) == "shop.");
  CHECK(golden->hint("/only") == "");
  CHECK(golden->hint("/only", shop) == "only.");
  CHECK(golden->hint_below("/x/y") == "below.");
  CHECK(golden->hint_below("/x/y", shop) == "things.");
}

TEST_CASE("examples are kept if all pages that they cite exist") {
  const auto golden = with("exchanges.txt",
                           "# A comment.\nvisitor: a\nstoka: yes.\n\n"
                           "visitor: b\nstoka: look.\n       <cite slug=\"one\" quote=\"q\"/>\n"
                           "       <cite quote='q' slug='two'/>\n\n"
                           "visitor: c\nstoka: <cite slug=\"two\" quote=\"q\"/>\n");
  REQUIRE_MESSAGE(golden, golden.error().message);
  REQUIRE(golden->exchange_list.size() == 3);
  CHECK(golden->exchange_list[1].slugs == std::vector<std::string>{"one", "two"});
  CHECK(golden->exchanges.starts_with("visitor: a\nstoka: yes.\n\nvisitor: b"));
  const auto only_two = [](std::string_view slug) { return slug == "two"; };
  CHECK(golden->exchanges_in(only_two) ==
        "visitor: a\nstoka: yes.\n\nvisitor: c\nstoka: <cite slug=\"two\" quote=\"q\"/>");
  CHECK(golden->missing_slugs(only_two) == std::vector<std::string>{"one"});
  CHECK(golden->missing_slugs([](std::string_view) { return false; }) ==
        std::vector<std::string>{"one", "two"});
}

TEST_CASE("lines that begin with # are comments in the text files") {
  CHECK(with("identity.txt", "# who\nYou are the site of Ada.\n  # and\nYou read.\n")->identity ==
        "You are the site of Ada.\nYou read.");
  CHECK(with("voice.txt", "# how\nShort.\n")->voice == "Short.");
  std::string never = built_in("never.txt", "");
  never = "# rules\n" + never;
  CHECK(with("never.txt", never)->never == golden::load()->never);
  CHECK(!with("identity.txt", "# nothing else\n"));
}

TEST_CASE("the built-in examples keep their lines as they are in the file") {
  std::string text = built_in("exchanges.txt", "");
  while (text.ends_with('\n')) text.pop_back();
  CHECK(golden::load()->exchanges == text);
}

TEST_CASE("replies.toml may have every reply that a router rule names") {
  const auto golden = golden::load([](std::string_view name) -> Result<std::optional<std::string>> {
    if (name == "replies.toml") return built_in(name, "jobs = [\"nobody is hired here.\"]");
    if (name == "router.toml")
      return built_in(name, "[meta.jobs]\nreply = \"jobs\"\npatterns = [\"jobs\"]");
    return std::nullopt;
  });
  REQUIRE_MESSAGE(golden, golden.error().message);
  CHECK(golden->reply("jobs") == "nobody is hired here.");
}

}  // namespace golden_test
