#include "client/event_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <vector>

#include "serve/event_stream.h"

namespace event_reader_test {

using namespace stoka;
using client::EventReader;

namespace {

// A text of all fields of the event, for comparison.
std::string shown(const Event& event) {
  return std::string(to_string(event)) + " " + data_json(event);
}

std::vector<std::string> shown(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) out.push_back(shown(event));
  return out;
}

struct ReadOutcome {
  std::vector<std::string> events;
  Result<> pushed;  // of the bytes
  Result<> ended;   // of the stream
};

ReadOutcome read(std::string_view bytes, size_t split) {
  ReadOutcome out;
  EventReader reader([&](const Event& event) { out.events.push_back(shown(event)); });
  out.pushed = reader.push(bytes.substr(0, split));
  if (out.pushed) out.pushed = reader.push(bytes.substr(split));
  out.ended = reader.end();
  return out;
}

ReadOutcome read(std::string_view bytes) { return read(bytes, 0); }

std::string wire(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) serve::append_event(out, event);
  return out;
}

// Random text with line ends, quotes and characters of several bytes.
std::string text(std::mt19937& random) {
  static const std::vector<std::string> pieces = {"a",
                                                  "word ",
                                                  "\n",
                                                  "\r\n",
                                                  "\"",
                                                  "\\",
                                                  ":",
                                                  "data: x",
                                                  "\xEF\xBB\xBF",
                                                  "é",
                                                  "日",
                                                  "🜂",
                                                  std::string(1, '\0'),
                                                  "\u2028",
                                                  "</cite>",
                                                  "\n\n",
                                                  "event: done\n",
                                                  "{}",
                                                  " ",
                                                  "\x1b[2J"};
  std::string out;
  for (size_t n = random() % 6; n > 0; --n) out += pieces[random() % pieces.size()];
  return out;
}

Event event(std::mt19937& random) {
  if (random() % 3 != 0) return TokenEvent{text(random)};
  const double score = static_cast<double>(random() % 10001) / 1e4;
  return CiteEvent{
      {text(random), text(random), text(random), text(random), text(random), text(random),
       text(random), score, static_cast<CiteKind>(random() % 2),
       random() % 2 == 0 ? std::optional<Date>() : Date(std::chrono::days(random() % 50000))}};
}

std::vector<Event> stream(std::mt19937& random) {
  std::vector<Event> out = {
      ReadyEvent{text(random), text(random), static_cast<Route>(random() % 5)}};
  for (size_t n = random() % 5; n > 0; --n) out.push_back(event(random));
  if (random() % 2 == 0)
    out.push_back(DoneEvent{static_cast<int>(random() >> 1), static_cast<Confidence>(random() % 3),
                            static_cast<int64_t>(random()) << 20});
  else
    out.push_back(ErrorEvent{text(random), random() % 2 == 0});
  return out;
}

const std::string kReady = R"(event: ready)"
                           "\n"
                           R"(data: {"session_id":"s","visitor_id":"v","route":"new"})"
                           "\n\n";
const std::string kDone = R"(event: done)"
                          "\n"
                          R"(data: {"turns":1,"confidence":"direct","latency_ms":3})"
                          "\n\n";

}  // namespace

TEST_CASE("an encoded stream is read back, split at every byte") {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    const std::vector<Event> events = stream(random);
    const std::string bytes = wire(events);
    for (size_t split = 0; split <= bytes.size(); ++split) {
      const ReadOutcome outcome = read(bytes, split);
      REQUIRE(outcome.events == shown(events));
      REQUIRE(outcome.pushed);
      REQUIRE(outcome.ended);
    }
  }
}

TEST_CASE("a stream is read byte by byte") {
  std::mt19937 random(6);
  const std::vector<Event> events = stream(random);
  std::vector<std::string> outcome;
  EventReader reader([&](const Event& event) { outcome.push_back(shown(event)); });
  for (const char byte : wire(events)) REQUIRE(reader.push({&byte, 1}));
  CHECK(outcome == shown(events));
  CHECK(reader.over());
}

TEST_CASE("comments, unknown events and unknown fields are ignored") {
  const ReadOutcome outcome =
      read(":\n\n" + std::string("event: weather\ndata: rain\n\n") + "data: no name\n\n" +
           "event: ready\ndata: {\"session_id\":\"s\",\"mood\":[1,{}],\"visitor_id\":\"v\",\n"
           "data: \"route\":\"new\"}\n\n: ping\n\n" +
           kDone + ":\n\nevent: weather\ndata: sun\n\n");
  CHECK(outcome.pushed);
  CHECK(outcome.ended);
  CHECK(outcome.events.size() == 2);
}

TEST_CASE("events in the wrong order give a protocol error") {
  const std::string token = "event: token\ndata: {\"text\":\"a\"}\n\n";
  const std::string error = "event: error\ndata: {\"message\":\"m\",\"retryable\":true}\n\n";
  struct Case {
    std::string bytes;
    size_t events;  // that were good
  };
  for (const Case& c :
       {Case{token, 0}, Case{kDone, 0}, Case{error, 0}, Case{kReady + kReady, 1},
        Case{kReady + kDone + kDone, 2}, Case{kReady + kDone + token, 2},
        Case{kReady + error + kReady, 2}, Case{kReady + token + error + error, 3}}) {
    CAPTURE(c.bytes);
    const ReadOutcome outcome = read(c.bytes);
    REQUIRE(!outcome.pushed);
    CHECK(outcome.pushed.error().kind == ErrorKind::protocol);
    CHECK(outcome.events.size() == c.events);
  }
}

TEST_CASE("a stream without a done event or an error event counts as incomplete") {
  for (const std::string& bytes :
       {std::string(), kReady, kReady + kDone.substr(0, kDone.size() - 1), std::string(":\n\n")}) {
    CAPTURE(bytes);
    const ReadOutcome outcome = read(bytes);
    CHECK(outcome.pushed);
    REQUIRE(!outcome.ended);
    CHECK(outcome.ended.error().kind == ErrorKind::protocol);
  }
}

TEST_CASE("malformed data gives a protocol error that names the field") {
  struct Case {
    const char* name;
    std::string data;
    const char* about;
  };
  const std::string deep = "{\"text\":" + std::string(100000, '[');
  for (const Case& c :
       {Case{"token", "", "not a JSON object"},
        Case{"token", "text", "not a JSON object"},
        Case{"token", "[]", "not a JSON object"},
        Case{"token", "{\"text\":\"a\"", "not a JSON object"},
        Case{"token", "{}", "'text'"},
        Case{"token", "{\"text\":null}", "'text'"},
        Case{"token", "{\"text\":5}", "'text'"},
        Case{"token", deep, "nest"},
        Case{"ready", R"({"session_id":"s","visitor_id":"v"})", "'route'"},
        Case{"ready", R"({"session_id":"s","visitor_id":"v","route":"x"})", "'route'"},
        Case{"ready", R"({"session_id":1,"visitor_id":"v","route":"new"})", "'session_id'"},
        Case{"cite", R"({"slug":"s"})", "'title'"},
        Case{"cite",
             R"({"slug":"s","title":"","quote":"","type":"","reading_time":"","date":"","score":0,)"
             R"("url":5})",
             "'url'"},
        Case{"done", R"({"turns":-1,"confidence":"direct","latency_ms":1})", "'turns'"},
        Case{"done", R"({"turns":1.5,"confidence":"direct","latency_ms":1})", "'turns'"},
        Case{"done", R"({"turns":9999999999,"confidence":"direct","latency_ms":1})", "'turns'"},
        Case{"done", R"({"turns":1,"confidence":"direct","latency_ms":18446744073709551615})",
             "'latency_ms'"},
        Case{"done", R"({"turns":1,"confidence":"sure","latency_ms":1})", "'confidence'"},
        Case{"error", R"({"message":"m","retryable":"yes"})", "'retryable'"},
        Case{"weather", "{}", "unknown"}}) {
    CAPTURE(c.data.substr(0, 100));
    const auto event = client::read_event(c.name, c.data);
    REQUIRE(!event);
    CHECK(event.error().kind == ErrorKind::protocol);
    CHECK_MESSAGE(event.error().message.find(c.about) != std::string::npos, event.error().message);
  }
}

TEST_CASE("a citation without URL is read, and an unknown kind is read as block") {
  const std::string old =
      R"({"slug":"s","title":"","quote":"","type":"","reading_time":"","date":"","score":0)";
  for (const char* more : {"}", R"(,"kind":"poster","url":null,"published":"soon"})"}) {
    const auto event = client::read_event("cite", old + more);
    REQUIRE_MESSAGE(event, event.error().message);
    const Citation& citation = std::get<CiteEvent>(*event).citation;
    CHECK(citation.url.empty());
    CHECK(citation.kind == CiteKind::block);
    CHECK(!citation.published);
  }
}

TEST_CASE("an event that is too long gives an error") {
  EventReader reader([](const Event&) {});
  Result<> pushed = reader.push("data: ");
  const std::string more(64u << 10, 'a');
  for (int i = 0; i < 8 && pushed; ++i) pushed = reader.push(more);
  CHECK(!pushed);
}

}  // namespace event_reader_test
