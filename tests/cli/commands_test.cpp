#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ingest/source_format.h"
#include "machine.h"
#include "support/json.h"

namespace commands_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

Machine& machine() {
  static Machine made;
  static bool indexed = (made.index_sample(), true);
  (void)indexed;
  return made;
}

bool one_line(const std::string& text) {
  return !text.empty() && std::count(text.begin(), text.end(), '\n') == 1;
}

Json json_of(std::vector<std::string> arguments) {
  ProcessResult ran = machine().stoka(std::move(arguments));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE("invalid input gives a one-line error and the right exit code") {
  Machine fresh;
  fresh.write("not-a-database", std::string(5000, 'x'));
  fresh.write("folder/x", "");
  fresh.write("bad.toml", "[retrieval]\nmod = 1\n");
  struct Case {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  };
  for (const Case& c : {
           Case{{"chta", "x"}, 2, "did you mean 'chat'?"},
           Case{{"chat", "--jsno", "x"}, 2, "did you mean '--json'?"},
           Case{{"chat", "two", "words"}, 2, "quote a question"},
           Case{{"index"}, 2, "--help"},
           Case{{"discover", "--limit", "11"}, 2, "--limit"},
           Case{{"completion", "tcsh"}, 2, "--help"},
           Case{{"--color", "blue", "route", "hi"}, 2, "--color"},
           Case{{"--store", "", "status"}, 2, "must not be empty"},
           Case{{"eval", "--report", ""}, 2, "must not be empty"},
           Case{{"profile"}, 2, "--visitor"},
           Case{{"profile", "--visitor", "x"}, 2, "not a UUID"},
           Case{{"chat", "hello world of errors"}, 3, "run: stoka index PATH"},
           Case{{"status"}, 3, "run: stoka index PATH"},
           Case{{"discover"}, 3, "run: stoka index PATH"},
           Case{{"index", "missing"}, 3, "missing"},
           Case{{"--store", "not-a-database", "status"}, 3, "not a database"},
           Case{{"--store", "not-a-database", "index", "folder"}, 3, "not a database"},
           Case{{"--store", "folder", "status"}, 3, "directory"},
           Case{{"--store", "mysql://x", "status"}, 3, "sqlite:"},
           Case{{"--config", "missing.toml", "route", "hi"}, 3, "missing.toml"},
           Case{{"--config", "bad.toml", "route", "hi"}, 3, "did you mean 'retrieval.mode'?"},
           Case{{"index", "folder"}, 3, "nothing to index"},
           Case{{"index", ""}, 2, "not a path"},
       }) {
    std::string line;
    for (const std::string& argument : c.arguments) line += argument + " ";
    CAPTURE(line);
    ProcessResult ran = fresh.stoka(c.arguments);
    CHECK(ran.code == c.code);
    CHECK(one_line(ran.err));
    CHECK_MESSAGE(ran.err.find(c.says) != std::string::npos, ran.err);
  }
  CHECK(!std::filesystem::exists(fresh.home() / "folder/stoka.db"));
}

TEST_CASE("a question may look like a flag, and a list flag does not take it as a value") {
  CHECK(machine().stoka({"route", "--", "--help me"}).code == 0);
  CHECK(machine().stoka({"chat", "--seen", "debono", "tell me about bounded execution"}).code == 0);
}

TEST_CASE("output that cannot be written gives an error") {
  ProcessResult full = machine().stoka({"status"}, "", "/dev/full");
  CHECK(full.code == 3);
  CHECK(full.err.find("cannot write the result") != std::string::npos);
}

TEST_CASE("chat and status do not create an index") {
  Machine fresh;
  fresh.stoka({"chat", "what is this?"});
  fresh.stoka({"status"});
  CHECK(!std::filesystem::exists(fresh.database()));
}

TEST_CASE("an error with --json is one JSON object on stderr") {
  Machine fresh;
  ProcessResult ran = fresh.stoka({"--json", "chat", "anything"});
  CHECK(ran.code == 3);
  CHECK(ran.out.empty());
  Json error = Json::parse(ran.err)["error"];
  for (const char* key : {"kind", "message", "hint"}) CHECK(error.contains(key));
}

TEST_CASE("without a command and a terminal, a one-line usage error says what to type") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--json"}, {"-q"}}) {
    ProcessResult ran = machine().stoka(arguments, "tell me about debono\n");
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(ran.err.find("stoka chat -") != std::string::npos);
  }
}

TEST_CASE("a usage error with --json is a JSON object too") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"chat", "--json", "--session"},
        {"--json", "discover", "--limit", "many"},
        {"rerank", "x", "--nonsense", "--json"}}) {
    ProcessResult ran = machine().stoka(arguments);
    CHECK(ran.code == 2);
    REQUIRE_MESSAGE(Json::accept(ran.err), ran.err);
    CHECK(Json::parse(ran.err)["error"]["kind"] == "usage");
  }
  CHECK_FALSE(Json::accept(machine().stoka({"route", "--turns", "--", "--json"}).err));
}

TEST_CASE("a command ends when the reader of its output is gone") {
  // The input of these commands never ends.
  for (const char* script :
       {"yes 'tell me about debono' 2>/dev/null | \"$stoka\" chat - | head -2",
        "yes 'tell me about debono' 2>/dev/null | \"$stoka\" chat --json - | head -2",
        "yes 2>/dev/null | \"$stoka\" chat --dry-run - | head -2"}) {
    ProcessResult ran = machine().shell(script);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 2);
    CHECK_MESSAGE(ran.err.empty(), ran.err);
  }
  // The output is closed before the work begins, so the work is not done.
  for (const char* command :
       {"eval", "index --dry-run '" STOKA_SOURCE_DIR "/evals/site'", "smoke"}) {
    const std::string script =
        fmt::format("(sleep 0.2; \"$stoka\" {}; echo $? >code) | true; cat code", command);
    CHECK_MESSAGE(machine().shell(script).out == "130\n", std::string(command));
  }
}

TEST_CASE("--help and --version work with an invalid configuration") {
  Machine fresh;
  fresh.environment()["STOKA_RETRIEVAL_MODE"] = "nonsense";
  for (const char* command : {"index", "chat", "discover", "context", "route", "rerank", "profile",
                              "status", "completion"}) {
    ProcessResult ran = fresh.stoka({command, "--help"});
    CHECK(ran.code == 0);
    CHECK_MESSAGE(ran.out.find("Examples:") != std::string::npos, std::string(command));
  }
  CHECK(fresh.stoka({"--help"}).code == 0);
  CHECK(fresh.stoka({"--version"}).out.starts_with("stoka "));
  CHECK(fresh.stoka({"-V"}).out == fresh.stoka({"--version"}).out);
  CHECK(fresh.stoka({"route", "hi"}).code == 3);
}

TEST_CASE("a flag overrides the environment, which overrides the config file") {
  Machine fresh;
  fresh.write("site/a.md", "# A\n\nLighthouses warn ships.\n");
  fresh.write(".config/stoka/config.toml", "store = \"file.db\"\n");
  REQUIRE(fresh.stoka({"index", "site"}).code == 0);
  CHECK(std::filesystem::exists(fresh.home() / "file.db"));
  fresh.environment()["STOKA_DB_URL"] = "sqlite:env.db";
  REQUIRE(fresh.stoka({"index", "site"}).code == 0);
  CHECK(std::filesystem::exists(fresh.home() / "env.db"));
  REQUIRE(fresh.stoka({"--store", "sqlite:flag.db", "index", "site"}).code == 0);
  CHECK(std::filesystem::exists(fresh.home() / "flag.db"));
}

TEST_CASE("index --json reports its changes, and a dry run needs no store") {
  Machine fresh;
  fresh.write("site/a.md", "# A\n\nLighthouses warn ships.\n");
  fresh.write("site/b.md", "---\ndraft: true\ntitle: B\n---\nSoon.\n");
  Json dry = Json::parse(fresh.stoka({"index", "--json", "--dry-run", "site"}).out);
  CHECK(dry["added"] == 1);
  CHECK(!std::filesystem::exists(fresh.database()));
  Json wet = Json::parse(fresh.stoka({"index", "--json", "site"}).out);
  CHECK(wet["added"] == 1);
  CHECK(wet["chunks"] == 1);
  REQUIRE(wet["skipped"].size() == 1);
  CHECK(wet["skipped"][0]["reason"] == "draft");
}

TEST_CASE("index reports what it skipped and why, and with -q only what changed") {
  Machine fresh;
  fresh.write("site/a.md", "# A\n\nLighthouses warn ships.\n\n## Keys\n\nAKIAABCDEFGHIJKLMNOP\n");
  fresh.write("site/b.md", "---\nnoindex: true\ntitle: B\n---\nSoon.\n");
  fresh.write("site/products.json", R"([{"name": "Lamp", "draft": true}])");
  for (int i = 0; i < 5; ++i) fresh.write("site/" + std::to_string(i) + ".PNG", "x");
  fresh.write("site/notes.txt", "x");
  const std::string expected =
      "site/a.md: a passage of 'Keys' was left out: it holds an AWS access key; the rest is "
      "indexed\n"
      "skipped 5 files *.png: " +
      stoka::ingest::unsupported_in_folder_reason("x.png") +
      "; -v lists them\n"
      "skipped site/b.md: its field 'noindex' keeps it from readers\n"
      "skipped site/notes.txt: " +
      stoka::ingest::unsupported_in_folder_reason("notes.txt") +
      "\n"
      "left out of site/products.json: product 1: draft\n";
  CHECK(fresh.stoka({"index", "-n", "site"}).out.ends_with(expected));
  const std::string all = fresh.stoka({"index", "-n", "-v", "site"}).out;
  CHECK(all.find("skipped site/4.PNG: neither ") != std::string::npos);
  CHECK(all.find("5 files") == std::string::npos);
  CHECK(Json::parse(fresh.stoka({"index", "-n", "--json", "site"}).out)["skipped"].size() == 8);
  CHECK(fresh.stoka({"index", "-q", "site"}).out ==
        "1 added, 0 changed, 0 unchanged, 0 removed; 1 chunks\n");
  const ProcessResult again = fresh.stoka({"index", "-q", "site"});
  CHECK(again.code == 0);
  CHECK(again.out == "");
  CHECK(again.err == "");
}

TEST_CASE("route --json prints the route, the rule and the reply") {
  Json meta = json_of({"route", "--json", "hi"});
  CHECK(meta["route"] == "meta");
  CHECK(meta["rule"] == "meta.greeting");
  CHECK(meta["reply"].is_string());
  Json fresh = json_of({"route", "--json", "does debono use react"});
  CHECK(fresh["route"] == "new");
  CHECK(fresh["reply"].is_null());
  CHECK(fresh["signal"] == "react");
  CHECK(fresh["site_word"] == "debono");
  CHECK(meta["signal"].is_null());
  CHECK(meta["site_word"].is_null());
  CHECK(machine().stoka({"route", "does debono use react"}).out ==
        "new  new\n'react' is not off topic, because the site has 'debono'\n");
  CHECK(json_of({"route", "--json", "--turns", "2", "did it work?"})["route"] == "followup");
}

TEST_CASE("rerank --texts ranks the given lines with and without an index") {
  Machine fresh;
  for (const Machine* where : {&fresh, &machine()}) {
    ProcessResult ran =
        where->stoka({"rerank", "--json", "--texts", "-", "how do ferries carry people"},
                     "lighthouses warn ships\nferries carry people and cars\n");
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    Json body = Json::parse(ran.out);
    REQUIRE(body["results"].size() == 2);
    CHECK(body["results"][0]["slug"] == "line-2");
  }
}

TEST_CASE("discover and context print the JSON of the HTTP API") {
  Json found = json_of({"discover", "--json", "--page", "/blog/philosophy-bounded-execution"});
  REQUIRE(found["recommendations"].size() == 3);
  for (const Json& item : found["recommendations"]) {
    CHECK(item["slug"] != "philosophy-bounded-execution");
    for (const char* key : {"title", "quote", "type", "reading_time", "date", "framing", "score",
                            "kind", "url", "published"})
      CHECK(item.contains(key));
  }
  CHECK(json_of({"context", "--json", "--page", "/"})["cite"].is_null());
  CHECK(json_of({"context", "--json", "--page", "/blog/debono-boss-fight"})["cite"]["slug"]
            .is_string());
}

TEST_CASE("profile stores interests and reading history") {
  Json made = json_of(
      {"profile", "--json", "--interests", "Infrastructure,agents", "--read", "debono-boss-fight"});
  std::string id = made["visitor_id"].get<std::string>();
  Json shown = json_of({"profile", "--json", "--visitor", id});
  CHECK(shown["interests"] == Json({"infrastructure", "agents"}));
  CHECK(shown["reading_history"][0]["slug"] == "debono-boss-fight");
  CHECK(machine().stoka({"profile", "--visitor", id, "--read", "no-such-page"}).code == 3);
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  CHECK(json_of({"profile", "--json", "--visitor", id}) == shown);
}

TEST_CASE("status reports what is indexed and which parts work") {
  Json status = json_of({"status", "--json"});
  CHECK(status["documents"] == 42);
  CHECK(status["chunks"].get<int>() > 100);
  CHECK(status["embedder"]["name"] == "builtin-lsa");
  CHECK(status["embedder"]["dim"].get<int>() > 0);
  for (const char* part : {"embedder", "reranker", "generator"}) CHECK(status[part]["ok"] == true);
}

TEST_CASE("golden.dir replaces built-in golden files") {
  Machine& home = machine();
  home.write("golden/replies.toml",
             "what=['a lighthouse. which "
             "ship?']\nidentity=['x.']\ngreeting=['x.']\npraise=['x.']\nbroad=['x.']\n"
             "offtopic=['x.']\ndeal=['x.']\nnothing=['x.']\nclosest=['x.']\n");
  home.environment()["STOKA_GOLDEN_DIR"] = (home.home() / "golden").string();
  CHECK(home.stoka({"route", "what is this?"}).out.find("a lighthouse. which ship?") !=
        std::string::npos);
  home.write("golden/replies.toml", "what = ['x']\n");
  CHECK(home.stoka({"route", "what is this?"}).code == 3);
  home.write("golden/replies.toml", "frob = ['x']\n");
  const ProcessResult unknown_key = home.stoka({"route", "what is this?"});
  CHECK(unknown_key.code == 3);
  CHECK(one_line(unknown_key.err));
  CHECK(unknown_key.err.find("golden file replies.toml:1: unknown key 'frob'") !=
        std::string::npos);
  home.write("golden/replies.tml", "what = ['x']\n");
  const ProcessResult misnamed = home.stoka({"route", "what is this?"});
  CHECK(misnamed.code == 3);
  CHECK(misnamed.err.find("replies.tml: no golden file has that name, did you mean "
                          "'replies.toml'?") != std::string::npos);
  home.environment()["STOKA_GOLDEN_DIR"] = (home.home() / "golden/replies.toml").string();
  const ProcessResult no_directory = home.stoka({"route", "what is this?"});
  CHECK(no_directory.code == 3);
  CHECK(one_line(no_directory.err));
  CHECK(no_directory.err.find("unset golden.dir (STOKA_GOLDEN_DIR)") != std::string::npos);
  home.environment().erase("STOKA_GOLDEN_DIR");
}

TEST_CASE("'stoka help' prints the same as --help") {
  Machine fresh;
  fresh.environment()["STOKA_RETRIEVAL_MODE"] = "nonsense";  // help reads no settings
  CHECK(fresh.stoka({"help"}).out == fresh.stoka({"--help"}).out);
  CHECK(fresh.stoka({"help", "chat"}).out == fresh.stoka({"chat", "--help"}).out);
  ProcessResult unknown = fresh.stoka({"help", "chta"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("did you mean 'chat'?") != std::string::npos);
}

TEST_CASE("the completions contain commands, flags and values") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    ProcessResult ran = machine().stoka({"completion", shell});
    CHECK(ran.code == 0);
    for (const char* word :
         {"rerank", "discover", "explain", "dry-run", "prune", "auto always never", "bash zsh fish",
          "lexical dense fused reranked policy"})
      CHECK_MESSAGE(ran.out.find(word) != std::string::npos,
                    std::string(shell + std::string(" ") + word));
  }
}

TEST_CASE("bash completes commands, flags, values and files") {
  machine().write("some-folder/page.md", "# A page\n");
  struct Case {
    std::vector<std::string> words;  // the last one is being typed
    const char* offers;
  };
  for (const Case& c :
       {Case{{"stoka", "rer"}, "rerank"}, Case{{"stoka", "chat", "--dry"}, "--dry-run"},
        Case{{"stoka", "chat", "--color", "al"}, "always"},
        Case{{"stoka", "chat", "--color", "=", "ne"}, "never"},
        Case{{"stoka", "completion", "fi"}, "fish"},
        Case{{"stoka", "eval", "const"}, "constraints"},
        Case{{"stoka", "index", "some-f"}, "some-folder"},
        Case{{"stoka", "eval", "--history", "some-f"}, "some-folder"},
        Case{{"stoka", "chat", "--session", ""}, ""}}) {
    std::string words;
    for (const std::string& word : c.words) words += "'" + word + "' ";
    ProcessResult ran = machine().shell(fmt::format(
        "bash -c 'source /dev/stdin <<<\"$(\"$stoka\" completion bash)\"; COMP_WORDS=({}); "
        "COMP_CWORD={}; compopt() {{ :; }}; _stoka; echo \"${{COMPREPLY[*]}}\"'",
        [&] {
          std::string escaped;
          for (char q : words) escaped += q == '\'' ? std::string("\"") : std::string(1, q);
          return escaped;
        }(),
        c.words.size() - 1));
    CHECK_MESSAGE(ran.out == std::string(c.offers) + "\n", words << ran.err);
  }
}

TEST_CASE("there is a manual page for the program and for each command") {
  for (const char* command : {"", "chat", "index", "eval", "store", "help"}) {
    std::vector<std::string> arguments = {"help", "--man"};
    if (*command) arguments.push_back(command);
    const std::string page = machine().stoka(arguments).out;
    CHECK(page.starts_with(".TH STOKA"));
    for (const char* part :
         {".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n", "\\-\\-store\\fR"})
      CHECK_MESSAGE(page.find(part) != std::string::npos, std::string(command) << " " << part);
    // A line that begins with a dot is a roff request; only these requests are used.
    for (size_t at = page.find("\n."); at != std::string::npos; at = page.find("\n.", at + 1)) {
      const std::string word = page.substr(at + 2, 2);
      CHECK_MESSAGE((word == "SH" || word == "TP" || word == "nf" || word == "fi"), word);
    }
  }
}

}  // namespace commands_test
