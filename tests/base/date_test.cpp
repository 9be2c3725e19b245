#include "base/date.h"

#include <doctest/doctest.h>

namespace date_test {

using namespace stoka;

TEST_CASE("parse_date reads ISO and English dates") {
  struct Case {
    const char* text;
    const char* iso;  // empty if the text has no date
  };
  for (Case c : {Case{"2026-04-12", "2026-04-12"}, Case{"2026-04-12T10:00:00Z", "2026-04-12"},
                 Case{"2026-04-12 10:00:00 +0200", "2026-04-12"}, Case{" 2026/4/2", "2026-04-02"},
                 Case{"Apr 12, 2026", "2026-04-12"}, Case{"April 12 2026", "2026-04-12"},
                 Case{"12 April 2026", "2026-04-12"}, Case{"2024-02-29", "2024-02-29"},
                 Case{"2023-02-29", ""}, Case{"2026-13-01", ""}, Case{"2026-04", ""},
                 Case{"soon", ""}, Case{"", ""}, Case{"2026-04-123", ""}, Case{"0012-01-01", ""}}) {
    CAPTURE(std::string(c.text));
    auto date = parse_date(c.text);
    CHECK((date ? iso_date(*date) : "") == c.iso);
  }
}

TEST_CASE("short_date shows the year only if it is not the current one") {
  const Date today = *parse_date("2026-11-22");
  struct Case {
    const char* iso;
    const char* shown;
  };
  for (Case c : {Case{"2026-04-02", "Apr 2"}, Case{"2026-12-31", "Dec 31"},
                 Case{"2025-12-31", "Dec 31, 2025"}, Case{"2002-11-25", "Nov 25, 2002"},
                 Case{"2027-01-01", "Jan 1, 2027"}}) {
    CHECK(short_date(*parse_date(c.iso), today) == c.shown);
  }
}

}  // namespace date_test
