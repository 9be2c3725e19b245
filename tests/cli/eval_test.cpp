// `stoka eval` over the sample site, over another site, and with parts that were broken on
// purpose.
#include <doctest/doctest.h>

#include <fstream>

#include "model_site.h"
#include "support/json.h"

namespace eval_test {

using namespace stoka::testing;
namespace fs = std::filesystem;

namespace {

std::string read_text(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kBaseline = STOKA_SOURCE_DIR "/evals/baseline.json";

// Removes the member "run", which differs between runs.
std::string without_run(const std::string& report) {
  Json json = Json::parse(report);
  json.erase("run");
  return json.dump();
}

void write_config(const Machine& machine, const std::string& toml) {
  machine.write(".config/stoka/config.toml", toml);
}

// Writes a small site and cases about it.
void write_site(const Machine& machine) {
  machine.write("site/boats.md",
                "---\ntitle: Wooden boats\nslug: boats\ndate: 2026-01-02\n---\n\n"
                "A wooden boat leaks in spring until its planks have swollen. Nobody who owns one "
                "calls that a fault.\n");
  machine.write("site/knots.md",
                "---\ntitle: Knots that hold\nslug: knots\ndate: 2026-02-03\n---\n\n"
                "A bowline holds under load and opens when the load is gone. Learn it first.\n");
  machine.write(
      "my.jsonl",
      "{\"id\":\"leak\",\"query\":\"why does a wooden boat leak\",\"ideal_cite\":\"boats\"}\n"
      "{\"id\":\"bowline\",\"query\":\"tell me about the bowline\",\"relevant\":{\"knots\":2}}\n");
}

}  // namespace

TEST_CASE("eval over the sample site agrees with the committed baseline") {
  Machine machine;
  machine.environment()["TMPDIR"] = (machine.home() / "tmp").string();
  fs::create_directories(machine.home() / "tmp");
  const ProcessResult ran =
      machine.stoka({"eval", "all", "--baseline", kBaseline, "--junit", "out.xml", "--html",
                     "out.html", "--report", "out.json"});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  CHECK(ran.err == "");
  for (const std::string_view part :
       {"constraints", "dataset", "conversations", "retrieval", "ndcg@10", "policy"})
    CHECK(has(ran.out, part));
  CHECK(!has(ran.out, "worse   "));
  CHECK(fs::is_empty(machine.home() / "tmp"));
  CHECK(!fs::exists(machine.database()));
  CHECK(has(read_text(machine.home() / "out.xml"), "<testsuite"));
  CHECK(has(read_text(machine.home() / "out.html"), "<html"));
  const Json report = Json::parse(read_text(machine.home() / "out.json"));
  CHECK(report["suite"] == "all");
  CHECK(report["metrics"]["constraints.pass_rate"] == 1);
  CHECK(report["metrics"]["dataset.pass_rate"].get<double>() >= 0.9);
  CHECK(report["errors"] == 0);
  CHECK(report["passed"].get<int>() + report["failed"].get<int>() ==
        static_cast<int>(report["cases"].size()));
}

TEST_CASE("two runs give the same report except for the member run") {
  Machine machine;
  const ProcessResult one = machine.stoka({"eval", "dataset", "--json"});
  const ProcessResult other = machine.stoka({"eval", "dataset", "--json", "--jobs", "1"});
  CHECK(without_run(one.out) == without_run(other.out));
  CHECK(one.err == "");
  const Json report = Json::parse(one.out);
  CHECK(report["suite"] == "dataset");
  CHECK(report["cases"][0].contains("id"));
  CHECK(report["cases"][0].contains("passed"));
  CHECK(report["cases"][0].contains("scores"));
}

TEST_CASE("a conversation is chosen as a whole, by its id or that of a turn") {
  Machine machine;
  for (const char* only : {"more-and-why", "more-and-why#3"}) {
    const Json report =
        Json::parse(machine.stoka({"eval", "conversations", "--json", "--only", only}).out);
    REQUIRE(report["cases"].size() == 4);
    CHECK(report["cases"][2]["id"] == "more-and-why#3");
    CHECK(report["cases"][2]["before"].size() == 2);
  }
}

TEST_CASE("without a baseline failed cases are listed and the exit code is 1") {
  Machine machine;
  const ProcessResult ran = machine.stoka({"eval", "dataset"});
  CHECK(ran.code == 1);
  const Json report = Json::parse(machine.stoka({"eval", "dataset", "--json"}).out);
  size_t failed = 0;
  for (const Json& one : report["cases"]) {
    if (one["passed"] == true) continue;
    ++failed;
    CHECK(has(ran.out, "dataset/" + one["id"].get<std::string>()));
  }
  CHECK(failed == report["failed"].get<size_t>());
  CHECK(machine.stoka({"eval", "constraints"}).code == 0);
}

TEST_CASE("comparison with the baseline finds the cases that a bad golden file breaks") {
  Machine machine;
  std::string replies = read_text(STOKA_SOURCE_DIR "/golden/replies.toml");
  const std::string said = "\"wrong terminal.\"";
  replies.replace(replies.find(said), said.size(), "\"Sorry! you might try react instead.\"");
  machine.write("golden/replies.toml", replies);
  write_config(machine, "[golden]\ndir = \"" + (machine.home() / "golden").string() + "\"\n");
  const ProcessResult ran = machine.stoka({"eval", "--baseline", kBaseline});
  CHECK(ran.code == 1);
  CHECK(has(ran.out, "worse   constraints/knows_limits"));
  CHECK(has(ran.out, "worse   dataset/"));
  CHECK(!has(ran.out, "worse   retrieval."));
}

TEST_CASE("comparison with the baseline finds a lowered threshold") {
  Machine machine;
  write_config(machine, "[threshold]\nnothing = 0.05\n");
  const ProcessResult ran = machine.stoka({"eval", "--baseline", kBaseline});
  CHECK(ran.code == 1);
  CHECK(has(ran.out, "worse   dataset/void-"));
  CHECK(has(ran.out, "other thresholds: 0.82 0.65 0.05, was 0.82 0.65 0.5"));
  write_config(machine,
               "[threshold]\nnothing = 0.4\n");  // no case shows it, the share refused does
  const ProcessResult little = machine.stoka({"eval", "retrieval", "--baseline", kBaseline});
  CHECK(little.code == 1);
  CHECK(has(little.out, "worse   retrieval.refused"));
}

TEST_CASE("comparison with the baseline finds a broken reranker; a missing one gives exit code 4") {
  Machine machine;
  auto reranker = std::make_unique<FakeUpstream>(reranker_options());
  machine.environment()["STOKA_RERANK_URL"] = reranker->url();
  const std::string before = (machine.home() / "before.json").string();
  const ProcessResult good = machine.stoka({"eval", "retrieval", "--report", before});
  CHECK_MESSAGE(good.code <= 1, (good.out + good.err));
  CHECK(machine.stoka({"eval", "retrieval", "--baseline", before}).code == 0);

  reranker->queue_behaviour(R"({"path":"/rerank","fault":"reversed","times":0})");
  const ProcessResult bad = machine.stoka({"eval", "retrieval", "--baseline", before});
  CHECK(bad.code == 1);
  CHECK(has(bad.out, "worse   retrieval.policy.hit@1"));
  CHECK(has(bad.out, "worse   retrieval/"));
  CHECK(!has(bad.out, "worse   retrieval.fused"));

  reranker.reset();
  const ProcessResult gone = machine.stoka({"eval", "retrieval", "--baseline", before});
  CHECK_MESSAGE(gone.code == 4, (gone.out + gone.err));
  CHECK(has(gone.err, "could not be run"));
  CHECK(lines(gone.err) == 1);
  CHECK(has(gone.out, "cases of the baseline could not be run"));
  CHECK(!has(gone.out, "worse   "));
}

TEST_CASE("--cases runs over the configured index, which is only read") {
  Machine machine;
  write_site(machine);
  CHECK(machine.stoka({"eval", "--cases", "my.jsonl"}).code == 3);  // there is no index yet
  CHECK(machine.stoka({"index", "site"}).code == 0);
  const ProcessResult ran = machine.stoka({"eval", "--cases", "my.jsonl", "--json"});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  const Json report = Json::parse(ran.out);
  CHECK(report["cases"].size() == 2);
  CHECK(report["parts"]["day"] == "2026-02-03");
  CHECK(report["parts"]["index"] == "2 documents, 2 chunks");
  const Json status =
      Json::parse(machine.stoka({"smoke", "--json"}).out);  // does not change the index either
  CHECK(status["failed"] == 0);

  const ProcessResult pages =
      machine.stoka({"eval", "--cases", "my.jsonl", "--site", "site", "--json"});
  CHECK(without_run(pages.out) == without_run(ran.out));
}

TEST_CASE("a retrieval collection is evaluated and its run written for trec_eval") {
  Machine machine;
  machine.write(
      "corpus.jsonl",
      "{\"_id\":\"MED-10\",\"title\":\"Wooden boats\",\"text\":\"Planks swell in spring.\"}\n"
      "{\"_id\":\"MED-14\",\"title\":\"Knots\",\"text\":\"A bowline holds under load.\"}\n"
      "{\"_id\":\"MED-15\",\"title\":\"Sails\",\"text\":\"Canvas and wind.\"}\n");
  machine.write("queries.jsonl",
                "{\"_id\":\"PLAIN-1\",\"text\":\"does a bowline hold\"}\n"
                "{\"_id\":\"PLAIN-2\",\"text\":\"when do planks swell\"}\n");
  machine.write("qrels.tsv",
                "query-id\tcorpus-id\tscore\nPLAIN-1\tMED-14\t2\nPLAIN-2\tMED-10\t1\n");
  const ProcessResult ran =
      machine.stoka({"eval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "--site",
                     "corpus.jsonl", "--run-out", "run.txt", "--stage", "lexical"});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  const std::string run = read_text(machine.home() / "run.txt");
  CHECK(has(run, "PLAIN-1 Q0 MED-14 1 "));
  CHECK(has(run, "PLAIN-2 Q0 MED-10 1 "));
  CHECK(has(run, "stoka-lexical"));
}

TEST_CASE("a model's answers can be repeated, recorded and replayed") {
  Machine machine;
  auto generator = std::make_unique<FakeUpstream>();
  machine.environment()["STOKA_GEN_URL"] = generator->url();
  const std::vector<std::string> ask = {"eval",     "dataset", "--only", "new-",
                                        "--repeat", "2",       "--json"};
  auto with = [&](const char* flag) {
    std::vector<std::string> all = ask;
    all.insert(all.end(), {flag, "tape.jsonl"});
    return machine.stoka(all);
  };
  const ProcessResult said = with("--record");
  CHECK_MESSAGE(said.code <= 1, said.err);
  const Json report = Json::parse(said.out);
  CHECK(report["repeat"] == 2);
  CHECK(report["cases"][0]["trials"] == 2);
  generator.reset();
  const ProcessResult replayed = with("--replay");
  CHECK(without_run(replayed.out) == without_run(said.out));
  const ProcessResult gone = machine.stoka(ask);
  CHECK(gone.code == 4);
  CHECK(Json::parse(gone.out)["errors"].get<size_t>() > 0);
}

TEST_CASE("a sweep compares settings") {
  Machine machine;
  const ProcessResult modes = machine.stoka({"eval", "--sweep", "retrieval.mode=lexical,hybrid"});
  CHECK_MESSAGE(modes.code == 0, (modes.out + modes.err));
  CHECK(has(modes.out, "retrieval.mode"));
  CHECK(has(modes.out, "best ndcg@10"));
  CHECK(has(modes.out, "in use"));

  write_site(machine);
  std::string longer = "---\ntitle: Anchors\nslug: anchors\n---\n\n";
  for (int i = 0; i < 200; ++i)
    longer += "An anchor of number " + std::to_string(i) + " holds in mud and drags over rock.\n\n";
  machine.write("site/anchors.md", longer);
  const ProcessResult all = machine.stoka({"eval", "--cases", "my.jsonl", "--site", "site",
                                           "--sweep", "--json", "--report", "sweep.json"});
  CHECK_MESSAGE(all.code == 0, (all.out + all.err));
  CHECK(read_text(machine.home() / "sweep.json") == all.out);
  const Json sweep = Json::parse(all.out);
  CHECK(sweep["rows"].size() == 27);  // sizes, overlaps, modes; the prefix is the models'
  CHECK(sweep["rows"][0]["settings"]["chunk.max_tokens"] == "256");
  CHECK(sweep["rows"][0]["chunks"] > sweep["rows"][26]["chunks"]);
  CHECK(sweep["thresholds"].size() > 10);

  CHECK(machine.stoka({"index", "site"}).code == 0);
  CHECK(machine.stoka({"eval", "--cases", "my.jsonl", "--sweep"}).code == 0);
  const ProcessResult pages =
      machine.stoka({"eval", "--cases", "my.jsonl", "--sweep", "chunk.max_tokens=256"});
  CHECK(pages.code == 2);
  CHECK(has(pages.err, "--site"));
}

TEST_CASE("an evaluation that cannot run gives an error and no output") {
  Machine machine;
  write_site(machine);
  machine.write("bad.jsonl", "{\"query\":\"x\",\"idael_cite\":\"boats\"}\n");
  machine.write("no-report.json", "{}\n");
  machine.write("empty.jsonl", "\n");
  machine.write("utf16.jsonl", std::string("\xff\xfe{\0}\0", 6));
  machine.write("slug.jsonl", "{\"query\":\"x y z\",\"ideal_cite\":\"boat\"}\n");
  struct Row {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  };
  const std::vector<Row> rows = {
      {{"eval", "everything"}, 2, "constraints"},
      {{"eval", "--cases", "none.jsonl"}, 3, "none.jsonl"},
      {{"eval", "--cases", "bad.jsonl"}, 3, "ideal_cite"},
      {{"eval", "--baseline", "none.json"}, 3, "none.json"},
      {{"eval", "--baseline", "no-report.json"}, 3, "no-report.json"},
      {{"eval", "--only", "no-such-case"}, 2, "no-such-case"},
      {{"eval", "--queries", "q.jsonl"}, 2, "--qrels"},
      {{"eval", "--report", "no/such/folder/r.json"}, 3, "no/such/folder/r.json"},
      {{"eval", "--repeat", "0"}, 2, "--repeat"},
      {{"eval", "--baseline", "b.json", "--tolerance", "2"}, 2, "--tolerance"},
      {{"eval", "--baseline", "b.json", "--tolerance", "nan"}, 2, "--tolerance"},
      {{"eval", "--tolerance", "0.1"}, 2, "--baseline"},
      {{"eval", "--history", "site"}, 2, "--html"},
      {{"eval", "--stage", "fused"}, 2, "--run-out"},
      {{"eval", "--sweep", "--baseline", "b.json"}, 2, "--baseline"},
      {{"eval", "--cases", "my.jsonl", "bad.jsonl"}, 2, "--cases bad.jsonl"},
      {{"eval", "--site", "site"}, 2, "--cases"},
      {{"eval", "--cases", "empty.jsonl"}, 3, "empty.jsonl"},
      {{"eval", "--cases", "utf16.jsonl"}, 3, "UTF-8"},
      {{"eval", "--cases", "slug.jsonl", "--site", "site"}, 3, "slug.jsonl:1: ideal_cite 'boat'"},
      {{"eval", "--cases", "my.jsonl", "--site", "site", "--baseline", kBaseline},
       3,
       "none of these"},
      {{"eval", "--baseline", "no-report.json", "--report", "no-report.json"}, 2, "write over"},
      {{"eval", "--sweep", "retrieval.mood=dense"}, 2, "retrieval.mode"},
      {{"eval", "--sweep", "nonsense"}, 2, "--sweep"},
      {{"eval", "dataset", "--sweep"}, 2, "retrieval"},
      {{"eval", "--cases", "my.jsonl", "--site", "nowhere"}, 3, "nowhere"},
      {{"eval", "--html", "h.html", "--history", "nowhere"}, 3, "nowhere"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const ProcessResult ran = machine.stoka(row.arguments);
    CHECK_MESSAGE(ran.code == row.code, ran.err);
    CHECK(ran.out == "");
    CHECK(has(ran.err, row.says));
    CHECK(lines(ran.err) <= 2);
  }
}

TEST_CASE("with --json the comparison is part of the report") {
  Machine machine;
  const ProcessResult ran =
      machine.stoka({"eval", "constraints", "--baseline", kBaseline, "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  const Json report = Json::parse(ran.out);
  CHECK(report["comparison"]["worse"].empty());
  CHECK(report["comparison"]["tolerance"] == 0.01);
}

TEST_CASE("skipped files of --site are reported") {
  Machine machine;
  write_site(machine);
  machine.write("site/draft.md", "---\ntitle: Not yet\ndraft: true\n---\n\nText.\n");
  const ProcessResult ran = machine.stoka({"eval", "--cases", "my.jsonl", "--site", "site"});
  CHECK(ran.code == 0);
  CHECK(has(ran.err, "draft.md: draft"));
}

TEST_CASE("--html plots a history of reports") {
  Machine machine;
  fs::create_directories(machine.home() / "reports");
  for (const char* name : {"reports/a.json", "reports/b.json"})
    CHECK(machine.stoka({"eval", "constraints", "--report", name}).code == 0);
  machine.write("reports/other.json", "{\"not\":\"a report\"}");
  CHECK(machine.stoka({"eval", "constraints", "--html", "out.html", "--history", "reports"}).code ==
        0);
  CHECK(has(read_text(machine.home() / "out.html"), "<svg"));
}

}  // namespace eval_test
