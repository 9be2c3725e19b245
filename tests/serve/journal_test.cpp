#include "serve/journal.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/json.h"

namespace journal_test {

using namespace stoka;
using serve::Journal;
using serve::JournalOptions;
using serve::Visited;
using Json = nlohmann::json;

namespace {

struct Page {
  FixedClock clock{Instant(std::chrono::sys_days(std::chrono::year(2026) / 4 / 12))};
  std::string text;
  Journal journal;

  explicit Page(JournalOptions options = {})
      : journal(clock, options, [this](std::string_view line) { text += line; }) {}
  Json json() const {
    CHECK(text.ends_with("\n"));
    CHECK(text.find('\n') == text.size() - 1);
    return Json::parse(text, nullptr, false);
  }
};

Visited visit() {
  Visited out;
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

TEST_CASE("a request is one line of JSON, without the question") {
  Page page;
  page.journal.visited(visit());
  CHECK(page.json() == Json{{"ts", "2026-04-12T00:00:00.000Z"},
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

TEST_CASE("the question is there if it is asked for") {
  Page page({.queries = true});
  page.journal.visited(visit());
  CHECK(page.json()["query"] == "the question");
  Page plain({.json = false, .queries = true});
  plain.journal.visited(visit());
  CHECK(plain.text ==
        "2026-04-12T00:00:00.000Z POST /api/stoka/chat 200 1.2 ms done > the question\n");
}

TEST_CASE("for people a request is a plain line") {
  Page page({.json = false});
  Visited of = visit();
  of.detail = "it failed";
  page.journal.visited(of);
  CHECK(page.text == "2026-04-12T00:00:00.000Z POST /api/stoka/chat 200 1.2 ms done: it failed\n");
}

TEST_CASE("without notes only warnings are written") {
  Page page({.info = false});
  page.journal.info("note");
  page.journal.visited(visit());
  CHECK(page.text.empty());
  page.journal.warning("watch out");
  CHECK(page.json() ==
        Json{{"ts", "2026-04-12T00:00:00.000Z"}, {"level", "warning"}, {"msg", "watch out"}});
}

TEST_CASE("an entry stays one line of valid UTF-8, whatever is in it") {
  for (const std::string& text :
       {std::string("a\nb\r\nc"), std::string("\x1b[31mred"), std::string("a\0b", 3),
        std::string("\xFF\xFE"), std::string(100000, 'x'), std::string("\xE2\x80\xA8line"),
        std::string(1999, 'x') + "\xC3\xA9"})
    for (const bool json : {true, false}) {
      Page page({.json = json, .queries = true});
      page.journal.warning(text);
      Visited of = visit();
      of.detail = of.query = of.method = of.request_id = text;
      if (json) page.journal.visited(of);
      CHECK(page.text.size() < 220000);
      size_t lines = 0;
      for (const char c : page.text) {
        lines += c == '\n';
        CHECK((c == '\n' || static_cast<unsigned char>(c) >= ' '));
      }
      CHECK(lines == (json ? 2 : 1));
      if (!json) continue;
      for (size_t at = 0; at < page.text.size(); at = page.text.find('\n', at) + 1)
        CHECK(Json::parse(page.text.substr(at, page.text.find('\n', at) - at), nullptr, false)
                  .is_object());
    }
}

TEST_CASE("lines of many threads do not mix") {
  Page page;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 100; ++j) page.journal.visited(visit());
      });
  }
  size_t lines = 0;
  for (size_t at = 0; at < page.text.size(); at = page.text.find('\n', at) + 1, ++lines)
    REQUIRE(Json::parse(page.text.substr(at, page.text.find('\n', at) - at), nullptr, false)
                .is_object());
  CHECK(lines == 800);
}

}  // namespace journal_test
