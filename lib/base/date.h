// Calendar dates of documents. A Date is a day in UTC; for points in time see base/clock.h.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace stoka {

using Date = std::chrono::sys_days;

// Reads a date at the start of the text, in an ISO form ("2026-04-12", "2026-04-12T10:00:00Z",
// "2026/4/2") or in an English form ("Apr 12, 2026", "12 April 2026"). Returns nothing for any
// other text and for a day that does not exist.
std::optional<Date> parse_date(std::string_view text);

std::string iso_date(Date date);  // a text such as "2026-04-12"
// The date as a citation shows it: "Apr 12" in the year of `today`, else "Nov 25, 2002".
std::string short_date(Date date, Date today);

}  // namespace stoka
