#include <doctest/doctest.h>

#include "pipeline/site_answers.h"
#include "text/words.h"

namespace date_window_test {

using namespace stoka;

namespace {

std::string window(std::string_view text, std::string_view today = "2026-11-21") {
  std::vector<std::string> words;
  for (text::Word& word : text::words(text)) words.push_back(std::move(word.text));
  const auto found = pipeline::date_window(words, *parse_date(today));
  return found ? iso_date(found->from) + ".." + iso_date(found->to) : "";
}

}  // namespace

TEST_CASE("a question names days by month, year, week or since when") {
  struct Case {
    const char* text;
    const char* days;
  };
  for (const Case& c :
       {Case{"in august", "2026-08-01..2026-08-31"}, Case{"in december", "2025-12-01..2025-12-31"},
        Case{"in february 2024", "2024-02-01..2024-02-29"},
        Case{"anything from 2025", "2025-01-01..2025-12-31"},
        Case{"since 2025", "2025-01-01..2026-11-21"}, Case{"this month", "2026-11-01..2026-11-30"},
        Case{"last month", "2026-10-01..2026-10-31"}, Case{"last year", "2025-01-01..2025-12-31"},
        Case{"this week", "2026-11-15..2026-11-21"}, Case{"today", "2026-11-21..2026-11-21"},
        Case{"in may", "2026-05-01..2026-05-31"}, Case{"may i ask", ""}, Case{"port 8080", ""},
        Case{"what about this", ""}}) {
    CAPTURE(std::string(c.text));
    CHECK(window(c.text) == c.days);
  }
  CHECK(window("last month", "2026-01-15") == "2025-12-01..2025-12-31");
}

}  // namespace date_window_test
