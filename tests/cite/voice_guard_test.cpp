#include "cite/voice_guard.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml.h"
#include "text/utf8.h"

namespace voice_guard_test {

namespace {

using stoka::cite::GuardRules;
using stoka::cite::VoiceGuard;

// The rules of golden/guard.toml.
const GuardRules& rules() {
  static const GuardRules shipped = [] {
    std::ifstream file(STOKA_SOURCE_DIR "/golden/guard.toml");
    std::ostringstream text;
    text << file.rdbuf();
    const auto entries = stoka::parse_toml(text.str(), "guard.toml");
    REQUIRE(entries.has_value());
    auto out = stoka::cite::read_guard_rules(*entries);
    REQUIRE(out.has_value());
    REQUIRE(out->openers.size() > 50);
    return *out;
  }();
  return shipped;
}

// An '@' in the text stands for a citation, and so does an '@' in the result.
std::string guard(const std::vector<std::string_view>& pieces) {
  std::string out;
  VoiceGuard voice(rules(), [&](std::string_view text) {
    CHECK_FALSE(text.empty());
    out += text;
  });
  for (std::string_view piece : pieces) {
    for (size_t at; (at = piece.find('@')) != std::string_view::npos;) {
      voice.push(piece.substr(0, at));
      voice.mark_citation();
      out += '@';
      piece.remove_prefix(at + 1);
    }
    voice.push(piece);
  }
  voice.finish();
  return out;
}

struct Case {
  std::string_view input;
  std::string_view output;
};

// Text that is in the voice already, or that only resembles what is dropped.
constexpr std::string_view kPass[] = {
    "",
    "depends what you think \"best\" means.",
    "which kind? the ones we planned for, or the ones that surprised us?",
    "nothing here on that. yet.",
    "history repeats. hip people know.",
    "hi-fi is a niche.",
    "high time. hide nothing.",
    "hello world programs lie.",
    "heyday of the monolith.",
    "welcome changes are rare.",
    "sorry states need names.",
    "greatness is a bug.",
    "great questions get short answers.",
    "surely not.",
    "of course corrections matter.",
    "no problems were found.",
    "it says hi. and sorry, nothing more.",
    "the essay opens with: great question.",
    "thankless work.",
    "a != b, x !== y.",
    "call println!(\"x\") or vec![1].",
    "it starts with #!/bin/sh.",
    "if (!done) wait.",
    "set !important there.",
    "stoka is the site.",
    "an answer: forty-two.",
    "-5 degrees.\n+3 more.",
    "1.5 million.\n3.4.10 is out.",
    "1984. a year.",
    "(see below)\n(1 of 2)",
    "two lines\nof text.\n\nand a paragraph.",
    "a - b, a * b, 2. and 3) in the middle",
    "naïve café, größe, 東京。",
    "می‌خواهم",
    "@ alone",
    "before\n@\nafter",
};

constexpr Case kChange[] = {
    // openers
    {"Hi! The essay is short.", "The essay is short."},
    {"hi", ""},
    {"Hello there. it broke.", "it broke."},
    {"Hey, it broke.", "it broke."},
    {"Hi there! Great question! It broke.", "It broke."},
    {"Welcome to the terminal, visitor. it broke.", "it broke."},
    {"Welcome back — it broke.", "it broke."},
    {"Sorry, nothing here on that.", "nothing here on that."},
    {"I'm sorry, but nothing here on that.", "nothing here on that."},
    {"I\u2019m sorry, butter melts.", "butter melts."},
    {"I apologize for the v2.1 confusion, truly. It broke.", "It broke."},
    {"I apologize for that", ""},
    {"Great question \u2014 it broke.", "it broke."},
    {"**Great question!** it broke.", "it broke."},
    {"That's a great question. it broke.", "it broke."},
    {"I'd be happy to help you find it! it broke.", "it broke."},
    {"As an AI language model, I have no opinion. it broke.", "it broke."},
    {"\n\n  Sure!\n\nit broke.", "it broke."},
    {"stoka: wrong terminal.", "wrong terminal."},
    {"Sorry... it broke.", "it broke."},
    {"\U0001F44B Hi there! \U0001F600 it broke.", "it broke."},
    {"hi @ there", "@there"},
    {"hel@lo", "hel@lo"},
    {"Sorry about @ that. it broke", "@that. it broke"},
    // exclamation marks
    {"it broke!", "it broke."},
    {"it broke!!! again!", "it broke. again."},
    {"what?! no!? yes!?!", "what? no? yes?"},
    {"it said \"no!\" twice", "it said \"no.\" twice"},
    {"wow ! so.", "wow so."},
    {"it broke.! so", "it broke. so"},
    {"\u00A1claro! s\u00ED\uFF01", "claro. s\u00ED."},
    {"it broke! @ again!@", "it broke. @again.@"},
    {"![alt](x)", "[alt](x)"},
    // emoji and invisible characters
    {"nice \U0001F44D work", "nice work"},
    {"fire\U0001F525.", "fire."},
    {"a \u2764\uFE0F b \U0001F468\u200D\U0001F469\u200D\U0001F467 c \U0001F1E9\U0001F1EA d",
     "a b c d"},
    {"1\uFE0F\u20E3 first", "1 first"},
    {"done \u2705", "done"},
    {"a\u200Bb\u202Ec\u2066d\uFEFFe", "abcde"},
    {"a\x1B[31mb\x07", "a[31mb"},
    // lists
    {"- one", "one"},
    {"try:\n- one\n- two\n* three", "try: one, two, three"},
    {"1. one.\n2) two.\n(3) three.", "one. two. three."},
    {"try\n\n\u2022 one\n\n\u2022 two", "try, one, two"},
    {"  - one\n    - two", "one, two"},
    {"- - one", "one"},
    {"see\n- @\n- @\nend", "see, @@\nend"},
    {"see\n-@", "see, @"},
    {"end\n-", "end"},
    {"end\n1", "end\n1"},
    // white space
    {"  a  b \t c  ", "a b c"},
    {"a\r\nb", "a\nb"},
    {"a\n\n\n\nb", "a\n\nb"},
    {"a\n\n@\n\nb", "a\n\n@b"},
    {"a @ b", "a @b"},
    {"a\n       b", "a\nb"},
    {"a@\n\n\n\nb", "a@\n\nb"},
    {"\n@\nb", "@b"},
};

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    const size_t from = at;
    stoka::text::next_code_point(text, at);
    out.push_back(text.substr(from, at - from));
  }
  return out;
}

void check_splits(std::string_view input) {
  const std::string whole = guard({input});
  for (size_t at = 0, next = 0; at < input.size(); at = next) {
    stoka::text::next_code_point(input, next);
    CHECK(guard({input.substr(0, at), input.substr(at)}) == whole);
  }
  CHECK(guard(code_points(input)) == whole);
}

}  // namespace

TEST_CASE("the voice guard does not change text that follows its rules") {
  for (const std::string_view input : kPass) {
    CAPTURE(input);
    if (input.find('@') == std::string_view::npos) CHECK(guard({input}) == input);
    check_splits(input);
  }
}

TEST_CASE("openers, exclamation marks, emoji, list markers and extra white space are removed") {
  for (const Case& c : kChange) {
    CAPTURE(c.input);
    CHECK(guard({c.input}) == c.output);
    check_splits(c.input);
  }
}

TEST_CASE("a text that passed the voice guard is not changed by it again") {
  for (const Case& c : kChange) {
    if (c.input.find('@') != std::string_view::npos) continue;
    CAPTURE(c.input);
    const std::string once = guard({c.input});
    CHECK(guard({once}) == once);
  }
}

TEST_CASE("text is held back only while it may become an opener") {
  std::string out;
  VoiceGuard voice(rules(), [&](std::string_view text) { out += text; });
  voice.push("hel");
  CHECK(out.empty());
  voice.push("m");
  CHECK(out == "helm");
  voice.push(" and hello");
  CHECK(out == "helm and hello");
  voice.push("!");
  CHECK(out == "helm and hello");
  voice.push(" \n");
  CHECK(out == "helm and hello.");
  voice.push("so");
  CHECK(out == "helm and hello.\nso");
}

TEST_CASE("invalid guard rules give a config error") {
  struct Bad {
    const char* text;
    const char* message;
  };
  const Bad table[] = {
      {"[opener]\nx = [\"hi\"]", "guard.toml line 2: unknown 'opener.x'"},
      {"[openers]\nx = \"hi\"", "guard.toml line 2: unknown 'openers.x'"},
      {"[openers]\nx = [\"hi\", \"*\"]", "guard.toml line 2: a phrase without a word"},
      {"[sentences]\nfiller = [\"so\"]", "guard.toml line 2: unknown 'sentences.filler'"},
      {"[words]\nx = [\"so\"]", "guard.toml line 2: unknown 'words.x'"},
  };
  for (const auto& [text, message] : table) {
    const auto entries = stoka::parse_toml(text, "guard.toml");
    REQUIRE(entries.has_value());
    const auto read = stoka::cite::read_guard_rules(*entries);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message == message);
  }
}

}  // namespace voice_guard_test
