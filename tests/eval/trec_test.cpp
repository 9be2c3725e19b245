#include "eval/trec.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include "base/files.h"

namespace trec_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

constexpr const char* kQueries =
    "{\"_id\": \"q1\", \"text\": \"heat in slabs\", \"metadata\": {}}\n"
    "{\"id\": 2, \"text\": \" wings \"}\n"
    "q3\tflutter\tof panels\n";

Result<std::vector<Query>> read(std::string_view queries, std::string_view qrels) {
  return read_collection(queries, "queries.jsonl", qrels, "qrels.tsv");
}

}  // namespace

TEST_CASE("queries are read with their judgements from BEIR and TREC files") {
  const char* all_qrels[] = {
      "query-id\tcorpus-id\tscore\nq1\tA-1\t2\nq1\tb_2\t1\n2\t7\t1\nq3\tx\t3\n",  // BEIR
      "q1 0 A-1 2\nq1 0 b_2 1\n2 0 7 1\nq3 0 x 3\n",                              // TREC
      "q1 Q0 A-1 2.0\r\n\r\nq1\tQ0  b_2\t1\r\n2 0 7 1\r\nq3 0 x 3",
      "\xEF\xBB\xBF 2 7 1 \n q1 A-1 2 \n q1 b_2 1 \n q1 c 0\n q1 d -1\n q3 x 3\n unknown e 2",
  };
  for (const char* qrels : all_qrels) {
    CAPTURE(qrels);
    const auto found = read(kQueries, qrels);
    REQUIRE(found);
    REQUIRE(found->size() == 3);
    CHECK(found->at(0).id == "q1");
    CHECK(found->at(0).text == "heat in slabs");
    CHECK(found->at(0).relevant == decltype(Query::relevant){{"a-1", 2}, {"b_2", 1}});
    CHECK(found->at(1).id == "2");
    CHECK(found->at(1).text == "wings");
    CHECK(found->at(1).relevant == decltype(Query::relevant){{"7", 1}});
    CHECK(found->at(2).text == "flutter\tof panels");
  }
  const auto windows =
      read("\xEF\xBB\xBF{\"id\":\"q1\",\"text\":\"a\"}\r\n\r\nq2\tb\r\n", "q1 d 1\nq2 d 1");
  REQUIRE(windows);
  CHECK(windows->at(1).text == "b");
}

TEST_CASE("queries without a relevant document are left out") {
  const auto found = read("1\ta\n2\tb\n3\tc\n4\t\n", "1 x 0\n2 x 1\n2 y 0\n9 x 1\n");
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().id == "2");
  CHECK(found->front().relevant.size() == 1);
}

TEST_CASE("documents with the same slug are merged into one document with the higher gain") {
  const auto found = read("1\ta", "1 DOC#7 1\n1 doc-7 3\n1 Doc-7 2");
  REQUIRE(found);
  CHECK(found->front().relevant == decltype(Query::relevant){{"doc-7", 3}});
}

TEST_CASE("a malformed collection gives a data error with file and line") {
  const std::string long_line = "{\"id\":\"1\",\"text\":\"" + std::string(2 << 20, 'x') + "\"}";
  struct {
    std::string queries, qrels, message;
  } cases[] = {
      {"1\ta\nb", "1 x 1", "queries.jsonl:2: not a query"},
      {"{\"id\":\"1\"}", "1 x 1", "queries.jsonl:1: not a query"},
      {"{\"id\":\"1\",\"text\":7}", "1 x 1", "queries.jsonl:1: not a query"},
      {"{\"text\":\"a\"}", "1 x 1", "queries.jsonl:1: not a query"},
      {"{\"id\":1.5,\"text\":\"a\"}", "1 x 1", "queries.jsonl:1: not a query"},
      {"\n\n{\"id\":\"1\",\"text\":\"a\"", "1 x 1", "queries.jsonl:3: not a query"},
      {"{\"id\":1,\"text\":\"a\",\"score\":1e999}", "1 x 1", "queries.jsonl:1: not a query"},
      {"[1]", "1 x 1", "queries.jsonl:1: not a query"},
      {"\ta", "1 x 1", "queries.jsonl:1: not a query"},
      {"1\ta\n2\tb\n{\"id\":1,\"text\":\"c\"}", "1 x 1",
       "queries.jsonl:3: the id of this query is already used in line 1"},
      {"1\ta\n2\t ", "2 x 1", "queries.jsonl:2: the query has no text"},
      {long_line, "1 x 1", "queries.jsonl:1: the line has more than 1 MB"},
      {"1\ta", "1 x", "qrels.tsv:1: a judgement has 3 or 4 columns, not 2"},
      {"1\ta", "1 x 1\n1 0 y 1 tag", "qrels.tsv:2: a judgement has 3 or 4 columns, not 5"},
      {"1\ta", "query document gain\nquery document gain", "qrels.tsv:2: the gain is not a number"},
      {"1\ta", "1 x 1\n1 y nan", "qrels.tsv:2: the gain is not a number"},
      {"1\ta", "1 x 1\n1 y 1e999", "qrels.tsv:2: the gain is not a number"},
      {"1\ta", "1 x 1\n1 y 0x1", "qrels.tsv:2: the gain is not a number"},
      {"1\ta", "1 x 1\n\n1 0 x 2", "qrels.tsv:3: line 1 judges the same document"},
      {"1\ta", "1 ### 1", "qrels.tsv:1: the document id has no letter or digit"},
      {"1\ta", "2 x 1", "no query of queries.jsonl has a relevant document in qrels.tsv"},
      {"1\ta", "1 x 0", "no query of queries.jsonl has a relevant document in qrels.tsv"},
      {"", "", "no query of queries.jsonl has a relevant document in qrels.tsv"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.message);
    const auto found = read(c.queries, c.qrels);
    REQUIRE(!found);
    CHECK(found.error().message == c.message);
    CHECK(found.error().kind == ErrorKind::data);
    CHECK(!found.error().hint.empty());
  }
}

TEST_CASE("arbitrary bytes are read or refused") {
  const std::string pieces[] = {"{", "}",  "\"id\":", "1",     "\t",        " ",
                                ",", "\n", "\r",      "\xFF",  "\xFF\xFE",  "\xEF\xBB\xBF",
                                "a", "#",  "-1",      "\"x\"", "\"text\":", std::string(1, '\0')};
  unsigned state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text[2];
    for (std::string& one : text) {
      for (int i = 0; i < 24; ++i) {
        state = state * 1664525U + 1013904223U;
        one += pieces[(state >> 16) % std::size(pieces)];
      }
    }
    const auto found = read(text[0], text[1]);
    if (!found) CHECK(found.error().message.find('\n') == std::string::npos);
    document_ids(text[1]);
  }
}

TEST_CASE("document_ids returns the original ids by slug") {
  const std::map<std::string, std::string> expected = {{"med-10", "MED-10"}, {"a.b_c", "a.b_c"}};
  CHECK(document_ids("q d gain\n1 MED-10 1\n2 0 a.b_c 0\r\n3 med-10 1") == expected);
}

TEST_CASE("a run has six columns and falling scores") {
  const RankedDocument ranked[] = {{"A", 2.5}, {"b c", 2.5}, {"d", 3}, {"e", -.5}};
  CHECK(run_lines("q1", ranked, "my run") ==
        "q1 Q0 A 1 2.5 my_run\n"
        "q1 Q0 b_c 2 2.4999998 my_run\n"
        "q1 Q0 d 3 2.4999995 my_run\n"
        "q1 Q0 e 4 -0.5 my_run\n");
  CHECK(run_lines("q1", std::span(ranked).first(1), "") == "q1 Q0 A 1 2.5 -\n");
  CHECK(run_lines("q1", {}, "run").empty());
}

TEST_CASE("the scores of a written run differ even in single precision") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<RankedDocument> ranked;
  for (double score : {kInfinity, kInfinity, 1e300, 1e299, 1.0, 1.0 - 1e-12, 1.0 - 2e-12,
                       std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0, -0.0, 1e-320, -1e300,
                       -kInfinity, -kInfinity})
    ranked.push_back({"d", score});
  std::istringstream lines(run_lines("q", ranked, "t"));
  std::string query, q0, document, rank, score, tag;
  float last = std::numeric_limits<float>::infinity();
  size_t n = 0;
  while (lines >> query >> q0 >> document >> rank >> score >> tag) {
    CAPTURE(score);
    const float value = std::strtof(score.c_str(), nullptr);
    CHECK(value < last);
    last = value;
    CHECK(rank == std::to_string(++n));
  }
  CHECK(n == ranked.size());
}

TEST_CASE("public collections are read completely") {
  struct {
    const char* name;
    size_t queries, judgements;
    double gains;
  } collections[] = {{"cranfield", 225, 1837, 4404}, {"cacm", 52, 796, 796}};
  for (const auto& c : collections) {
    const auto folder = std::filesystem::path(STOKA_SOURCE_DIR) / ".." / "shared" / "ir" / c.name;
    if (!std::filesystem::exists(folder / "qrels.tsv")) {
      MESSAGE(c.name << " is not here");
      continue;
    }
    const auto queries = read_file(folder / "queries.jsonl", 1 << 20);
    const auto qrels = read_file(folder / "qrels.tsv", 1 << 20);
    REQUIRE(queries);
    REQUIRE(qrels);
    const auto found = read(*queries, *qrels);
    REQUIRE(found);
    CHECK(found->size() == c.queries);
    size_t judgements = 0;
    double gains = 0;
    for (const Query& query : *found) {
      judgements += query.relevant.size();
      for (const auto& [document, gain] : query.relevant) gains += gain;
    }
    CHECK(judgements == c.judgements);
    CHECK(gains == c.gains);
  }
}

}  // namespace trec_test
