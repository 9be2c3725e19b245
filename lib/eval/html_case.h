#pragma once

#include <string>

#include "eval/report.h"

namespace stoka::eval {

// A case as an article that stands open, with `anchor` as its id, and its name as a heading of the
// fourth rank.
std::string case_article(const CaseResult& result, const std::string& anchor);

// The same folded away behind its name and its query.
std::string case_details(const CaseResult& result, const std::string& anchor);

// "failing", "error", "passing": its class.
std::string_view standing(const CaseResult& result);

}  // namespace stoka::eval
