// The commands with fake model servers.
#include "model_site.h"

namespace models_test {

using namespace stoka::testing;

TEST_CASE("the answer is the same for every server dialect") {
  CHECK(has(expected_answer(), "> The Philosophy of Bounded Execution\n"));
  for (const char* dialect : {"vllm", "llamacpp", "ollama", "lmstudio", "openai", "openrouter"}) {
    CAPTURE(std::string(dialect));
    ModelSite site(dialect);
    ProcessResult ran = site.ask();
    CHECK(ran.code == 0);
    CHECK(ran.err == "");
    CHECK(ran.out == expected_answer());
    // The answer does not depend on how the server sends it.
    for (const char* behaviour :
         {R"({"path":"chat/completions","fault":"no_stream"})",
          R"({"path":"chat/completions","piece":1})",
          R"({"path":"chat/completions","reasoning":"let me think about limits <cite"})",
          R"({"path":"chat/completions","fault":"no_done"})"}) {
      CAPTURE(std::string(behaviour));
      site.generator.queue_behaviour(behaviour);
      CHECK(site.ask().out == expected_answer());
    }
  }
}

TEST_CASE("--replay repeats a recorded answer byte for byte without servers") {
  Machine without;
  std::string said, events;
  {
    ModelSite site;
    ProcessResult ran = site.ask({"--record", "talk.jsonl"});
    REQUIRE(ran.code == 0);
    said = ran.out;
    std::filesystem::copy_file(site.machine.home() / "talk.jsonl", without.home() / "talk.jsonl");
    std::filesystem::create_directories(without.database().parent_path());
    std::filesystem::copy_file(site.machine.database(), without.database());
    without.environment() = site.machine.environment();
    without.environment()["HOME"] = without.home().string();
  }
  ProcessResult ran = without.stoka({"chat", "--replay", "talk.jsonl", kQuestion});
  CHECK(ran.err == "");
  CHECK(ran.code == 0);
  CHECK(ran.out == said);
  ProcessResult other = without.stoka({"chat", "--replay", "talk.jsonl", "what about debono"});
  CHECK(other.code == 3);
  CHECK(has(other.err, "record it again"));
  CHECK(without.stoka({"chat", kQuestion}).code == 4);
}

TEST_CASE("a recording without generator.kind selects the replay generator") {
  Machine machine;
  machine.index_sample();
  std::string said;
  {
    FakeUpstream generator;
    machine.environment()["STOKA_GEN_URL"] = generator.url();
    said = machine.stoka({"chat", "--record", "talk.jsonl", kQuestion}).out;
    machine.environment().erase("STOKA_GEN_URL");
  }
  REQUIRE(said != "");
  CHECK(machine.stoka({"chat", "--replay", "talk.jsonl", kQuestion}).out == said);
  machine.environment()["STOKA_GENERATOR"] = "replay";
  CHECK(machine.stoka({"chat", kQuestion}).code == 3);
  machine.environment()["STOKA_REPLAY"] = "talk.jsonl";
  CHECK(machine.stoka({"chat", kQuestion}).out == said);
}

TEST_CASE("status names the models and what to fix") {
  ModelSite site;
  ProcessResult ran = site.machine.stoka({"status", "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  Json body = Json::parse(ran.out);
  CHECK(body["embedder"]["ok"] == true);
  CHECK(body["embedder"]["dim"] == 64);
  CHECK(has(body["embedder"]["model"].get<std::string>(), "fake-model"));
  CHECK(body["reranker"]["ok"] == true);
  CHECK(body["generator"]["ok"] == true);
  CHECK(body["generator"]["model"] == "fake-model");
  CHECK(body["stale"] == 0);

  site.machine.environment()["STOKA_GEN_URL"] = "http://127.0.0.1:9";
  ran = site.machine.stoka({"status", "--json"});
  CHECK(ran.code == 4);
  body = Json::parse(ran.out);
  CHECK(body["embedder"]["ok"] == true);
  CHECK(body["generator"]["ok"] == false);
  CHECK(has(ran.err, "STOKA_GEN_URL"));

  site.machine.environment()["STOKA_GEN_URL"] = site.generator.url();
  site.machine.environment()["STOKA_GEN_MODEL"] = "another-model";
  ran = site.machine.stoka({"status"});
  CHECK(ran.code == 3);
  CHECK(has(ran.err, "fake-model"));

  site.machine.environment()["STOKA_GEN_MODEL"] = "fake-model";
  std::swap(site.machine.environment()["STOKA_EMBED_URL"],
            site.machine.environment()["STOKA_RERANK_URL"]);
  CHECK(site.machine.stoka({"status"}).code == 3);
}

TEST_CASE("an index of another embedding model is refused until it is rebuilt") {
  ModelSite site;
  FakeOptions options;
  options.model = "other-model";
  FakeUpstream other(options);
  site.machine.environment()["STOKA_EMBED_URL"] = other.url();
  ProcessResult ran = site.ask();
  CHECK(ran.code == 3);
  CHECK(has(ran.err, "fake-model"));
  CHECK(has(ran.err, "other-model"));
  // Without the variable the built-in embedder would replace the model's vectors; that is refused.
  ProcessResult index = site.machine.stoka({"index", STOKA_SOURCE_DIR "/evals/site"});
  CHECK(index.code == 3);
  CHECK(has(index.err, "--rebuild"));
  site.machine.environment()["STOKA_EMBED_URL"] = site.embedder.url();
  CHECK(site.ask().code == 0);
  site.machine.environment()["STOKA_EMBED_URL"] = other.url();
  CHECK(site.machine.stoka({"index", "--rebuild", STOKA_SOURCE_DIR "/evals/site"}).code == 0);
  CHECK(site.ask().code == 0);
}

TEST_CASE("a rebuild that fails half way keeps the old index") {
  ModelSite site;
  FakeOptions options;
  options.model = "other-model";
  FakeUpstream other(options);
  site.machine.environment()["STOKA_EMBED_URL"] = other.url();
  for (int i = 0; i < 4; ++i)
    other.queue_behaviour(R"({"path":"/embed"})");  // these four requests are answered
  other.queue_behaviour(R"({"path":"/embed","times":0,"fault":"close"})");
  ProcessResult index = site.machine.stoka({"index", "--rebuild", STOKA_SOURCE_DIR "/evals/site"});
  CHECK(index.code == 4);
  CHECK(has(index.err, "the index is as it was"));
  site.machine.environment()["STOKA_EMBED_URL"] = site.embedder.url();
  CHECK(site.ask().out == expected_answer());
}

TEST_CASE("status reports an interrupted index run, which the next run continues") {
  Machine machine;
  FakeOptions options;
  options.max_batch = 8;
  FakeUpstream server(options);
  machine.environment()["STOKA_EMBED_URL"] = server.url();
  for (int i = 0; i < 300; ++i)
    machine.write("content/page-" + std::to_string(i) + ".md",
                  "# Page " + std::to_string(i) + "\n\nWords of page " + std::to_string(i) + ".\n");
  for (int i = 0; i < 35; ++i) server.queue_behaviour(R"({"path":"/embed"})");
  server.queue_behaviour(R"({"path":"/embed","times":0,"fault":"close"})");
  ProcessResult index = machine.stoka({"index", "content"});
  CHECK(index.code == 4);
  CHECK(has(index.err, "what was written stays"));
  ProcessResult status = machine.stoka({"status"});
  CHECK(status.code != 0);
  server.reset();
  status = machine.stoka({"status"});
  CHECK(status.code == 3);
  CHECK(has(status.err, "was interrupted"));
  CHECK(machine.stoka({"index", "content"}).code == 0);
  CHECK(machine.stoka({"status"}).code == 0);
}

TEST_CASE("index respects the server's batch size and keeps the index if the server is down") {
  Machine machine;
  FakeOptions options;
  options.max_batch = 8;
  FakeUpstream server(options);
  machine.environment()["STOKA_EMBED_URL"] = server.url();
  machine.index_sample();
  size_t batches = 0;
  for (const auto& request : server.requests()) {
    if (request.path != "/embed") continue;
    ++batches;
    Json inputs = Json::parse(request.body)["inputs"];
    CHECK((inputs.is_string() || inputs.size() <= 8));
  }
  CHECK(batches > 20);

  machine.environment()["STOKA_EMBED_URL"] = "http://127.0.0.1:9";
  ProcessResult ran = machine.stoka({"index", STOKA_SOURCE_DIR "/evals/site"});
  CHECK(ran.code == 4);
  machine.environment()["STOKA_EMBED_URL"] = server.url();
  CHECK(machine.stoka({"chat", kQuestion}).code == 0);
}

TEST_CASE("an API key is sent and never shown") {
  constexpr const char* kKey = "canary-key-5f2c";
  FakeOptions options;
  options.key = kKey;
  FakeUpstream locked(options);
  Machine machine;
  machine.index_sample();
  auto& env = machine.environment();
  env["STOKA_GEN_URL"] = locked.url();
  ProcessResult refused = machine.stoka({"chat", kQuestion});
  CHECK(refused.code == 3);
  CHECK(has(refused.err, "STOKA_GEN_API_KEY_FILE"));

  auto answers = [&] {
    ProcessResult ran =
        machine.stoka({"chat", "-v", "--trace", "--record", "talk.jsonl", kQuestion});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    ProcessResult recorded = machine.stoka({"status", "-v"});
    for (const std::string& text : {ran.out, ran.err, recorded.out, recorded.err})
      CHECK_FALSE(has(text, kKey));
  };
  machine.write("key", std::string(kKey) + "\n");
  env["STOKA_GEN_API_KEY_FILE"] = (machine.home() / "key").string();
  answers();
  ProcessResult grep = machine.stoka({"rerank", "--texts", "talk.jsonl", "key"});
  CHECK_FALSE(has(grep.out, kKey));
  env.erase("STOKA_GEN_API_KEY_FILE");
  env["STOKA_GEN_API_KEY_COMMAND"] = "echo " + std::string(kKey);
  ProcessResult by_command = machine.stoka({"chat", kQuestion});
  CHECK(by_command.code == 0);
  env.erase("STOKA_GEN_API_KEY_COMMAND");
  env["STOKA_GEN_API_KEY"] = kKey;
  answers();

  env["STOKA_GEN_API_KEY_FILE"] = (machine.home() / "key").string();
  CHECK(machine.stoka({"chat", kQuestion}).code == 3);  // two keys are set
  env.erase("STOKA_GEN_API_KEY_FILE");
  env["STOKA_GEN_API_KEY"] = "canary-key-wrong";
  ProcessResult wrong = machine.stoka({"chat", kQuestion});
  CHECK(wrong.code == 3);
  CHECK_FALSE(has(wrong.err, "canary-key-wrong"));
}

TEST_CASE("a key of the config file is not sent to an address of the environment") {
  FakeUpstream elsewhere;
  Machine machine;
  machine.index_sample();
  machine.write(".config/stoka/config.toml",
                "[generator]\nurl = \"https://models.example\"\napi_key = \"canary-key-5f2c\"\n");
  machine.environment()["STOKA_GEN_URL"] = elsewhere.url();
  ProcessResult ran = machine.stoka({"chat", kQuestion});
  CHECK(ran.code == 0);
  CHECK(has(ran.err, "generator.api_key"));
  for (const auto& request : elsewhere.requests()) CHECK(request.authorization == "");
}

TEST_CASE("discover gets all framing lines with one request") {
  for (const char* dialect : {"vllm", "ollama"}) {
    CAPTURE(std::string(dialect));
    ModelSite site(dialect);
    site.generator.queue_behaviour(
        R"({"path":"chat/completions","answer":"1. read it.\n2. or not.\n3. your evening."})");
    ProcessResult ran =
        site.machine.stoka({"discover", "--json", "--page", "/blog/philosophy-bounded-execution"});
    REQUIRE(ran.code == 0);
    const Json body = Json::parse(ran.out);
    for (const Json& item : body["recommendations"]) CHECK(item["framing"].is_string());
  }
  ModelSite site;
  site.machine.environment()["STOKA_GEN_URL"] = "http://127.0.0.1:9";
  ProcessResult ran =
      site.machine.stoka({"discover", "--json", "--page", "/blog/philosophy-bounded-execution"});
  CHECK(ran.code == 0);
  Json body = Json::parse(ran.out);
  CHECK(body["recommendations"].size() == 3);
  for (const Json& item : body["recommendations"]) CHECK(item["framing"].is_null());
}

TEST_CASE("an unknown variable that begins with STOKA_ gives a warning with a suggestion") {
  Machine machine;
  machine.environment()["STOKA_GEN_ULR"] = "x";
  ProcessResult ran = machine.stoka({"route", "hi"});
  CHECK(has(ran.err, "STOKA_GEN_ULR is not a setting"));
  CHECK(has(ran.err, "STOKA_GEN_URL"));
}

TEST_CASE("without a reranker the built-in scorer decides the confidence") {
  for (const char* way : {"none", "dead"}) {
    CAPTURE(std::string(way));
    ModelSite site;
    auto& env = site.machine.environment();
    env["STOKA_RERANK_URL"] = "http://127.0.0.1:9";
    if (way == std::string("none")) env["STOKA_RERANKER"] = "none";
    ProcessResult ran = site.ask();
    CHECK(ran.code == 0);
    CHECK(has(ran.out, "> "));
    CHECK(has(site.machine.stoka({"chat", "quantum gravity research"}).out,
              "nothing here on that. yet."));
  }
}

TEST_CASE("commands that use no model work while the servers are down") {
  Machine machine;
  machine.index_sample();
  for (const char* name : {"STOKA_RERANK_URL", "STOKA_GEN_URL"})
    machine.environment()[name] = "http://127.0.0.1:9";
  CHECK(machine.stoka({"chat", "what is this?"}).code == 0);
  CHECK(machine.stoka({"route", "hi"}).code == 0);
  machine.environment()["STOKA_EMBED_URL"] = "http://127.0.0.1:9";
  CHECK(machine.stoka({"chat", "best javascript framework?"}).code == 0);
  CHECK(machine.stoka({"context", "--page", "/"}).code == 0);
}

TEST_CASE("invalid server settings give a one-line error") {
  struct Case {
    const char* name;
    const char* value;
    int code;
  };
  for (const Case& item : std::vector<Case>{{"STOKA_GEN_URL", "ftp://x", 3},
                                            {"STOKA_GEN_URL", "http://me:secret@host", 3},
                                            {"STOKA_GENERATOR", "gpt", 3},
                                            {"STOKA_GEN_EXTRA", "[1]", 3},
                                            {"STOKA_GEN_TIMEOUT", "soon", 3},
                                            {"STOKA_EMBED_DOCUMENT_TEMPLATE", "passage", 3},
                                            {"STOKA_GEN_API_KEY_FILE", "/nonexistent", 3},
                                            {"STOKA_GEN_API_KEY_FILE", "sk-secret-itself", 3}}) {
    CAPTURE(std::string(item.name));
    Machine machine;
    machine.index_sample();
    machine.environment()["STOKA_GENERATOR"] = "openai";
    machine.environment()[item.name] = item.value;
    ProcessResult ran = machine.stoka({"chat", kQuestion});
    CHECK(ran.code == item.code);
    CHECK(ran.out == "");
    CHECK(lines(ran.err) == 1);
    CHECK_FALSE(has(ran.err, "secret"));
  }
}

TEST_CASE("hints name the settings of a server with their variables") {
  Machine machine;
  machine.index_sample();
  machine.environment()["STOKA_GENERATOR"] = "openai";
  machine.environment()["STOKA_GEN_URL"] = "http://127.0.0.1:1";
  CHECK(has(machine.stoka({"chat", kQuestion}).err,
            "start it, or set generator.url (STOKA_GEN_URL)"));
  machine.environment()["STOKA_GEN_EXTRA"] = "[1]";
  CHECK(has(machine.stoka({"chat", kQuestion}).err, "generator.extra is not a JSON object"));
  FakeUpstream other;
  machine.environment()["STOKA_EMBED_URL"] = other.url();
  machine.environment().erase("STOKA_GEN_EXTRA");
  other.queue_behaviour(R"({"path":"/info","times":0,"status":404})");
  CHECK(has(machine.stoka({"status"}).out, "set embedder.kind = openai (STOKA_EMBEDDER)"));
}

}  // namespace models_test
