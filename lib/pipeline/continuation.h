// Answers turns that refer to what the session has shown, such as "more" or "who wrote it?".
#pragma once

#include <stop_token>

#include "base/result.h"
#include "pipeline/catalog.h"
#include "pipeline/engine.h"
#include "pipeline/turn.h"

namespace stoka::pipeline {

// Answers a turn whose intent is about what was said, and a question that the session has answered:
// sets the sources of the turn, or its canned reply. A correction replaces the question of the
// turn. Returns false if the question must be searched for.
Result<bool> continue_conversation(Engine& engine, Turn& turn, const Catalog& catalog,
                                   std::stop_token stop);

}  // namespace stoka::pipeline
