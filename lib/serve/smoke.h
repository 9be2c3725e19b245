// The acceptance checks, asked of a site as any visitor would ask: over its URL.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "serve/remote.h"
#include "serve/smoke_questions.h"
#include "store/store.h"

namespace stoka::serve {

struct Checked {
  enum class How { ok, failed, skipped };
  int n = 0;  // 1 to 11
  std::string name;
  How how = How::failed;
  std::string detail;  // one line: what was measured, what is wrong, or why it was skipped
};

// What can be checked only by who runs the site.
struct SmokeHouse {
  const Remote& without_reranker;         // a like site whose reranker does not answer
  const Remote& without_embedder;         // a like one whose embedder does not
  std::function<bool()> reranker_warned;  // whether without_reranker logged a warning of it
  store::Store& store;                    // of the site
};

// In order; each is told when it is known. Without a house checks 8 and 9 are skipped, 10 asks less
// and 11 looks at what was cited here alone. A check that wants a quick answer takes the quickest
// of three, because a hiccup of the machine is not the site's. A rate limit fails nothing: a
// question that would use up what the site grants this address is not asked, and its check is
// skipped. A stop ends it after the question under way: the rest is missing.
std::vector<Checked> smoke(const Remote& site, const SmokeQuestions& questions,
                           const SmokeHouse* house, const std::function<void(const Checked&)>& told,
                           std::stop_token stop = {});

}  // namespace stoka::serve
