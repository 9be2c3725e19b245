#include "rerank/features.h"

#include <doctest/doctest.h>

namespace features_test {

using namespace stoka;
using namespace stoka::rerank;

namespace {

Hit hit(std::string content, std::string title = "", std::string section = "",
        std::vector<std::string> tags = {}) {
  Hit out;
  out.chunk.content = std::move(content);
  out.chunk.title = std::move(title);
  out.chunk.section = std::move(section);
  out.chunk.tags = std::move(tags);
  return out;
}

Features features_of(std::string_view query, const Hit& one) {
  return compute_features(parse_question(query), std::vector<Hit>{one}).front();
}

std::vector<std::string> words(const Question& question) {
  std::vector<std::string> out;
  for (const QuestionTerm& word : question.words) out.push_back(word.word);
  return out;
}

}  // namespace

TEST_CASE("parse_question returns the content words, each once, and the compounds") {
  struct Case {
    const char* query;
    std::vector<std::string> words;
    std::vector<std::string> compounds;
  };
  const Case cases[] = {
      {"Tell me about bounded execution", {"bounded", "execution"}, {}},
      {"do you have anything on backups and a backup", {"backups"}, {}},
      {"I'm interested in c++", {"c"}, {"c++"}},
      {"rust-analyzer 3.4.10", {"rust", "analyzer", "3", "4", "10"}, {"rust-analyzer", "3.4.10"}},
      {"what is this", {}, {}},
      {"yes, more help please", {}, {}},
      {"to-do", {}, {"to-do"}},
      {"数据库", {"数据", "据库"}, {}},
      {"索引是什么？", {"索引"}, {}},
      {"猫", {"猫"}, {}},
      {"猫は何をする？", {"猫"}, {}},
      {"窓辺で眠る", {"窓辺", "眠"}, {}},
      {"データベースとは", {"デー", "ータ", "タベ", "ベー", "ース"}, {}},
      {"ねこ", {"ねこ"}, {}},
      {"고양이", {"고양", "양이"}, {}},
      {"แมว", {"แม", "มว"}, {}},
      {"", {}, {}},
      {"?!", {}, {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.query);
    const Question question = parse_question(c.query);
    CHECK(words(question) == c.words);
    std::vector<std::string> compounds;
    for (const QuestionTerm& compound : question.compounds) compounds.push_back(compound.term);
    CHECK(compounds == c.compounds);
  }
}

TEST_CASE("stop phrases are left out, and single words of a stop phrase are kept") {
  struct {
    const char* query;
    std::vector<std::string> words;
  } const cases[] = {
      {"what do you think about limits", {"limits"}},
      {"your opinion on retries please", {"retries"}},
      {"list your five best articles about agents as bullet points", {"five", "agents"}},
      {"agents, with an emoji", {"agents"}},
      // On their own these words are what the question is about.
      {"how does rendering of emoji work", {"rendering", "emoji", "work"}},
      {"linked list", {"linked", "list"}},
      {"what is a bullet", {"bullet"}},
      {"best practice", {"best", "practice"}},
      {"do machines think", {"machines", "think"}},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.query));
    CHECK(words(parse_question(c.query)) == c.words);
  }
}

TEST_CASE(
    "a question counts as foreign if it has two or more foreign stop words, and more than English "
    "ones") {
  for (const char* text :
       {"est-ce que SQLite suffit vraiment en production ?", "wie macht ihr eure Backups?",
        "qu\u00e9 es Debono y para qui\u00e9n?", "vad \u00e4r Kvitto och vem har gjort det?"}) {
    CAPTURE(std::string(text));
    CHECK(parse_question(text).foreign);
  }
  for (const char* text :
       {"which OS do you use?", "do agents use CI?", "is there a MAS product?",
        "what do you think about VAR and OS limits?", "tell me about sein and zeit", "tu", ""}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(parse_question(text).foreign);
  }
}

TEST_CASE("rare words weigh more, unknown words most, and unknown compounds are removed") {
  Question question = parse_question("common rare zebra c++ f#");
  REQUIRE(question.words.size() == 5);
  REQUIRE(question.compounds.size() == 2);
  const std::vector<uint64_t> frequencies = {80, 2, 0, 5, 5, 3, 0};
  weight_terms(question, 100, frequencies);
  CHECK(question.words[0].weight < question.words[1].weight);
  CHECK(question.words[1].weight < question.words[2].weight);
  CHECK(question.words[2].weight == doctest::Approx(1.0));
  CHECK_FALSE(question.words[2].known);
  REQUIRE(question.compounds.size() == 1);
  CHECK(question.compounds[0].term == "c++");
}

TEST_CASE("with an empty index every word weighs the same and none counts as unknown") {
  Question question = parse_question("bounded execution");
  weight_terms(question, 0, std::vector<uint64_t>{0, 0});
  for (const QuestionTerm& word : question.words) {
    CHECK(word.weight == 1.0);
    CHECK(word.known);
  }
}

TEST_CASE("a question without content words has only zero features") {
  Hit one = hit("why no yes the more help is it", "Why: more help", "The", {"no"});
  one.cosine = 0.9;
  for (const char* query : {"why?", "no", "the", "yes", "more", "help", "is it", "ok thanks", ""}) {
    CAPTURE(query);
    CHECK(features_of(query, one) == Features{});
  }
}

TEST_CASE("a Han character beside grammatical letters matches wherever it occurs") {
  const Hit cat = hit("猫は窓辺で眠る。");
  CHECK(features_of("猫は何をする？", cat)[kCoverage] > 0.7);
  CHECK(features_of("猫", cat)[kCoverage] > 0.7);
  CHECK(features_of("猫", hit("子猫"))[kCoverage] > 0.7);
  CHECK(features_of("猫", hit("三毛猫。猫。"))[kCoverage] > 0.7);
  CHECK(features_of("犬は何をする？", cat)[kCoverage] == 0);
  CHECK(features_of("窓辺", cat)[kCoverage] > 0.7);
}

TEST_CASE("a question names a document if it contains all content words of its short title") {
  struct Case {
    const char* query;
    const char* title;
    bool named;
  };
  for (const Case& c :
       {Case{"was ist debono?", "Debono", true}, Case{"is debono dead", "Debono", true},
        Case{"wat is kvitto", "Kvitto", true},
        Case{"who wrote the bounded loop", "Bounded Loops", true},
        Case{"who wrote the loop", "Bounded Loops", false}, Case{"help", "Help", false},
        Case{"more", "", false}, Case{"one two three four", "two three four five", false},
        Case{"alpha beta gamma delta", "Alpha beta gamma delta", false}}) {
    CAPTURE(c.query);
    CHECK(names_document(parse_question(c.query), c.title) == c.named);
  }
}

TEST_CASE("coverage is the matched share of the question; a heading counts more than the body") {
  const double none = features_of("bounded execution", hit("a garden"))[kCoverage];
  const double half = features_of("bounded execution", hit("a bounded garden"))[kCoverage];
  const double body = features_of("bounded execution", hit("an execution is bounded"))[kCoverage];
  const double often =
      features_of("bounded execution",
                  hit("bounded execution, bounded execution, bounded execution"))[kCoverage];
  const double title =
      features_of("bounded execution", hit("a garden", "Bounded Execution"))[kCoverage];
  CHECK(none == 0);
  CHECK(half == doctest::Approx(body / 2));
  CHECK(body < often);
  CHECK(often < title);
  CHECK(title == 1);
}

TEST_CASE("the heading feature counts title, section, tags and slug, but not the body") {
  Hit slug = hit("x");
  slug.chunk.slug = "bounded-execution";
  CHECK(features_of("bounded execution", slug)[kHeading] == 1);
  CHECK(features_of("bounded execution", hit("x", "Bounded", "Execution"))[kHeading] == 1);
  CHECK(features_of("bounded execution", hit("x", "", "", {"execution"}))[kHeading] == 0.5);
  CHECK(features_of("bounded execution", hit("bounded execution"))[kHeading] == 0);
}

TEST_CASE("neighbouring words of the question count as close if they are close in the chunk") {
  CHECK(features_of("bounded execution", hit("execution that is bounded"))[kProximity] == 1);
  CHECK(features_of("bounded execution",
                    hit("bounded is one thing and quite another one is execution"))[kProximity] ==
        0);
  CHECK(features_of("bounded execution budget", hit("bounded execution"))[kProximity] == 0.5);
  CHECK(features_of("budget", hit("a budget"))[kProximity] ==
        features_of("budget", hit("a budget"))[kCoverage]);
}

TEST_CASE("evidence rises with the number of matched words") {
  const Hit one = hit("retry with jitter and a budget");
  CHECK(features_of("jitter", one)[kEvidence] < features_of("retry jitter", one)[kEvidence]);
  CHECK(features_of("retry jitter", one)[kEvidence] <
        features_of("retry jitter budget", one)[kEvidence]);
  CHECK(features_of("retry jitter budget", one)[kEvidence] < 1);
}

TEST_CASE("a compound matches only as a whole") {
  const double whole = features_of("the c++ parser", hit("a parser in c++"))[kCoverage];
  const double part = features_of("the c++ parser", hit("a parser in c"))[kCoverage];
  CHECK(whole > part);
}

TEST_CASE("an unknown word matches a similar word, with a lower weight") {
  struct Case {
    const char* word;
    const char* text;
    bool resembles;
  };
  for (const Case& c : {Case{"bakcup", "a backup", true}, Case{"profesor", "the professor", true},
                        Case{"kafka", "a kaftan", false}, Case{"cat", "a car", false},
                        Case{"quantum", "a quota", false}}) {
    CAPTURE(c.word);
    Question question = parse_question(c.word);
    weight_terms(question, 10, std::vector<uint64_t>{0});
    const Features features = compute_features(question, std::vector<Hit>{hit(c.text)}).front();
    CHECK((features[kCoverage] > 0) == c.resembles);
    CHECK(features[kCoverage] < features_of("backup", hit("a backup"))[kCoverage]);
  }
}

TEST_CASE("semantic similarity is how far the cosine exceeds the median") {
  std::vector<Hit> hits;
  for (const double cosine : {0.9, 0.6, 0.5, 0.5, 0.5, 0.4, 0.1}) {
    Hit one = hit("x");
    one.cosine = cosine;
    hits.push_back(one);
  }
  const auto all = compute_features(parse_question("garden"), hits);
  CHECK(all[0][kSimilarity] == doctest::Approx(0.8));
  CHECK(all[1][kSimilarity] == doctest::Approx(0.2));
  CHECK(all[2][kSimilarity] == 0);
  CHECK(all[6][kSimilarity] == 0);
  const std::vector<Hit> few(hits.begin(), hits.begin() + 2);
  CHECK(compute_features(parse_question("garden"), few)[0][kSimilarity] == doctest::Approx(0.9));
  CHECK(compute_features(parse_question("garden"), {}).empty());
}

TEST_CASE("every feature is between 0 and 1 for any input") {
  std::string longest(10000, 'a');
  const std::string repeated = [] {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "loop budget ";
    return text;
  }();
  for (const std::string& query :
       {std::string(), longest, repeated, std::string("\xff\xfe \x01"), std::string("侘寂 c++")}) {
    for (const std::string& content :
         {std::string(), longest, repeated, std::string("\xff 侘寂")}) {
      Hit one = hit(content, content, query, {query});
      one.cosine = -1;
      for (const double value : features_of(query, one)) {
        CHECK(value >= 0);
        CHECK(value <= 1);
      }
    }
  }
}

}  // namespace features_test
