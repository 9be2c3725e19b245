#include "net/recording.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.h"

namespace recording_test {

namespace {

using namespace stoka;
using namespace stoka::net;
using stoka::testing::TempFolder;

struct LineLog final : Log {
  std::vector<std::string> lines;
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
};

struct ScriptedResponse {
  std::optional<ResponseHead> head;
  std::vector<std::string> pieces;
  std::optional<TransferFailure> failure;
};

// A transport with a list of prepared responses.
class ScriptedTransport final : public SynchronousTransport {
 public:
  std::deque<ScriptedResponse> responses;

  std::optional<TransferFailure> perform(const HttpRequest&, BodySink& sink,
                                         std::stop_token) override {
    const ScriptedResponse now = responses.front();
    responses.pop_front();
    if (now.head) {
      if (auto accepted = sink.head(*now.head); !accepted)
        return TransferFailure{accepted.error(), true, true};
      for (const std::string& piece : now.pieces) {
        const Result<BodyProgress> accepted = sink.body(piece);
        if (!accepted) return TransferFailure{accepted.error(), true, true};
        if (*accepted == BodyProgress::stop_reading) return std::nullopt;
      }
    }
    return now.failure;
  }
};

class CapturingSink final : public BodySink {
 public:
  std::optional<ResponseHead> response_head;
  std::vector<std::string> pieces;
  size_t enough_after = SIZE_MAX, error_after = SIZE_MAX;
  std::stop_source* stop_after_first = nullptr;

  Result<> head(const ResponseHead& head) override {
    response_head = head;
    if (error_after == 0) return fail(ErrorKind::protocol, "this is not it");
    return {};
  }
  Result<BodyProgress> body(std::string_view bytes) override {
    pieces.emplace_back(bytes);
    if (stop_after_first != nullptr) stop_after_first->request_stop();
    if (pieces.size() >= error_after) return fail(ErrorKind::protocol, "this is not it");
    return pieces.size() >= enough_after ? BodyProgress::stop_reading : BodyProgress::content;
  }
  std::string body_text() const {
    std::string out;
    for (const std::string& piece : pieces) out += piece;
    return out;
  }
};

ResponseHead head(int status, std::string type = "application/json") {
  ResponseHead out;
  out.status = status;
  out.content_type = std::move(type);
  return out;
}

ScriptedResponse answer(std::vector<std::string> pieces) {
  return {head(200), std::move(pieces), {}};
}

HttpRequest request(std::string role, std::string name, std::string body,
                    std::string subject = "") {
  HttpRequest out;
  out.role = std::move(role);
  out.endpoint = std::move(name);
  out.body = std::move(body);
  out.subject = std::move(subject);
  out.url = "http://secret-host:8000/v1/" + out.endpoint;
  return out;
}

struct RecordingFixture {
  TempFolder folder;
  std::filesystem::path file = folder / "tape.jsonl";

  // Records the prepared response to each request.
  void record(const std::vector<std::pair<HttpRequest, ScriptedResponse>>& exchanges) const {
    ScriptedTransport transport;
    auto recorder = RecordingTransport::create(file, transport);
    REQUIRE(recorder.has_value());
    for (const auto& [request, response] : exchanges) {
      transport.responses.push_back(response);
      CapturingSink sink;
      const auto failure = (*recorder)->perform(request, sink, {});
      CHECK(failure.has_value() == response.failure.has_value());
      CHECK(sink.pieces == response.pieces);
    }
  }
  std::unique_ptr<ReplayTransport> replay() const {
    NullLog log;
    auto opened = ReplayTransport::open(file, log);
    REQUIRE(opened.has_value());
    return *std::move(opened);
  }
  std::string text() const {
    std::stringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }
};

std::string replayed(ReplayTransport& replay, const HttpRequest& sent) {
  CapturingSink sink;
  const auto failure = replay.perform(sent, sink, {});
  return failure ? "failure: " + failure->error.message : sink.body_text();
}

const std::string kLine =
    R"({"role":"embedder","name":"embed","subject":"","request":{},"status":200,)"
    R"("content_type":"application/json","body":"ab","pieces":[1,1]})";

}  // namespace

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
    CapturingSink sink;
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
  CapturingSink sink;
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

TEST_CASE("a line is written as soon as its transfer is over") {
  RecordingFixture fixture;
  ScriptedTransport transport;
  auto recorder = RecordingTransport::create(fixture.file, transport);
  REQUIRE(recorder.has_value());
  for (int i = 1; i <= 2; ++i) {
    transport.responses.push_back(answer({"[1]"}));
    CapturingSink sink;
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
  CapturingSink stopped, satisfied;
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
  CapturingSink sink;
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
  CapturingSink sink;
  const auto failure = replay->perform(request("embedder", "embed", "{}"), sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::data);
  CHECK(failure->error.hint ==
        "the recording contains other questions, or the content or the settings have "
        "changed since: record it again");
  CHECK_FALSE(sink.response_head.has_value());
}

TEST_CASE("a replay obeys its sink and a stop request") {
  RecordingFixture fixture;
  const HttpRequest sent = request("generator", "chat/completions", "{}", "q");
  fixture.record({{sent, answer({"one", "two", "three"})}});
  const auto replay = fixture.replay();
  {
    CapturingSink sink;
    sink.enough_after = 2;
    CHECK_FALSE(replay->perform(sent, sink, {}).has_value());
    CHECK(sink.body_text() == "onetwo");
  }
  for (const size_t after : {size_t{0}, size_t{2}}) {
    CAPTURE(after);
    CapturingSink sink;
    sink.error_after = after;
    const auto failure = replay->perform(sent, sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.message == "this is not it");
    CHECK(sink.pieces.size() == after);
  }
  std::stop_source stop;
  CapturingSink interrupted;
  interrupted.stop_after_first = &stop;
  const auto amid = replay->perform(sent, interrupted, stop.get_token());
  REQUIRE(amid.has_value());
  CHECK(amid->error.kind == ErrorKind::cancelled);
  CHECK(interrupted.body_text() == "one");
  CapturingSink never;
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
          CapturingSink sink;
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

TEST_CASE("a last line that was cut off is ignored with a warning") {
  RecordingFixture fixture;
  const HttpRequest sent = request("embedder", "embed", "{}");
  for (size_t length = 1; length < kLine.size(); ++length) {
    CAPTURE(length);
    fixture.folder.write("tape.jsonl", kLine + "\n" + kLine.substr(0, length));
    LineLog log;
    const auto replay = ReplayTransport::open(fixture.file, log);
    REQUIRE(replay.has_value());
    CHECK(replayed(**replay, sent) == "ab");
    CHECK(log.lines == std::vector<std::string>{fixture.file.string() +
                                                ":2 was cut off; this response is missing from "
                                                "the replay"});
  }
}

TEST_CASE("a recording from before the location was recorded is still read") {
  RecordingFixture fixture;
  fixture.folder.write("tape.jsonl", kLine + "\n");
  CapturingSink sink;
  CHECK_FALSE(fixture.replay()->perform(request("embedder", "embed", "{}"), sink, {}).has_value());
  REQUIRE(sink.response_head.has_value());
  CHECK(sink.response_head->location.empty());
  CHECK_FALSE(sink.response_head->rate_limit_remaining.has_value());
}

TEST_CASE("an invalid line is reported with its number") {
  LineLog log;
  const std::string good = kLine;
  struct Row {
    std::string_view name;
    std::string line;
    std::string what;
  };
  std::vector<Row> rows = {
      {"cut", good.substr(0, 60), "it is not a JSON object"},
      {"no object", "[]", "it is not a JSON object"},
      {"no role", R"({"name":"embed"})", "\"role\" is missing or invalid"},
      {"no request", R"({"role":"a","name":"b","subject":""})",
       "\"request\" is missing or invalid"},
      {"neither answer nor failure", R"({"role":"a","name":"b","subject":"","request":{}})",
       "\"status\" is missing or invalid"},
      {"pieces beyond the body",
       R"({"role":"a","name":"b","subject":"","request":{},"status":200,"content_type":"","body":"ab","pieces":[1,2]})",
       "\"pieces\" is missing or invalid"},
      {"pieces short of the body",
       R"({"role":"a","name":"b","subject":"","request":{},"status":200,"content_type":"","body":"ab","pieces":[]})",
       "\"pieces\" is missing or invalid"},
      {"no base64",
       R"({"role":"a","name":"b","subject":"","request":{},"status":200,"content_type":"","body_base64":"a-==","pieces":[]})",
       "\"body_base64\" is missing or invalid"},
      {"an unknown kind",
       R"({"role":"a","name":"b","subject":"","request":{},"failure":{"kind":"sad","message":"","hint":"","connected":true,"answered":true}})",
       "\"kind\" is missing or invalid"},
      {"an unknown cause",
       R"({"role":"a","name":"b","subject":"","request":{},"failure":{"kind":"timeout","message":"","hint":"","connected":true,"answered":true,"cause":"moon"}})",
       "\"cause\" is missing or invalid"},
      {"nested too deeply", std::string(1000, '['), "the JSON is nested deeper than 64 levels"},
  };
  const std::string_view wrong_numbers[] = {R"("status":99)",   R"("status":600)",
                                            R"("status":-200)", R"("status":4294967496)",
                                            R"("status":2e2)",  R"("status":true)"};
  const auto with = [&](std::string_view numbers) {
    std::string line = good;
    return line.replace(line.find(R"("status":200)"), 12, numbers);
  };
  for (const std::string_view wrong : wrong_numbers)
    rows.push_back({wrong, with(wrong), "\"status\" is missing or invalid"});
  for (const std::string_view wrong :
       {R"("status":503,"retry_after":86401)", R"("status":503,"retry_after":-1)"})
    rows.push_back({wrong, with(wrong), "\"retry_after\" is missing or invalid"});
  rows.push_back({"a number as location", with(R"("status":302,"location":1)"),
                  "\"location\" is missing or invalid"});
  rows.push_back({"a negative rest", with(R"("status":200,"rate_limit_remaining":-1)"),
                  "\"rate_limit_remaining\" is missing or invalid"});
  for (const Row& row : rows) {
    CAPTURE(row.name);
    TempFolder folder;
    const auto file = folder.write("tape.jsonl", good + "\n\n" + row.line + "\n");
    const auto opened = ReplayTransport::open(file, log);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().kind == ErrorKind::data);
    CHECK(opened.error().message == file.string() + ":3 is not a recorded transfer: " + row.what);
  }
  TempFolder folder;
  CHECK(ReplayTransport::open(folder.write("tape.jsonl", good), log).has_value());
  CHECK_FALSE(ReplayTransport::open(folder.write("tape.jsonl", "notes"), log).has_value());
  CHECK_FALSE(ReplayTransport::open(folder / "nothing", log).has_value());
  CHECK(log.lines.empty());
  ScriptedTransport transport;
  CHECK_FALSE(RecordingTransport::create(folder / "no/such/folder", transport).has_value());
  CHECK_FALSE(RecordingTransport::create(folder / ".", transport).has_value());
  CHECK(RecordingTransport::create("/dev/null", transport).has_value());
}

}  // namespace recording_test
