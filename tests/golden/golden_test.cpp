#include "golden/golden.h"

#include <doctest/doctest.h>

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

TEST_CASE("fixed replies are worded exactly") {
  auto golden = golden::load().value();
  CHECK(golden.reply("what") ==
        "a terminal. i know everything published here. ask something or don't. which?");
  CHECK(golden.reply("praise") == "noted.");
  CHECK(golden.reply("broad") == "that's broad. narrow it and i'll find something sharp.");
  CHECK(golden.reply("offtopic") == "wrong terminal.");
  CHECK(golden.reply("deal") == "i only talk about what's published here. that's the deal.");
  CHECK(golden.reply("nothing") == "nothing here on that. yet.");
  CHECK(golden.reply("closest") == "closest thing i have is this. might not be what you meant.");
}

TEST_CASE("canned lines keep the NEVER list") {
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

TEST_CASE("lines of one reply are taken in turn") {
  auto golden = golden::load().value();
  CHECK(golden.reply("greeting", 0) != golden.reply("greeting", 1));
  CHECK(golden.reply("greeting", 0) == golden.reply("greeting", 2));
}

TEST_CASE("the longest page pattern gives the hint") {
  golden::Golden golden;
  golden.page_hints = {{"/", "front"}, {"/products/*", "below"}, {"/products/debono", "exact"}};
  CHECK(golden.hint("/") == "front");
  CHECK(golden.hint("/products/tern") == "below");
  CHECK(golden.hint("/products/debono") == "exact");
  CHECK(golden.hint("/products/") == "");
  CHECK(golden.hint("/blog") == "");
}

TEST_CASE("an overriding file is used, and a broken one is named") {
  auto with = [](std::string_view file, std::string text) {
    return golden::load([=](std::string_view name) -> Result<std::optional<std::string>> {
      return name == file ? std::optional(text) : std::optional<std::string>();
    });
  };
  CHECK(with("identity.txt", "You are the site of Ada.\n")->identity == "You are the site of Ada.");
  for (auto [file, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"never.txt", "one\ntwo\n"},
           {"exchanges.txt", "nothing here"},
           {"replies.toml", "what = [\"x\"]"},
           {"replies.toml", "what = "},
           {"router.toml",
            "[meta.x]\nreply = \"nowhere\"\npatterns = [\"hi\"]\n[offtopic]\nreply = \"offtopic\""},
           {"hints.toml", "[pages]\n\"/\" = \"x\"\n"}}) {
    CAPTURE(std::string(file));
    auto golden = with(file, text);
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    CHECK(golden.error().message.find(file) != std::string::npos);
  }
}
