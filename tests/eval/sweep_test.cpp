#include "eval/sweep.h"

#include <doctest/doctest.h>

#include "support/json.h"

namespace sweep_test {

using namespace stoka;
using namespace stoka::eval;
using Json = nlohmann::json;

TEST_CASE("an axis is a setting and its values") {
  const Axis axis = parse_axis("chunk.max_tokens=256, 512,1024").value();
  CHECK(axis.key == "chunk.max_tokens");
  CHECK(axis.values == std::vector<std::string>{"256", "512", "1024"});
  CHECK(parse_axis("retrieval.mode=dense").value().values.size() == 1);
  for (const char* wrong : {"", "=", "a", "a=", "=b", "a=,", "retrieval"}) {
    CAPTURE(std::string(wrong));
    const auto refused = parse_axis(wrong);
    REQUIRE(!refused);
    CHECK(refused.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("combinations() gives all combinations; the last axis varies fastest") {
  const std::vector<Axis> axes = {{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
  const std::vector<Combination> all = combinations(axes);
  REQUIRE(all.size() == 6);
  CHECK(all[0] == Combination{{"a", "1"}, {"b", "x"}});
  CHECK(all[1] == Combination{{"a", "1"}, {"b", "y"}});
  CHECK(all[5] == Combination{{"a", "2"}, {"b", "z"}});
  CHECK(combinations({}) == std::vector<Combination>{{}});
}

TEST_CASE("table and JSON have every row, and the best row is marked") {
  Sweep sweep;
  SweepRow row;
  row.settings = {{"retrieval.mode", "dense"}};
  row.chunks = 224;
  row.scores.ndcg_10 = 0.5;
  sweep.rows.push_back(row);
  row.settings = {{"retrieval.mode", "hybrid"}};
  row.scores.ndcg_10 = 0.75;
  row.direct_right = 0.9;
  sweep.rows.push_back(row);
  sweep.thresholds.push_back({"nothing", 0.5, 0.8, 0.9, 0.4, 1.0, true});
  const std::string table = to_table(sweep);
  CHECK(table.find("retrieval.mode") != std::string::npos);
  const size_t best = table.find("best ndcg@10");
  CHECK(table.find("hybrid") < best);
  CHECK(table.find("best", best + 1) == std::string::npos);
  CHECK(table.find("in use") != std::string::npos);
  const Json json = Json::parse(to_json(sweep));
  CHECK(json["rows"].size() == 2);
  CHECK(json["rows"][1]["settings"]["retrieval.mode"] == "hybrid");
  CHECK(json["rows"][1]["ndcg@10"] == 0.75);
  CHECK(json["thresholds"][0]["in_use"] == true);
  CHECK(to_table(Sweep{}).empty());
}

}  // namespace sweep_test
