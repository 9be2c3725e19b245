// Drafts of golden examples from the pages of an index.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "golden/golden.h"
#include "store/index_reader.h"

namespace stoka::pipeline {

// Returns at most `count` examples from different pages, as far as possible of different types, the
// newest of each type first. Every quote occurs verbatim in its page. The result is empty if no
// page has a quotable sentence.
Result<std::vector<golden::GoldenExchange>> draft_exchanges(store::IndexReader& index,
                                                            size_t count = 3);

}  // namespace stoka::pipeline
