#include "eval/predicates.h"

#include <array>
#include <random>
#include <set>

#include "cite/citation_parser.h"
#include "golden/golden.h"
#include "sample_answer.h"

namespace predicates_test {

namespace {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

TEST_CASE("each item of the NEVER list has a predicate, in order") {
  std::set<std::string_view> names;
  int item = 0;
  for (const Predicate& predicate : predicates()) {
    CHECK(predicate.never == std::vector<int>{++item});
    CHECK_FALSE(predicate.meaning.empty());
    CHECK(find_predicate(predicate.name) == &predicate);
    names.insert(predicate.name);
  }
  CHECK(item == 15);
  CHECK(names.size() == 15);
  CHECK(find_predicate("Greeting") == nullptr);
  CHECK(find_predicate("") == nullptr);
}

TEST_CASE("says() finds whole words") {
  struct {
    std::string_view text, phrase;
    bool expected;
  } const cases[] = {
      {"They say hi.", "hi", true},
      {"nothing", "hi", false},
      {"React's hooks", "react", true},
      {"a reaction", "react", false},
      {"use C++ there", "c++", true},
      {"don't", "don", false},
      {"don’t do it", "don't", true},
      {"it's", "s", false},
      {"one\n two", "one two", true},
      {"snake_case", "case", false},
      {"well-known", "known", true},
      {"侘寂の話", "侘寂", true},
      {"v2.1 is out", "v2.1", true},
      {"", "x", false},
      {"x", "", false},
      {"VUE, revue", "vue", true},
      {"revue", "vue", false},
      {"hihi hi", "hi", true},
      {"soft\u00ADware", "software", true},
      {"Straße", "STRASSE", true},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CAPTURE(c.phrase);
    CHECK(says(c.text, c.phrase) == c.expected);
  }
}

void check_clean(const Answer& answer) {
  for (const Predicate& predicate : predicates()) {
    const auto why = predicate.match(answer, shipped_phrases());
    CHECK_MESSAGE(!why, predicate.name << ": " << answer.text() << "\n  " << why.value_or(""));
  }
}

golden::Golden voice() {
  auto read = golden::load([](std::string_view file) -> Result<std::optional<std::string>> {
    return read_source("golden/" + std::string(file));
  });
  REQUIRE(read.has_value());
  return *read;
}

// An answer with tags, as a golden exchange has it.
struct Tagged : cite::TagSink {
  Answer answer;
  void text(std::string_view text) override {
    if (answer.parts.empty() || answer.parts.back().citation) answer.parts.emplace_back();
    answer.parts.back().text += text;
  }
  void tag(const std::string& slug, const std::string& quote) override {
    Citation citation;
    citation.slug = slug;
    citation.quote = quote;
    answer.parts.push_back({{}, citation});
    answer.ranked.push_back(hit(slug, slug, quote));
  }
};

TEST_CASE("the golden exchanges match no predicate") {
  const golden::Golden data = voice();
  REQUIRE(data.exchange_list.size() == 7);
  for (const golden::GoldenExchange& exchange : data.exchange_list) {
    Tagged tagged;
    cite::CitationParser parser(tagged);
    parser.push(exchange.stoka);
    parser.finish();
    tagged.answer.query = exchange.visitor;
    check_clean(tagged.answer);
  }
}

TEST_CASE("canned replies match no predicate") {
  const golden::Golden data = voice();
  REQUIRE(data.replies.size() >= 8);
  for (const auto& [name, lines] : data.replies) {
    for (const std::string& line : lines) {
      // The values of placeholders are facts of the index.
      std::string filled;
      for (const char c : line)
        if (c != '{' && c != '}') filled += c;
      Answer answer = make_answer(filled, "hi, what is this place?");
      answer.ranked.clear();
      answer.route = Route::meta;
      check_clean(answer);
    }
  }
}

TEST_CASE("lines of the built-in voice, hints and framing match no predicate") {
  const golden::Golden data = voice();
  std::vector<std::string> lines = data.post_hints;
  lines.insert(lines.end(), data.product_hints.begin(), data.product_hints.end());
  for (const golden::PageHint& hint : data.page_hints) lines.push_back(hint.line);
  for (const TomlEntry& entry : data.voice_lines) {
    lines.insert(lines.end(), entry.values.begin(), entry.values.end());
  }
  for (const TomlEntry& entry : data.framing) {
    if (entry.key == "lines") lines.insert(lines.end(), entry.values.begin(), entry.values.end());
  }
  REQUIRE(lines.size() > 60);
  for (const std::string& line : lines) {
    check_clean(make_answer(line));
    check_clean(make_answer(line + " {bounded}"));
    check_clean(make_answer("it's written down. {bounded} " + line));
  }
}

TEST_CASE("arbitrary bytes are judged") {
  std::mt19937 random(7);  // NOLINT: the same bytes each time
  constexpr std::string_view kPieces[] = {
      "\xFF",         "\xE2\x80", "\xF0\x9F", "`",       "```", "\"",  "'",
      "\n",           "- ",       "<cite ",   "!",       "?",   "{",   "sorry",
      "\xEF\xBF\xBC", "\u200B",   "1.",       "http://", "\0x", "hi ", ", ",
      ". ",           "\u0301",   "“",        "A",       "(",   "_"};
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) {
      if (random() % 3 == 0) {
        text += static_cast<char>(random() % 256);
      } else {
        text += kPieces[random() % std::size(kPieces)];
      }
    }
    Answer answer;
    answer.query = text.substr(text.size() / 2);
    answer.parts.push_back({text, std::nullopt});
    answer.parts.push_back({{}, Citation{}});
    answer.ranked = {hit(text, text, text)};
    for (const Predicate& predicate : predicates()) {
      const auto why = predicate.match(answer, shipped_phrases());
      if (why) CHECK_FALSE(why->empty());
      CHECK(predicate.match(answer, shipped_phrases()) == why);
      predicate.match(answer, {});
    }
  }
}

TEST_CASE("a very long answer is judged with a short reason") {
  constexpr size_t kSize = 200'000;
  for (const std::string_view piece : {"'a ", "`- a\n", "agents need limits, 38 \"a_b\". "}) {
    std::string text;
    while (text.size() < kSize) text += piece;
    Answer answer = make_answer("{bounded}");
    answer.parts.push_back({text, std::nullopt});
    for (const Predicate& predicate : predicates()) {
      CAPTURE(predicate.name);
      CAPTURE(piece);
      const auto why = predicate.match(answer, shipped_phrases());
      CHECK(why.value_or("free").size() < 200);
    }
  }
}

}  // namespace

}  // namespace predicates_test
