#include <doctest/doctest.h>

#include "net/recording_fixture.h"

namespace recording_lines_test {

using namespace stoka;
using namespace stoka::net;
using namespace stoka::testing::recording;
using stoka::testing::TempFolder;

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

TEST_CASE("an older recording, which has no locations, can be read") {
  RecordingFixture fixture;
  fixture.folder.write("tape.jsonl", kLine + "\n");
  RecordingSink sink;
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

}  // namespace recording_lines_test
