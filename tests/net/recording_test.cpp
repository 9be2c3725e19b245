#include "net/recording.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "net/recording_fixture.h"

namespace recording_test {

using namespace stoka;
using namespace stoka::net;
using stoka::testing::TempFolder;
using namespace stoka::testing::recording;

TEST_CASE("a replayed response is equal to the recorded one, in the same pieces") {
  const std::string bytes("\x1f\x8b\x00\xff\xfe", 5);
  ScriptedResponse retry{head(429), {}, {}};
  retry.head->retry_after = std::chrono::seconds(7);
  retry.head->rate_limit_remaining = 0;
  ScriptedResponse redirect{head(302), {}, {}};
  redirect.head->location = "http://elsewhere:8000";
  const std::vector<ScriptedResponse> responses = {
      answer({"data: {\"a\"", ":\"na\xc3", "\xafve\"}\n\n", "data: [DONE]\n\n"}),
      answer({bytes, "x"}),
      answer({"a", bytes.substr(0, 4), "bc"}),
      answer({}),
      answer({"", "with an empty piece", ""}),
      retry,
      redirect,
      {head(200, "text/event-stream"),
       {"half"},
       TransferFailure{
           {ErrorKind::unavailable, "the connection broke off", "try again"}, true, true}},
      {{}, {}, TransferFailure{{ErrorKind::unavailable, "connection refused", ""}, false, false}},
      {{},
       {},
       TransferFailure{{ErrorKind::timeout, "no answer", ""}, true, false, FailureCause::headers}},
      {{},
       {},
       TransferFailure{
           {ErrorKind::unavailable, "no host", ""}, false, false, FailureCause::no_host}},
  };
  RecordingFixture fixture;
  std::vector<std::pair<HttpRequest, ScriptedResponse>> exchanges;
  for (size_t i = 0; i < responses.size(); ++i)
    exchanges.emplace_back(request("embedder", "embed", "{\"n\":" + std::to_string(i) + "}"),
                           responses[i]);
  fixture.record(exchanges);
  const auto replay = fixture.replay();
  for (const auto& [sent, wanted] : exchanges) {
    CAPTURE(sent.body);
    RecordingSink sink;
    const auto failure = replay->perform(sent, sink, {});
    REQUIRE(sink.response_head.has_value() == wanted.head.has_value());
    if (wanted.head) {
      CHECK(sink.response_head->status == wanted.head->status);
      CHECK(sink.response_head->content_type == wanted.head->content_type);
      CHECK(sink.response_head->retry_after == wanted.head->retry_after);
      CHECK(sink.response_head->location == wanted.head->location);
      CHECK(sink.response_head->rate_limit_remaining == wanted.head->rate_limit_remaining);
    }
    CHECK(sink.pieces == wanted.pieces);
    REQUIRE(failure.has_value() == wanted.failure.has_value());
    if (!failure) continue;
    CHECK(failure->error.kind == wanted.failure->error.kind);
    CHECK(failure->error.message == wanted.failure->error.message);
    CHECK(failure->error.hint == wanted.failure->error.hint);
    CHECK(failure->connected == wanted.failure->connected);
    CHECK(failure->answered == wanted.failure->answered);
    CHECK(failure->cause == wanted.failure->cause);
  }
}

TEST_CASE("a recording is private and contains neither the key nor the address") {
  const std::string key = "sk-canary-4711";
  RecordingFixture fixture;
  fixture.folder.write("tape.jsonl", kLine + "\nwhat was there before\n");
  std::filesystem::permissions(fixture.file, std::filesystem::perms(0644));
  HttpRequest sent = request("generator", "chat/completions", R"({"user":"sk-canary-4711"})",
                             "why sk-canary-4711");
  sent.key = Secret(key);
  ScriptedResponse refused{
      head(401),
      {"{\"error\":\"Incorrect API key: sk-can", "ary-4711, twice sk-canary-4711\"}"},
      TransferFailure{{ErrorKind::config, "the key " + key, "not " + key}, true, true}};
  refused.head->content_type = "application/" + key;
  refused.head->location = "http://" + key;
  ScriptedResponse binary = answer({"\xff sk-canary-4711"});
  fixture.record({{sent, refused}, {sent, binary}});

  struct stat info;
  REQUIRE(::stat(fixture.file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const std::string text = fixture.text();
  CHECK(text.find("canary") == std::string::npos);
  CHECK(text.find("c2stY2FuYXJ5") == std::string::npos);  // "sk-canary" in base64
  CHECK(text.find("secret-host") == std::string::npos);
  CHECK(text.find("before") == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);

  const auto replay = fixture.replay();
  RecordingSink sink;
  const auto failure = replay->perform(sent, sink, {});
  REQUIRE(failure.has_value());
  CHECK(sink.body_text() == R"({"error":"Incorrect API key: ***, twice ***"})");
  CHECK(failure->error.message == "the key ***");
}

TEST_CASE("a key is not recorded in its JSON-escaped form either") {
  RecordingFixture fixture;
  HttpRequest sent = request("embedder", "embed", R"({"user":"sk/a+b\"canary"})");
  sent.key = Secret("sk/a+b\"canary");
  const ScriptedResponse refused{head(401), {R"({"error":"no sk\/a\u002Bb\)", R"("canary"})"}, {}};
  fixture.record({{sent, refused}});
  CHECK(fixture.text().find("canary") == std::string::npos);
  CHECK(replayed(*fixture.replay(), sent) == R"({"error":"no ***"})");
}

TEST_CASE("a line of a recording is written as soon as its transfer is over") {
  RecordingFixture fixture;
  ScriptedTransport transport;
  auto recorder = RecordingTransport::create(fixture.file, transport);
  REQUIRE(recorder.has_value());
  for (int i = 1; i <= 2; ++i) {
    transport.responses.push_back(answer({"[1]"}));
    RecordingSink sink;
    CHECK_FALSE((*recorder)->perform(request("embedder", "embed", R"({"b":1,"a":[2]})"), sink, {}));
    const std::string text = fixture.text();
    CHECK(std::count(text.begin(), text.end(), '\n') == i);
    CHECK(text.find(R"("request":{"a":[2],"b":1})") != std::string::npos);
  }
}

TEST_CASE("a cancelled transfer is not recorded, and one that ended with `stop_reading` is") {
  RecordingFixture fixture;
  ScriptedTransport transport;
  auto recorder = RecordingTransport::create(fixture.file, transport);
  REQUIRE(recorder.has_value());
  transport.responses.push_back(
      {head(200), {"half"}, TransferFailure{{ErrorKind::cancelled, "stopped", ""}, true, true}});
  transport.responses.push_back(answer({"one", "two", "three"}));
  RecordingSink stopped, satisfied;
  CHECK((*recorder)->perform(request("embedder", "embed", "{}"), stopped, {}).has_value());
  satisfied.enough_after = 2;
  CHECK_FALSE((*recorder)->perform(request("embedder", "embed", "{}"), satisfied, {}).has_value());
  const auto replay = fixture.replay();
  CHECK(replayed(*replay, request("embedder", "embed", "{}")) == "onetwo");
}

TEST_CASE("nothing is written before the first transfer") {
  RecordingFixture fixture;
  ScriptedTransport transport;
  for (const std::string& before : {std::string(), kLine + "\n"}) {
    CAPTURE(before);
    if (!before.empty()) fixture.folder.write("tape.jsonl", before);
    auto recorder = RecordingTransport::create(fixture.file, transport);
    REQUIRE(recorder.has_value());
    CHECK(std::filesystem::exists(fixture.file) == !before.empty());
    CHECK(fixture.text() == before);
    recorder->reset();
    CHECK(fixture.text() == before);
  }
  fixture.folder.write("tape.jsonl", "");  // an empty file may be replaced
  fixture.record({{request("embedder", "embed", "{}"), answer({"a"})}});
  CHECK(replayed(*fixture.replay(), request("embedder", "embed", "{}")) == "a");
}

TEST_CASE("a file that is not a recording is never overwritten") {
  for (const std::string before : {"notes\n", "[api]\nkey = 1", "{}\n", "\n\n"}) {
    CAPTURE(before);
    RecordingFixture fixture;
    fixture.folder.write("tape.jsonl", before);
    ScriptedTransport transport;
    const auto recorder = RecordingTransport::create(fixture.file, transport);
    REQUIRE_FALSE(recorder.has_value());
    CHECK(recorder.error().kind == ErrorKind::data);
    CHECK(recorder.error().message == fixture.file.string() + " exists and is not a recording");
    CHECK(recorder.error().hint == "name another file");
    CHECK(fixture.text() == before);
  }
  // This also holds for a file that appears after the recorder was created.
  RecordingFixture fixture;
  ScriptedTransport transport;
  auto recorder = RecordingTransport::create(fixture.file, transport);
  REQUIRE(recorder.has_value());
  fixture.folder.write("tape.jsonl", "notes\n");
  transport.responses.push_back(answer({"a"}));
  RecordingSink sink;
  const auto failure = (*recorder)->perform(request("embedder", "embed", "{}"), sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::data);
  CHECK(fixture.text() == "notes\n");
}

TEST_CASE("a transfer is found by role, endpoint and request") {
  RecordingFixture fixture;
  fixture.record({
      {request("embedder", "embed", R"({"a":1,"b":2})"), answer({"one"})},
      {request("embedder", "embed", R"({"a":1,"b":2})"), answer({"two"})},
      {request("embedder", "embed", R"({"a":3})"), answer({"three"})},
      {request("embedder", "info", ""), answer({"info"})},
      {request("reranker", "embed", R"({"a":3})"), answer({"of another role"})},
      {request("generator", "chat/completions", R"({"p":1})", "why?"), answer({"because"})},
      {request("generator", "chat/completions", R"({"p":2})", "why?"), answer({"no reason"})},
      {request("generator", "chat/completions", R"({"p":3})", ""), answer({"no subject"})},
      {request("reranker", "rerank", R"({"p":1})", "why?"), answer({"ranks"})},
  });
  const auto replay = fixture.replay();
  struct Row {
    HttpRequest sent;
    std::string text;
  };
  const std::vector<Row> rows = {
      {request("embedder", "embed", R"({ "b": 2, "a": 1 })"), "one"},
      {request("embedder", "embed", R"({"a":1,"b":2})"), "two"},
      {request("embedder", "embed", R"({"a":1,"b":2})"), "two"},
      {request("embedder", "embed", R"({"a":3})"), "three"},
      {request("embedder", "info", ""), "info"},
      {request("reranker", "embed", R"({"a":3})"), "of another role"},
      {request("generator", "chat/completions", R"({"p":2})", "another"), "no reason"},
      {request("generator", "chat/completions", R"({"p":"new"})", "why?"), "because"},
      {request("generator", "chat/completions", R"({"p":"new"})", "why?"), "no reason"},
      {request("generator", "chat/completions", R"({"p":"new"})", ""),
       "failure: " + fixture.file.string() +
           " contains no response of the generator to this chat/completions request"},
      {request("generator", "completions", R"({"p":1})", "why?"),
       "failure: " + fixture.file.string() +
           " contains no response of the generator to this completions request (\"why?\")"},
      {request("reranker", "rerank", R"({"p":2})", "why?"),
       "failure: " + fixture.file.string() +
           " contains no response of the reranker to this rerank request (\"why?\")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.sent.body);
    CHECK(replayed(*replay, row.sent) == row.text);
  }
  RecordingSink sink;
  const auto failure = replay->perform(request("embedder", "embed", "{}"), sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::data);
  CHECK(failure->error.hint ==
        "the recording contains other questions, or the content or the settings have "
        "changed since: record it again");
  CHECK_FALSE(sink.response_head.has_value());
}

TEST_CASE("a replay ends when its sink or a stop request says so") {
  RecordingFixture fixture;
  const HttpRequest sent = request("generator", "chat/completions", "{}", "q");
  fixture.record({{sent, answer({"one", "two", "three"})}});
  const auto replay = fixture.replay();
  {
    RecordingSink sink;
    sink.enough_after = 2;
    CHECK_FALSE(replay->perform(sent, sink, {}).has_value());
    CHECK(sink.body_text() == "onetwo");
  }
  for (const size_t after : {size_t{0}, size_t{2}}) {
    CAPTURE(after);
    RecordingSink sink;
    sink.error_after = after;
    const auto failure = replay->perform(sent, sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.message == "this is not it");
    CHECK(sink.pieces.size() == after);
  }
  std::stop_source stop;
  RecordingSink interrupted;
  interrupted.stop_after_first = &stop;
  const auto amid = replay->perform(sent, interrupted, stop.get_token());
  REQUIRE(amid.has_value());
  CHECK(amid->error.kind == ErrorKind::cancelled);
  CHECK(interrupted.body_text() == "one");
  RecordingSink never;
  CHECK(replay->perform(sent, never, stop.get_token())->error.kind == ErrorKind::cancelled);
  CHECK_FALSE(never.response_head.has_value());
}

TEST_CASE("transfers of many threads are whole lines and can be replayed by many threads") {
  RecordingFixture fixture;
  class Echo final : public SynchronousTransport {
   public:
    std::optional<TransferFailure> perform(const HttpRequest& sent, BodySink& sink,
                                           std::stop_token) override {
      (void)sink.head(head(200));
      (void)sink.body(sent.body);
      return std::nullopt;
    }
  } echo;
  auto recorder = RecordingTransport::create(fixture.file, echo);
  REQUIRE(recorder.has_value());
  auto everybody = [](Transport& transport) {
    std::vector<std::jthread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&transport, &wrong, t] {
        for (int i = 0; i < 25; ++i) {
          const std::string body = "[" + std::to_string(t) + "," + std::to_string(i) + "]";
          RecordingSink sink;
          if (transport.perform(request("embedder", "embed", body), sink, {})) ++wrong;
          if (sink.body_text() != body) ++wrong;
        }
      });
    threads.clear();
    return wrong.load();
  };
  CHECK(everybody(**recorder) == 0);
  CHECK(everybody(*fixture.replay()) == 0);
}

}  // namespace recording_test
