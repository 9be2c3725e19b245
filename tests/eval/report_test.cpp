#include "eval/report.h"

#include <doctest/doctest.h>

#include <limits>

#include "support/json.h"

namespace report_test {

using namespace stoka;
using namespace stoka::eval;
using nlohmann::json;

namespace {

CaseResult passing(std::string id) {
  CaseResult out;
  out.suite = "dataset";
  out.id = std::move(id);
  out.trials = out.passes = 1;
  return out;
}

CaseResult full() {
  CaseResult out;
  out.suite = "dataset";
  out.id = "vague-failure";
  out.category = "vague";
  out.query = "what do i read when it breaks?";
  out.before = {"what is this?", "and?"};
  out.trials = 3;
  out.passes = 1;
  out.errors = 1;
  out.scores = {{"brevity", 1}, {"citation_hit", 1.0 / 3}};
  out.why = {"citation_hit: cites b", "brevity: 5 sentences without a citation"};
  out.error = "the generator does not answer";
  out.route = "new";
  out.confidence = "low";
  out.best_score = 0.51239;
  out.answer = "it breaks.\n\nwhere?";
  out.citations = {{"a", "A", "A quote.", "blog", "8 min", "Apr 12", "/blog/a", 0.91}};
  out.ideal = "read a";
  out.note = "vague on purpose";
  return out;
}

Report report() {
  Report out;
  out.suite = "all";
  out.repeat = 3;
  out.parts = {{"embedder", "builtin"}, {"generator", "extractive"}};
  out.metrics = {{"dataset.pass_rate", 2.0 / 3}, {"retrieval.policy.ndcg@10", 0.91}};
  out.calibration = {{"direct", 10, 9}, {"nothing", 4, 4}};
  out.cases = {full(), passing("plain"), passing("other")};
  out.at = "2026-04-12T10:00:00.000Z";
  out.seconds = 0.41234567;
  out.latency = {{"turn", {1.5, 2.25}}};
  return out;
}

std::string refusal(const std::string& text) {
  const Result<Report> read = read_report(text, "old.json");
  return read ? "accepted" : read.error().message;
}

}  // namespace

TEST_CASE("a case passes only if all its trials pass without an error") {
  CaseResult result;
  CHECK_FALSE(result.passed());
  CHECK(result.pass_rate() == 0);
  result.trials = 4;
  result.passes = 3;
  CHECK_FALSE(result.passed());
  CHECK(result.pass_rate() == 0.75);
  result.passes = 4;
  CHECK(result.passed());
  result.errors = 1;
  CHECK_FALSE(result.passed());
  CHECK(result.pass_rate() == 1);
}

TEST_CASE("a report counts cases that passed, failed and could not be run") {
  CHECK(report().passed() == 2);
  CHECK(report().failed() == 0);  // what could not be made is counted apart
  CHECK(report().errors() == 1);
  CHECK(Report{}.failed() == 0);
}

TEST_CASE("rounded() keeps four decimals, without negative zero, NaN or infinity") {
  CHECK(rounded(1.0 / 3) == 0.3333);
  CHECK(rounded(2.0 / 3) == 0.6667);
  CHECK_FALSE(std::signbit(rounded(-0.00001)));
  CHECK(rounded(std::numeric_limits<double>::quiet_NaN()) == 0);
  CHECK(rounded(std::numeric_limits<double>::infinity()) == 0);
  CHECK(rounded(1e300) == 1e300);
}

TEST_CASE("the JSON has the documented members") {
  const json whole = json::parse(to_json(report()));
  CHECK(whole["suite"] == "all");
  CHECK(whole["passed"] == 2);
  CHECK(whole["failed"] == 0);
  CHECK(whole["errors"] == 1);
  CHECK(whole["metrics"]["dataset.pass_rate"] == 0.6667);
  CHECK(whole["calibration"][1] == json{{"name", "nothing"}, {"n", 4}, {"right", 4}});
  const json& first = whole["cases"][0];
  CHECK(first["id"] == "vague-failure");
  CHECK(first["passed"] == false);
  CHECK(first["scores"]["citation_hit"] == 0.3333);
  CHECK(first["citations"][0]["quote"] == "A quote.");
  CHECK(whole["cases"][1]["passed"] == true);
}

TEST_CASE("each case is one line, and the member \"run\" comes last") {
  Report one = report();
  const std::string text = to_json(one);
  CHECK(text.find("\n    {\"id\":\"vague-failure\",") != std::string::npos);
  CHECK(text.find("\n    {\"id\":\"plain\",") != std::string::npos);
  CHECK(text.find("\n    \"dataset.pass_rate\": 0.6667,") != std::string::npos);

  one.at = "2027-01-01T00:00:00.000Z";
  one.seconds = 9;
  one.latency.clear();
  const std::string other = to_json(one);
  const size_t run = text.find("\n  \"run\": ");
  REQUIRE(run != std::string::npos);
  CHECK(other != text);
  CHECK(other.substr(0, other.find("\n  \"run\": ")) == text.substr(0, run));
  CHECK(json::parse(text.substr(0, run - 1) + "}").size() == json::parse(text).size() - 1);
}

TEST_CASE("a written report is read back unchanged") {
  const std::string text = to_json(report());
  const Result<Report> read = read_report(text, "old.json");
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->repeat == 3);
  CHECK(read->parts == report().parts);
  CHECK(read->at == report().at);
  CHECK(read->latency.at("turn").p95 == 2.25);
  const CaseResult& result = read->cases.front();
  CHECK(result.before == full().before);
  CHECK(result.why == full().why);
  CHECK(result.answer == full().answer);
  CHECK(result.citations.front().url == "/blog/a");
  CHECK(result.errors == 1);
  CHECK_FALSE(result.passed());

  const std::string empty = to_json(Report{});
  REQUIRE(read_report(empty, "empty.json"));
  CHECK(to_json(*read_report(empty, "empty.json")) == empty);
}

TEST_CASE("texts of arbitrary bytes make valid JSON that is read back") {
  Report hostile = report();
  CaseResult& result = hostile.cases[1];
  result.query = std::string("\xff\xfe \"quoted\" \\ \0 \x1b[31m", 22);
  result.answer = "</script>]]>\u2028\xc3";
  result.id = "id\xff";
  hostile.parts["embedder"] = "\xf0\x9f";
  hostile.metrics["m\xff"] = 1;
  const std::string text = to_json(hostile);
  CHECK(text.find('\xff') == std::string::npos);
  const Result<Report> read = read_report(text, "hostile.json");
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->cases[1].answer == "</script>]]>\u2028\ufffd");
}

TEST_CASE("unknown members of a report are ignored") {
  json whole = json::parse(to_json(report()));
  whole["invented"] = {1, 2};
  whole["cases"][0]["invented"] = {{"deep", true}};
  whole["calibration"][0]["invented"] = nullptr;
  whole["run"]["invented"] = "x";
  const Result<Report> read = read_report(whole.dump(), "new.json");
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(report()));
}

TEST_CASE("a malformed report gives an error that names the problem") {
  const std::string prefix = "old.json is not a report: ";
  struct Case {
    const char* text;
    const char* why;
  };
  for (
      const Case& c : {
          Case{"", "not JSON"},
          Case{"{\"suite\":", "not JSON"},
          Case{"\xff\xfe", "not JSON"},
          Case{"[]", "not a JSON object"},
          Case{"{}", "it has no \"suite\""},
          Case{R"({"suite":"all"})", "it has no \"metrics\""},
          Case{R"({"suite":"all","metrics":{}})", "it has no \"cases\""},
          Case{R"({"suite":1,"metrics":{},"cases":[]})", "\"suite\" is not a text"},
          Case{R"({"suite":"all","metrics":[],"cases":[]})",
               "\"metrics\" has a value that is not an object"},
          Case{R"({"suite":"all","metrics":{"a":"b"},"cases":[]})", "\"a\" is not a number"},
          Case{R"({"suite":"all","metrics":{},"cases":{}})", "\"cases\" is not a list"},
          Case{R"({"suite":"all","metrics":{},"cases":[1]})",
               "\"cases\" has a value that is not an object"},
          Case{R"({"suite":"all","metrics":{},"cases":[{"id":"a","suite":"b"}]})",
               "a case has no \"trials\""},
          Case{
              R"({"suite":"a","metrics":{},"cases":[{"id":"a","suite":"b","trials":-1,"passes":0}]})",
              "\"trials\" is not a count"},
          Case{
              R"({"suite":"a","metrics":{},"cases":[{"id":"a","suite":"b","trials":1,"passes":2}]})",
              "a case has more passes than trials"},
          Case{R"({"suite":"a","metrics":{},"cases":[],"run":3})", "\"run\" is not an object"},
      })
    CHECK(refusal(c.text) == prefix + c.why);
  CHECK(read_report("", "x").error().kind == ErrorKind::data);
  CHECK(refusal(R"({"suite":"all","metrics":{},"cases":[]})") == "accepted");
}

}  // namespace report_test
