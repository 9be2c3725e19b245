// Answers questions about the site as a whole from its catalogue: what is new, what is best, how
// much there is, who writes it.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/date.h"
#include "base/result.h"
#include "pipeline/catalog.h"
#include "pipeline/engine.h"
#include "pipeline/turn.h"

namespace stoka::pipeline {

// The days that a question names ("in august", "this week", "since 2024").
struct DateWindow {
  Date from{};
  Date to{};         // the last day, inclusive
  std::string name;  // the name for replies, such as "august 2026" or "this week"
};

// Finds the days that folded words name. A month without a year is the last one that has begun.
std::optional<DateWindow> date_window(std::span<const std::string> words, Date today);

// The page whose title or slug has the version number that the question names, or nothing. Zeros at
// the end of a number do not count: 1.88 is 1.88.0. If the question names a subject as well, the
// page must be about it.
const Document* version_page(const Catalog& catalog, std::string_view query);

// Answers a question whose intent is about the site, or which names a version that has a page: sets
// the sources of the turn, or its canned reply. Returns false if the question must be searched for.
Result<bool> answer_about_site(Engine& engine, Turn& turn, const Catalog& catalog,
                               std::stop_token stop);

}  // namespace stoka::pipeline
