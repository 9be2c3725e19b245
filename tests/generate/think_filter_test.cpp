#include "generate/think_filter.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace think_filter_test {

namespace {

using stoka::generate::reasoning_end;
using stoka::generate::ThinkFilter;

struct Filtered {
  std::string answer;
  size_t thought = 0;
  bool stray = false;
  bool operator==(const Filtered&) const = default;
};

Filtered filter(const std::vector<std::string_view>& pieces) {
  ThinkFilter filter;
  Filtered out;
  for (const std::string_view piece : pieces) out.answer += filter.push(piece);
  out.answer += filter.finish();
  out.thought = filter.reasoning_bytes();
  out.stray = filter.stray_tag();
  return out;
}

struct Case {
  std::string_view input;
  std::string answer;
  size_t thought = 0;
  bool stray = false;
};

const std::vector<Case> kCases = {
    {"", ""},
    {"a < b", "a < b"},
    {" \n a b \n", "a b \n"},
    {"<think>hmm</think>a", "a", 3},
    {" \n<think>\nhmm\n</think>\n\na\nb", "a\nb", 5},
    {"<thinking>hmm</thinking> a", "a", 3},
    {"<thought>hmm</thought> a", "a", 3},
    {"<Think>hmm</THINK> a", "a", 3},
    {"<think>a</think><think>b</think>c", "c", 2},
    {"<think></think>a", "a", 0},
    {"<think>a </thin </think b></think>c", "c", 19},
    {"<think>a<think>b</think>c", "c", 9},
    {"<think>never ends", "", 10},
    {"<think>cut </thi", "", 9},
    {"<thi", "<thi"},
    {"<thinker> a", "<thinker> a"},
    {"<think a", "<think a"},
    {"a <think>b</think> c", "a <think>b c", 0, true},
    {"</think>a", "a", 0, true},
    {"hm</think>\na", "hm\na", 0, true},
    {"hm</thinking>a</thinks></thin", "hma</thinks></thin", 0, true},
    {"a <cite slug=\"x\"/> é", "a <cite slug=\"x\"/> é"},
};

}  // namespace

TEST_CASE("reasoning is removed from an answer in any split") {
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.input));
    const Filtered wanted{c.answer, c.thought, c.stray};
    CHECK(filter({c.input}).answer == wanted.answer);
    CHECK(filter({c.input}).thought == wanted.thought);
    CHECK(filter({c.input}).stray == wanted.stray);
    for (size_t at = 0; at <= c.input.size(); ++at)
      REQUIRE(filter({c.input.substr(0, at), c.input.substr(at)}) == wanted);
    std::vector<std::string_view> singles;
    for (size_t at = 0; at < c.input.size(); ++at) singles.push_back(c.input.substr(at, 1));
    CHECK(filter(singles) == wanted);
  }
}

TEST_CASE("only text that may be part of a tag is kept back") {
  ThinkFilter filter;
  CHECK(filter.push("<th") == "");
  CHECK(filter.push("e") == "<the");
  CHECK(filter.push(" a <") == " a ");
  CHECK(filter.push(" b </") == "< b ");
  CHECK(filter.push("cite") == "</cite");
}

TEST_CASE("in a complete text the answer begins after the last closing tag") {
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"", ""},
      {"a < b", "a < b"},
      {"hm</think>a", "a"},
      {"hm</Thinking>\n</thought>a </thin", "a </thin"},
      {"<think>hm</think>a", "a"},
      {"hm</think>", ""},
      {"<think>hm", "<think>hm"},
  };
  for (const auto& [text, answer] : texts) {
    CAPTURE(std::string(text));
    CHECK(text.substr(reasoning_end(text)) == answer);
  }
}

}  // namespace think_filter_test
