// `stoka chat` with failing model servers.
#include "model_site.h"

namespace model_faults_test {

using namespace stoka::testing;

TEST_CASE("a failing embedder gives exit code 4 and no output") {
  for (const char* behaviour :
       {R"({"times":0,"fault":"close"})", R"({"times":0,"status":503})",
        R"({"times":0,"path":"/embed","fault":"html"})",
        R"({"times":0,"path":"/embed","fault":"nan"})",
        R"({"times":0,"path":"/embed","fault":"zeros"})",
        R"({"times":0,"path":"/embed","fault":"nulls"})",
        R"({"times":0,"path":"/embed","fault":"wrong_count"})",
        R"({"times":0,"path":"/embed","fault":"truncated_json"})",
        R"({"times":0,"path":"/embed","fault":"redirect"})",
        R"({"times":0,"path":"/embed","fault":"gzip_bomb"})", R"({"times":0,"fault":"hang"})"}) {
    CAPTURE(std::string(behaviour));
    ModelSite site;
    site.machine.environment()["STOKA_EMBED_TIMEOUT"] = "0.3";
    site.embedder.queue_behaviour(behaviour);
    ProcessResult ran = site.ask();
    CAPTURE(ran.err);
    CHECK(ran.code == 4);
    CHECK(ran.out == "");
    CHECK(has(ran.err, "embedder at " + site.embedder.url()));
    CHECK(site.generator.requests().empty());
  }
}

TEST_CASE("a failing reranker gives an answer and a warning") {
  for (const char* behaviour :
       {R"({"times":0,"fault":"close"})", R"({"times":0,"status":500})",
        R"({"times":0,"fault":"html"})", R"({"times":0,"fault":"bad_index"})",
        R"({"times":0,"fault":"duplicate_index"})", R"({"times":0,"fault":"hang"})"}) {
    CAPTURE(std::string(behaviour));
    ModelSite site;
    site.machine.environment()["STOKA_RERANK_TIMEOUT"] = "0.3";
    site.reranker.queue_behaviour(behaviour);
    ProcessResult ran = site.ask();
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(has(ran.err, "warning"));
    CHECK(has(ran.err, "reranker at " + site.reranker.url()));
    CHECK(ran.out != "");
  }
}

TEST_CASE("a generator that fails before the first token gives exit code 4 and no output") {
  for (const char* behaviour :
       {R"({"times":0,"fault":"close"})", R"({"times":0,"fault":"reset"})",
        R"({"times":0,"fault":"half_head"})", R"({"times":0,"fault":"hang"})",
        R"({"times":0,"status":500})", R"({"times":0,"status":429,"retry_after":60})",
        R"({"times":0,"status":503})", R"({"times":0,"fault":"html"})",
        R"({"times":0,"fault":"truncated_json","after":0})", R"({"times":0,"fault":"redirect"})",
        R"({"times":0,"fault":"gzip_bomb"})", R"({"times":0,"fault":"long_line","after":0})",
        R"({"times":0,"fault":"error_event","after":0})"}) {
    CAPTURE(std::string(behaviour));
    ModelSite site;
    site.machine.environment()["STOKA_GEN_HEADERS_TIMEOUT"] = "0.3";
    site.machine.environment()["STOKA_GEN_MODEL"] = "fake-model";
    site.generator.queue_behaviour(behaviour);
    ProcessResult ran = site.ask();
    CAPTURE(ran.err);
    CHECK(ran.code == 4);
    CHECK(ran.out == "");
    CHECK(lines(ran.err) >= 1);
    CHECK(has(ran.err, "stoka: "));
  }
}

TEST_CASE("a model that only thinks gives exit code 3 and names generator.extra") {
  ModelSite site;
  site.generator.queue_behaviour(R"({"times":0,"fault":"endless_thinking"})");
  ProcessResult ran = site.ask();
  CHECK(ran.code == 3);
  CHECK(ran.out == "");
  CHECK(has(ran.err, "generator.extra"));
}

TEST_CASE("an answer that breaks off is marked as cut off and shows no partial tag") {
  for (const char* behaviour :
       {R"({"times":0,"fault":"cut_in_tag"})",
        R"({"times":0,"path":"chat/completions","fault":"cut","after":5})",
        R"({"times":0,"fault":"error_event","after":5})",
        R"({"times":0,"path":"chat/completions","fault":"hang_mid","after":5})",
        R"({"times":0,"path":"chat/completions","fault":"truncated_json"})",
        R"({"times":0,"path":"chat/completions","fault":"long_line"})",
        R"({"times":0,"fault":"no_finish"})"}) {
    CAPTURE(std::string(behaviour));
    ModelSite site;
    site.machine.environment()["STOKA_GEN_IDLE_TIMEOUT"] = "0.3";
    site.generator.queue_behaviour(behaviour);
    ProcessResult ran = site.ask();
    CAPTURE(ran.out);
    CAPTURE(ran.err);
    CHECK(ran.code == 4);
    CHECK(has(ran.out, "[cut off]"));
    CHECK_FALSE(has(ran.out, "<cite"));
    CHECK(has(ran.err, "stoka: "));
  }
}

TEST_CASE("invalid text from a model is repaired") {
  for (const char* fault : {"invalid_utf8", "lone_surrogate", "endless"}) {
    CAPTURE(std::string(fault));
    ModelSite site;
    site.generator.queue_behaviour(Json{{"times", 0}, {"fault", fault}}.dump());
    ProcessResult ran = site.ask();
    CAPTURE(ran.err);
    CHECK((ran.code == 0 || ran.code == 4));
    CHECK(ran.out != "");
    CHECK_NOTHROW(static_cast<void>(Json(ran.out).dump()));  // valid UTF-8
  }
}

}  // namespace model_faults_test
