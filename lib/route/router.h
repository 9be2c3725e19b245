// query -> route and the rule that decided. Heuristics only, no I/O, microseconds.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "golden/golden.h"
#include "model/event.h"
#include "route/pattern.h"

namespace stoka::route {

struct Decision {
  Route route = Route::fresh;  // meta, offtopic, followup or fresh; never nothing
  std::string rule;            // "meta.greeting", "offtopic:weather", "followup.short", "new"
  std::string reply;           // name of the canned reply; empty: none
};

// Whether a folded word is a token of an indexed slug. Asked only when an off-topic signal was
// found.
using SlugToken = std::function<bool(std::string_view word)>;

// Thread safe: deciding changes nothing.
class Router {
 public:
  // A malformed pattern is a config error.
  static Result<Router> make(const golden::RouterData& data);

  // turns: of the session, before this query.
  Decision decide(std::string_view query, int turns, const SlugToken& is_slug_token) const;

 private:
  struct Rule {
    std::string name;
    std::string reply;
    Route route;
    std::vector<Pattern> patterns;
  };
  std::vector<Rule> rules_;
  struct Signal {
    std::string text;
    std::vector<std::string> words;
  };
  std::vector<Signal> signals_;
  std::string offtopic_reply_;
  std::vector<std::string> not_content_;
  size_t followup_max_words_ = 8;
  std::vector<std::vector<std::string>> openers_;
};

}  // namespace stoka::route
