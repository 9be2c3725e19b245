#include "generate/framing.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "golden/golden.h"

namespace framing_test {

namespace {

using namespace stoka;
using namespace stoka::generate;

Hit hit(std::string title, std::string content) {
  Hit out;
  out.chunk.title = std::move(title);
  out.chunk.type = "blog";
  out.chunk.content = std::move(content);
  return out;
}

FramingVoice voice() { return read_framing_voice(golden::load().value().framing).value(); }

}  // namespace

TEST_CASE("quotes and emphasis around a framing line are removed") {
  const std::pair<std::string, std::string> lines[] = {
      {" an argument to take sides on.\n", "an argument to take sides on."},
      {"\n\nfirst.\nsecond.", "first."},
      {"\"quoted.\"", "quoted."},
      {"“quoted.”", "quoted."},
      {"**\"quoted.\"**", "quoted."},
      {"'quoted.'", "quoted."},
      {"'tis a piece.", "'tis a piece."},
      {"<think>hm</think>\na line.", "a line."},
      {"hm, so.\n</think>\na line.", "a line."},
      {"read it!!", "read it."},
      {"read it! now!", "read it. now."},
      {"a \x1b[2J\tline.", "a [2J line."},
  };
  for (const auto& [written, line] : lines) {
    CAPTURE(written);
    CHECK(framing_line(written) == line);
  }
  for (const std::string written :
       {"", " \n ", "\"\"", "<think>hm", "a <b>line</b>", "a line 😀", "<cite slug=\"x\"/>"}) {
    CAPTURE(written);
    CHECK_FALSE(framing_line(written).has_value());
  }
}

TEST_CASE("a long framing line is cut between words") {
  std::string written;
  for (int i = 0; i < 100; ++i) written += "word ";
  const auto line = framing_line(written);
  REQUIRE(line.has_value());
  CHECK(line->size() <= 204);
  CHECK(line->ends_with("word…"));
  CHECK(framing_line(std::string(300, 'x'))->size() <= 204);
}

TEST_CASE("framing lines are assigned to the hits by their numbers") {
  using Wanted = std::vector<std::optional<std::string>>;
  const std::pair<std::string, Wanted> answers[] = {
      {"1. one.\n2. two.", {"one.", "two."}},
      {"2) two.\n\n**1:** one.", {"one.", "two."}},
      {"here they are:\n- 1. one.\r\n- [2] two.\r\n3. three.", {"one.", "two."}},
      {"1. one.\n1. again.", {"one.", std::nullopt}},
      {"2. two.", {std::nullopt, "two."}},
      {"one.\ntwo.", {"one.", "two."}},
      {"one.\ntwo.\nthree.", {std::nullopt, std::nullopt}},
      {"1. \n99999999999999999999999. x", {std::nullopt, std::nullopt}},
      {"", {std::nullopt, std::nullopt}},
      {"1990s were fine.\ntwo.", {"1990s were fine.", "two."}},
  };
  for (const auto& [answer, wanted] : answers) {
    CAPTURE(answer);
    CHECK(numbered_lines(answer, 2) == wanted);
  }
}

TEST_CASE("completions are assigned by index, and every prompt must have one") {
  const auto lines =
      completed_lines(R"({"choices":[{"index":1,"text":" b.\nmore"},{"index":0,"text":"a."}]})", 2);
  REQUIRE(lines.has_value());
  CHECK(lines->at(0) == "a.");
  CHECK(lines->at(1) == "b.");
  CHECK(completed_lines(R"({"choices":[{"text":"a."},{"text":" "}]})", 2)->at(1) == std::nullopt);
  for (const std::string body :
       {R"({"choices":[{"index":0,"text":"a."}]})", R"({"choices":[]})", "[]", "",
        R"({"choices":[{"index":0,"text":"a."},{"index":0,"text":"b."}]})",
        R"({"choices":[{"index":0,"text":"a."},{"index":7,"text":"b."}]})",
        R"({"choices":[{"index":0,"text":"a."},{"index":1,"text":null},3]})"})
    CHECK_FALSE(completed_lines(body, 2).has_value());
}

TEST_CASE("an incomplete framing voice is rejected with the name of its file") {
  for (const char* text :
       {"pieces=['a']\nlines=['b']", "task='t'\npieces=['a']", "task='t'\nfoo='x'"}) {
    const auto read = read_framing_voice(parse_toml(text, "framing.toml").value());
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::config);
    CHECK(read.error().message.starts_with("framing.toml"));
  }
}

TEST_CASE("a piece in a prompt is one line of limited length") {
  const Hit piece = hit("on\nlimits", "first\n\nparagraph.\n" + std::string(5000, 'x'));
  const std::string prompt = framing_prompt(piece, voice());
  CHECK(prompt.ends_with("line:"));
  CHECK(prompt.size() < 2500);
  const std::string last = prompt.substr(prompt.rfind("\npiece: "));
  CHECK(last.starts_with("\npiece: on limits (blog): first paragraph.…\nline:"));

  const std::vector<Hit> pieces = {piece, hit("two", "content.")};
  const std::vector<Message> messages = framing_messages(pieces, voice());
  CHECK(messages.front().role == "system");
  CHECK(messages.back().role == "user");
  CHECK(messages.back().content ==
        "1. on limits (blog): first paragraph.…\n2. two (blog): content.\n");
}

}  // namespace framing_test
