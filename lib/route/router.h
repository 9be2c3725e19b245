// query -> route and the rule that decided. Heuristics only, no I/O, microseconds.
#pragma once

#include <functional>
#include <span>
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
  // An off-topic signal that did not count, and the word for which the site has something.
  std::string signal;
  std::string site_word;
};

// What the index says of a folded word, whatever its ending. Asked only when an off-topic signal
// was found; a function that is empty says no.
struct SiteWords {
  std::function<bool(std::string_view word)> names;      // a slug or a tag has it
  std::function<bool(std::string_view word)> discusses;  // a title has it, or several texts
};

// Thread safe: deciding changes nothing.
class Router {
 public:
  // A malformed pattern is a config error.
  static Result<Router> make(const golden::RouterData& data);

  // turns: of the session, before this query.
  Decision decide(std::string_view query, int turns, const SiteWords& site) const;

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
  // The word for which a question with that signal is about the site; empty when none is.
  std::string site_word(const Signal& signal, std::span<const std::string_view> words,
                        const SiteWords& site) const;
  std::vector<Signal> signals_;
  std::string offtopic_reply_;
  std::vector<std::string> not_content_;
  size_t followup_max_words_ = 8;
  std::vector<std::vector<std::string>> openers_;
};

}  // namespace stoka::route
