#include "base/date.h"

#include <fmt/format.h>

#include <array>

#include "base/ascii.h"

namespace stoka {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Reads numbers and month names from the front of a text; skip() removes separators there.
struct DateScanner {
  std::string_view rest;

  void skip() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == ',' || rest[0] == '.'))
      rest.remove_prefix(1);
  }
  std::optional<int> number(size_t max_digits) {
    size_t n = 0;
    int value = 0;
    while (n < rest.size() && n < max_digits && is_ascii_digit(rest[n]))
      value = value * 10 + (rest[n++] - '0');
    if (n == 0) return std::nullopt;
    rest.remove_prefix(n);
    return value;
  }
  std::optional<unsigned> month() {
    if (rest.size() < 3) return std::nullopt;
    for (unsigned m = 0; m < 12; ++m) {
      bool same = true;
      for (size_t i = 0; i < 3; ++i) same = same && to_lower(rest[i]) == to_lower(kMonths[m][i]);
      if (!same) continue;
      while (!rest.empty() && is_ascii_letter(rest[0])) rest.remove_prefix(1);
      return m + 1;
    }
    return std::nullopt;
  }
};

std::optional<Date> make_date(int year, unsigned month, int day) {
  std::chrono::year_month_day ymd{std::chrono::year{year}, std::chrono::month{month},
                                  std::chrono::day{static_cast<unsigned>(day)}};
  if (!ymd.ok() || year < 1000) return std::nullopt;
  return Date{ymd};
}

std::optional<Date> parse_iso(std::string_view text) {
  DateScanner s{text};
  auto year = s.number(4);
  if (!year || s.rest.empty() || (s.rest[0] != '-' && s.rest[0] != '/')) return std::nullopt;
  char separator = s.rest[0];
  s.rest.remove_prefix(1);
  auto month = s.number(2);
  if (!month || s.rest.empty() || s.rest[0] != separator) return std::nullopt;
  s.rest.remove_prefix(1);
  auto day = s.number(2);
  if (!day || (!s.rest.empty() && is_ascii_digit(s.rest[0]))) return std::nullopt;
  return make_date(*year, static_cast<unsigned>(*month), *day);
}

std::optional<Date> parse_english(std::string_view text) {
  DateScanner s{text};
  std::optional<unsigned> month = s.month();
  s.skip();
  auto day = s.number(2);
  if (!day) return std::nullopt;
  if (!month) {
    s.skip();
    month = s.month();
  }
  s.skip();
  auto year = s.number(4);
  if (!month || !year) return std::nullopt;
  return make_date(*year, *month, *day);
}

}  // namespace

std::optional<Date> parse_date(std::string_view text) {
  text = trimmed(text);
  if (auto date = parse_iso(text)) return date;
  return parse_english(text);
}

std::string iso_date(Date date) {
  std::chrono::year_month_day ymd{date};
  return fmt::format("{:04}-{:02}-{:02}", int(ymd.year()), unsigned(ymd.month()),
                     unsigned(ymd.day()));
}

std::string short_date(Date date, Date today) {
  std::chrono::year_month_day ymd{date};
  std::string out = fmt::format("{} {}", kMonths[unsigned(ymd.month()) - 1], unsigned(ymd.day()));
  if (ymd.year() != std::chrono::year_month_day{today}.year())
    out += fmt::format(", {}", int(ymd.year()));
  return out;
}

}  // namespace stoka
