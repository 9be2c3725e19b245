#include "text/words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "text/utf8.h"

namespace words_test {

using namespace stoka::text;

namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const Word& word : words(text)) out.push_back(word.text);
  return out;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("words are folded runs of letters, digits and marks") {
  struct {
    std::string_view text;
    List expected;
  } cases[] = {
      {"", {}},
      {"... !?", {}},
      {"Hello, World 42", {"hello", "world", "42"}},
      {"don't can’t O'Reilly", {"dont", "cant", "oreilly"}},
      {"the site's and James's users' 'quoted'",
       {"the", "site", "and", "james", "users", "quoted"}},
      {"what's", {"what"}},
      {"snake_case node.js a-b", {"snake", "case", "node", "js", "a", "b"}},
      {"re\u200Bact soft\u00ADhyphen", {"react", "softhyphen"}},
      {"Über naïve Cafe\u0301", {"über", "naïve", "café"}},
      {"ＦＵＬＬ １２", {"full", "12"}},
      {"Привет МИР", {"привет", "мир"}},
      {"数据库", {"数据", "据库"}},
      {"水", {"水"}},
      {"PostgreSQL数据库v2", {"postgresql", "数据", "据库", "v2"}},
      {"データ、ベース", {"デー", "ータ", "ベー", "ース"}},
      {"हिन्दी", {"हिन्दी"}},
      {"ﷺ", {"صلىاللهعليهوسلم"}},
      {"½", {"12"}},
      {"\xFF\xFE bad", {"bad"}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(texts(c.text) == c.expected);
  }
}

TEST_CASE("a word has its byte offsets") {
  std::string_view text = "“Don’t” 数据库 naïve’s x";
  auto found = words(text);
  REQUIRE(found.size() == 5);
  auto at = [&](size_t i) { return text.substr(found[i].begin, found[i].end - found[i].begin); };
  CHECK(at(0) == "Don’t");
  CHECK(at(1) == "数据");
  CHECK(at(2) == "据库");
  CHECK(at(3) == "naïve’s");
  CHECK(found[3].text == "naïve");
  CHECK(at(4) == "x");
}

TEST_CASE("terms are stems, and compounds besides their parts") {
  struct {
    std::string_view text;
    List expected;
  } cases[] = {
      {"running runners ran", {"run", "runner", "ran"}},
      {"version 3.4.10.", {"version", "3", "4", "10", "3.4.10"}},
      {"C++ and c#, f# too", {"c", "c++", "and", "c", "c#", "f", "f#", "too"}},
      {"rust-analyzer", {"rust", "analyz", "rust-analyzer"}},
      {"v2.1!", {"v2", "1", "v2.1"}},
      {"Node.js's", {"node", "js", "node.js"}},
      {"src/node.js", {"src", "node", "js", "node.js", "src/node.js"}},
      {"c++11", {"c", "11", "c++11"}},
      {"g++-12", {"g", "12", "g++-12"}},
      {"snake_case_name", {"snake", "case", "name", "snake_case_name"}},
      {"one--two wait...what", {"one", "two", "wait", "what"}},
      {"a - b / c + d", {"a", "b", "c", "d"}},
      {"(x.y)", {"x", "y", "x.y"}},
      {"co\u2011operate", {"co", "oper", "co-operate"}},
      {"-flag .hidden", {"flag", "hidden"}},
      {"数据库", {"数据", "数", "据库", "据", "库"}},
      {"node.js数据", {"node", "js", "node.js", "数据", "数", "据"}},
      {"数据v2.1", {"数据", "数", "据", "v2", "1", "v2.1"}},
      {"猫は寝る。犬", {"猫は", "猫", "は寝", "寝る", "寝", "犬"}},
      {"データ고양이", {"デー", "ータ", "タ고", "고양", "양이"}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(terms(c.text) == c.expected);
  }
}

TEST_CASE("no term is longer than 64 bytes or cut inside a code point") {
  std::string long_word(10'000, 'x'), dashes, accents;
  for (int i = 0; i < 5'000; ++i) dashes += "ab-";
  for (int i = 0; i < 5'000; ++i) accents += "é";
  std::string marks = "a";
  for (int i = 0; i < 5'000; ++i) marks += "\u0301";
  for (const std::string& text : {long_word, dashes, accents, marks, long_word + "." + accents}) {
    auto found = terms(text);
    CHECK(!found.empty());
    for (const std::string& term : found) {
      REQUIRE(!term.empty());
      REQUIRE(term.size() <= 64);
      REQUIRE(is_valid_utf8(term));
    }
  }
}

TEST_CASE("stemming gives the same result on every thread") {
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 500; ++i) result = stem("caching") + stem("indexes") + stem("happiness");
    });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == "cachindexhappi");
}

}  // namespace words_test
