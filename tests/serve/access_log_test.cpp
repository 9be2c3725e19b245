#include "serve/access_log.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/json.h"

namespace journal_test {

using namespace stoka;
using serve::AccessLog;
using serve::AccessLogEntry;
using serve::AccessLogOptions;
using Json = nlohmann::json;

namespace {

struct LogFixture {
  FixedClock clock{Instant(std::chrono::sys_days(std::chrono::year(2026) / 4 / 12))};
  std::string text;
  AccessLog log;

  explicit LogFixture(AccessLogOptions options = {})
      : log(clock, options, [this](std::string_view line) { text += line; }) {}
  Json json() const {
    CHECK(text.ends_with("\n"));
    CHECK(text.find('\n') == text.size() - 1);
    return Json::parse(text, nullptr, false);
  }
};

AccessLogEntry entry() {
  AccessLogEntry out;
  out.request_id = "id";
  out.trace_id = "trace";
  out.span_id = "span";
  out.method = "POST";
  out.route = "/api/stoka/chat";
  out.status = 200;
  out.end = "done";
  out.ms = 1.23456;
  out.query = "the question";
  return out;
}

}  // namespace

TEST_CASE("a request is one line of JSON without the question") {
  LogFixture fixture;
  fixture.log.log_request(entry());
  CHECK(fixture.json() == Json{{"ts", "2026-04-12T00:00:00.000Z"},
                               {"level", "info"},
                               {"msg", "request"},
                               {"req_id", "id"},
                               {"trace_id", "trace"},
                               {"span_id", "span"},
                               {"method", "POST"},
                               {"route", "/api/stoka/chat"},
                               {"status", 200},
                               {"dur_ms", 1.235},
                               {"end", "done"}});
}

TEST_CASE("the question is logged if the options say so") {
  LogFixture fixture({.queries = true});
  fixture.log.log_request(entry());
  CHECK(fixture.json()["query"] == "the question");
  LogFixture plain({.json = false, .queries = true});
  plain.log.log_request(entry());
  CHECK(plain.text ==
        "2026-04-12T00:00:00.000Z POST /api/stoka/chat 200 1.2 ms done > the question\n");
}

TEST_CASE("the text format of a request is one plain line") {
  LogFixture fixture({.json = false});
  AccessLogEntry e = entry();
  e.detail = "it failed";
  fixture.log.log_request(e);
  CHECK(fixture.text ==
        "2026-04-12T00:00:00.000Z POST /api/stoka/chat 200 1.2 ms done: it failed\n");
}

TEST_CASE("if the option info is off, only warnings are written") {
  LogFixture fixture({.info = false});
  fixture.log.info("note");
  fixture.log.log_request(entry());
  CHECK(fixture.text.empty());
  fixture.log.warning("watch out");
  CHECK(fixture.json() ==
        Json{{"ts", "2026-04-12T00:00:00.000Z"}, {"level", "warning"}, {"msg", "watch out"}});
}

TEST_CASE("every entry is one line of valid UTF-8") {
  for (const std::string& text :
       {std::string("a\nb\r\nc"), std::string("\x1b[31mred"), std::string("a\0b", 3),
        std::string("\xFF\xFE"), std::string(100000, 'x'), std::string("\xE2\x80\xA8line"),
        std::string(1999, 'x') + "\xC3\xA9"})
    for (const bool json : {true, false}) {
      LogFixture fixture({.json = json, .queries = true});
      fixture.log.warning(text);
      AccessLogEntry e = entry();
      e.detail = e.query = e.method = e.request_id = text;
      if (json) fixture.log.log_request(e);
      CHECK(fixture.text.size() < 220000);
      size_t lines = 0;
      for (const char c : fixture.text) {
        lines += c == '\n';
        CHECK((c == '\n' || static_cast<unsigned char>(c) >= ' '));
      }
      CHECK(lines == (json ? 2 : 1));
      if (!json) continue;
      for (size_t at = 0; at < fixture.text.size(); at = fixture.text.find('\n', at) + 1)
        CHECK(Json::parse(fixture.text.substr(at, fixture.text.find('\n', at) - at), nullptr, false)
                  .is_object());
    }
}

TEST_CASE("lines written by many threads do not mix") {
  LogFixture fixture;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 100; ++j) fixture.log.log_request(entry());
      });
  }
  size_t lines = 0;
  for (size_t at = 0; at < fixture.text.size(); at = fixture.text.find('\n', at) + 1, ++lines)
    REQUIRE(Json::parse(fixture.text.substr(at, fixture.text.find('\n', at) - at), nullptr, false)
                .is_object());
  CHECK(lines == 800);
}

}  // namespace journal_test
