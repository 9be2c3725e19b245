// Calendar dates of documents. A Date is a UTC day; instants are Clock's business.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace stoka {

using Date = std::chrono::sys_days;

// Reads the date at the front of an ISO form ("2026-04-12", "2026-04-12T10:00:00Z", "2026/4/2") or
// an English one ("Apr 12, 2026", "12 April 2026"). Empty for anything else or an impossible day.
std::optional<Date> parse_date(std::string_view text);

std::string iso_date(Date date);  // "2026-04-12"
// What a citation shows: "Apr 12" in the year of `today`, "Nov 25, 2002" in any other.
std::string short_date(Date date, Date today);

}  // namespace stoka
