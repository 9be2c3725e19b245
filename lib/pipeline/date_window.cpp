#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/ascii.h"
#include "pipeline/site_answers.h"

namespace stoka::pipeline {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::year;
using std::chrono::year_month;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

std::optional<unsigned> month_number(std::string_view word) {
  for (unsigned i = 0; i < kMonths.size(); ++i)
    if (word == kMonths[i] || (word.size() == 3 && kMonths[i].starts_with(word)) ||
        (word == "sept" && i == 8))
      return i + 1;
  return std::nullopt;
}

std::optional<int> year_number(std::string_view word) {
  if (word.size() != 4) return std::nullopt;
  const std::optional<int> number = parse_number<int>(word);
  return number && *number >= 1900 && *number < 2200 ? number : std::nullopt;
}

DateWindow whole_month(year_month ym, std::string name) {
  return {Date(ym / day(1)), Date((ym + std::chrono::months(1)) / day(1)) - days(1),
          std::move(name)};
}

DateWindow whole_year(year y, std::string name) {
  return {Date(y / 1 / 1), Date(y / 12 / 31), std::move(name)};
}

// The days of phrases such as "last month". "This week" is the seven days that end today.
std::optional<DateWindow> relative(std::string_view which, std::string_view unit, Date today) {
  const bool is_this = which == "this";
  if (!is_this && which != "last" && which != "past" && which != "previous") return std::nullopt;
  std::string name = fmt::format("{} {}", is_this ? "this" : "last", unit);
  const year_month_day now{today};
  if (unit == "week") {
    const Date end = is_this ? today : today - days(7);
    return DateWindow{end - days(6), end, std::move(name)};
  }
  const int back = is_this ? 0 : 1;
  if (unit == "month")
    return whole_month(now.year() / now.month() - std::chrono::months(back), std::move(name));
  if (unit == "year") return whole_year(now.year() - std::chrono::years(back), std::move(name));
  return std::nullopt;
}

// "may" and "march" are months only before a year, or after a word such as "in" or "since".
bool may_be_month(std::span<const std::string> words, size_t at) {
  if (words[at] != "may" && words[at] != "march" && words[at] != "mar") return true;
  if (at + 1 < words.size() && year_number(words[at + 1])) return true;
  constexpr std::array<std::string_view, 8> kBefore = {"in",     "from", "of",   "since",
                                                       "during", "last", "this", "around"};
  return at > 0 && std::find(kBefore.begin(), kBefore.end(), words[at - 1]) != kBefore.end();
}

std::optional<DateWindow> window_at(std::span<const std::string> words, size_t at, Date today) {
  const std::string& word = words[at];
  if (word == "today") return DateWindow{today, today, word};
  if (word == "yesterday") return DateWindow{today - days(1), today - days(1), word};
  if (at + 1 < words.size())
    if (auto window = relative(word, words[at + 1], today)) return window;
  if (const auto number = month_number(word); number && may_be_month(words, at)) {
    const year_month_day now{today};
    std::optional<int> named =
        at + 1 < words.size() ? year_number(words[at + 1]) : std::optional<int>();
    const bool begun = month(*number) <= now.month();
    const year y = named ? year(*named) : begun ? now.year() : now.year() - std::chrono::years(1);
    return whole_month(y / month(*number),
                       fmt::format("{} {}", kMonths[*number - 1], static_cast<int>(y)));
  }
  if (const auto number = year_number(word)) return whole_year(year(*number), word);
  return std::nullopt;
}

}  // namespace

std::optional<DateWindow> date_window(std::span<const std::string> words, Date today) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::optional<DateWindow> window = window_at(words, i, today);
    if (!window) continue;
    if (i > 0 && words[i - 1] == "since") {
      window->to = today;
      window->name = "after " + window->name;
    }
    return window;
  }
  return std::nullopt;
}

}  // namespace stoka::pipeline
