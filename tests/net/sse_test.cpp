#include "net/sse.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sse_test {

namespace {

using stoka::net::SseDecoder;
using stoka::net::SseEvent;
using stoka::net::SseLimits;

// Events as "[type|data|id]", and the pending data at the end.
struct Outcome {
  std::string events;
  std::string pending;
  bool operator==(const Outcome&) const = default;
};

Outcome decode(const std::vector<std::string_view>& pieces) {
  Outcome out;
  SseDecoder decoder;
  for (const std::string_view piece : pieces) {
    const auto pushed = decoder.push(piece, [&](const SseEvent& event) {
      out.events += "[" + std::string(event.type) + "|" + std::string(event.data) + "|" +
                    std::string(event.id) + "]";
      return true;
    });
    REQUIRE(pushed.has_value());
  }
  out.pending = decoder.pending();
  return out;
}

struct Case {
  std::string_view name;
  std::string input;
  std::string events;
  std::string pending = {};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"nothing", "", ""},
      {"one event", "data: hello\n\n", "[message|hello|]"},
      {"invalid bytes become U+FFFD", "data: a\xff\xfe\xc3\xa9\xe2\x82z\n\n",
       "[message|a\uFFFD\uFFFDé\uFFFDz|]"},
      {"a cut character at a line's end", "data: \xe2\x82\ndata: b\n\n", "[message|\uFFFD\nb|]"},
      {"one byte order mark is stripped", "\xEF\xBB\xBF" + std::string("data: x\n\n"),
       "[message|x|]"},
      {"of two byte order marks the second is part of the name",
       "\xEF\xBB\xBF\xEF\xBB\xBF" + std::string("data: x\n\ndata: y\n\n"), "[message|y|]"},
      {"a later byte order mark is data", "data: x\n\ndata: \xEF\xBB\xBFy\n\n",
       "[message|x|][message|\xEF\xBB\xBFy|]"},
      {"a byte order mark after a line is none", "\n\xEF\xBB\xBF" + std::string("data: x\n\n"), ""},
      {"CR LF", "data: a\r\ndata: b\r\n\r\n", "[message|a\nb|]"},
      {"CR alone", "data: a\rdata: b\r\r", "[message|a\nb|]"},
      {"line ends mixed", "data: a\r\n\rdata: b\n\r\ndata: c\r\n\n",
       "[message|a|][message|b|][message|c|]"},
      {"CR CR LF is two line ends", "data: a\r\r\ndata: b\n\n", "[message|a|][message|b|]"},
      {"LF CR is two line ends", "data: a\n\rdata: b\n\n", "[message|a|][message|b|]"},
      {"what else looks like a line end is data", "data: a\u2028b\u0085c\vd\fe\n\n",
       "[message|a\u2028b\u0085c\vd\fe|]"},
      {"characters of several bytes", "data: é😀ü\n\n", "[message|é😀ü|]"},
      {"comments", ": OPENROUTER PROCESSING\n\n:\n\n:data: x\n\ndata: y\n:\ndata: z\n\n",
       "[message|y\nz|]"},
      {"a colon without a space", "data:x\n\n", "[message|x|]"},
      {"one space is removed", "data:  x \n\n", "[message| x |]"},
      {"a tab is not", "data:\tx\n\n", "[message|\tx|]"},
      {"the first colon counts", "data: {\"a\": 1}\n\n", "[message|{\"a\": 1}|]"},
      {"no colon", "data\n\ndata\ndata\n\ndata: a\ndata\n\n",
       "[message||][message|\n|][message|a\n|]"},
      {"an event's type", "event: error\ndata: x\n\ndata: y\n\n", "[error|x|][message|y|]"},
      {"the last type counts, an empty one is message",
       "event: a\nevent: b\ndata: x\n\nevent: a\nevent\ndata: y\n\n", "[b|x|][message|y|]"},
      {"several lines of data", "data: a\ndata:\ndata: b\n\n", "[message|a\n\nb|]"},
      {"an id persists", "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
       "[message|a|1][message|b|1][message|c|]"},
      {"an id with NUL is ignored", std::string("id: 1\nid: 2\0\ndata: a\n\n", 22),
       "[message|a|1]"},
      {"NUL in data stays", std::string("data: a\0b\n\n", 11), std::string("[message|a\0b|]", 14)},
      {"retry says nothing here", "retry: 3000\ndata: a\n\nretry: x\n\n", "[message|a|]"},
      {"unknown fields", "foo: bar\ndata : x\nDATA: y\n data: z\ndata: a\n\n", "[message|a|]"},
      {"a type without data is silent", "event: ping\n\ndata: a\n\n", "[message|a|]"},
      {"empty data is an event", "data:\n\ndata: \n\n", "[message||][message||]"},
      {"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", "[message|a|]"},
      {"at the end an event is discarded", "data: a\n\ndata: b\n", "[message|a|]", "b"},
      {"an unfinished line too", "data: a\n\ndata: [DONE]", "[message|a|]", "[DONE]"},
      {"CR as its end", "data: [DONE]\r", "", "[DONE]"},
      {"pending lines are joined", "data: a\ndata: b", "", "a\nb"},
      {"a pending line of no data", "data: a\nevent: x", "", "a"},
      {"a pending name alone", "data: a\nda", "", "a"},
      {"pending after a byte order mark", "\xEF\xBB\xBF" + std::string("data:x"), "", "x"},
      {"pending is valid UTF-8", "data: \xe2\x82", "", "\uFFFD"},
      {"text that is no event stream", "<html>\n<body>oops</body>\n", ""},
      {"a stream of a chat",
       "data: {\"choices\":[{\"delta\":{\"content\":\"naïve\"}}]}\r\n\r\n: ping\r\n\r\n"
       "data: [DONE]\r\n\r\n",
       "[message|{\"choices\":[{\"delta\":{\"content\":\"naïve\"}}]}|][message|[DONE]|]"},
  };
  return all;
}

}  // namespace

TEST_CASE("events are decoded as the standard says, in any split") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const Outcome wanted{c.events, c.pending};
    const std::string_view input = c.input;
    const Outcome whole = decode({input});
    CHECK(whole.events == wanted.events);
    CHECK(whole.pending == wanted.pending);
    for (size_t at = 0; at <= input.size(); ++at) {
      CAPTURE(at);
      CHECK(decode({input.substr(0, at), input.substr(at)}) == wanted);
    }
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < input.size(); ++i) bytes.push_back(input.substr(i, 1));
    CHECK(decode(bytes) == wanted);
  }
}

TEST_CASE("after the sink returned false the rest is ignored") {
  SseDecoder decoder;
  int events = 0;
  const auto sink = [&](const SseEvent&) { return ++events < 2; };
  CHECK(decoder.push("data: a\n\ndata: b\n\ndata: c\n\ndata: d", sink).has_value());
  CHECK(decoder.push("\n\n" + std::string(5u << 20, 'x'), sink).has_value());
  CHECK(events == 2);
  CHECK(decoder.pending().empty());
}

TEST_CASE("lines and events have a limit") {
  const auto sink = [](const SseEvent&) { return true; };
  const SseLimits limits{.line = 16, .event = 24};
  struct Row {
    std::string_view name;
    std::string input;
    bool fits;
  };
  const std::vector<Row> rows = {
      {"a line at the limit", "data: 0123456789\n\n", true},
      {"a line above it", "data: 0123456789a\n\n", false},
      {"a line above it that does not end", "data: 0123456789a", false},
      {"a comment above it", ":" + std::string(20, ' ') + "\n", false},
      {"many lines", "data: 1\n\ndata: 2\n\ndata: 3\n\n", true},
      {"an event at the limit", "data: 0123456789\ndata: 0123456789\ndata: 01\n\n", true},
      {"an event above it", "data: 0123456789\ndata: 0123456789\ndata: 012\n\n", false},
      {"an event of empty lines",
       "data\ndata\n" +
           [] {
             std::string out;
             for (int i = 0; i < 30; ++i) out += "data\n";
             return out;
           }(),
       false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    SseDecoder whole(limits);
    const auto pushed = whole.push(row.input, sink);
    CHECK(pushed.has_value() == row.fits);
    if (!pushed) CHECK(pushed.error().kind == stoka::ErrorKind::protocol);
    SseDecoder bytewise(limits);
    bool fits = true;
    for (const char c : row.input) fits = fits && bytewise.push({&c, 1}, sink).has_value();
    CHECK(fits == row.fits);
  }
}

TEST_CASE("the default limits are 1 MB for a line and 4 MB for an event") {
  const auto sink = [](const SseEvent&) { return true; };
  const std::string line = "data: " + std::string(1000000, 'x') + "\n";
  SseDecoder decoder;
  for (int i = 0; i < 4; ++i) CHECK(decoder.push(line, sink).has_value());
  CHECK_FALSE(decoder.push(line, sink).has_value());
  CHECK_FALSE(SseDecoder().push(std::string((1u << 20) + 1, 'x'), sink).has_value());
}

}  // namespace sse_test
