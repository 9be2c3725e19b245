// Chooses the route of a query and names the rule that decided. It uses heuristics only, does no
// I/O and takes microseconds.
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
#include "text/words.h"

namespace stoka::route {

// What a question is after, beside its route: something about the site as a whole ("site.new"), or
// about what was said ("talk.more").
struct Intent {
  std::string name;  // the name of the rule; empty if the question is answered by a search
  std::string rest;  // the folded question after the words that the pattern matched
  std::vector<std::string> pages;  // names of a page that answers the question ("contact")
};

struct RouteDecision {
  Route route = Route::fresh;  // meta, offtopic, followup or fresh
  std::string rule;            // "meta.greeting", "offtopic:weather", "followup.short", "new"
  std::string reply;           // name of the canned reply; empty if the route has none
  // An off-topic signal that was found, and the word of the site that overruled it; both may be
  // empty.
  std::string signal;
  std::string site_word;
  Intent intent = {};
};

// What the index knows about a folded word, which is compared by its stem. The functions are called
// only if an off-topic signal was found. An empty function counts as false.
struct SiteWords {
  std::function<bool(std::string_view word)> names;      // a slug or a tag contains it
  std::function<bool(std::string_view word)> discusses;  // a title or several texts contain it
};

// A router is thread safe, because decide() changes nothing.
class Router {
 public:
  // Fails with a config error if a pattern is malformed.
  static Result<Router> make(const golden::RouterData& data);

  // `turns` is the number of turns in the session before this query.
  RouteDecision decide(std::string_view query, int turns, const SiteWords& site) const;

 private:
  struct Rule {
    std::string name;
    std::string reply;
    Route route;
    std::vector<Pattern> patterns;
  };
  std::vector<Rule> rules_;
  struct IntentRule {
    std::string name;
    std::vector<std::string> pages;
    std::vector<Pattern> patterns;
  };
  std::vector<IntentRule> intents_;
  struct Signal {
    std::string text;
    std::vector<std::string> words;
  };
  Intent find_intent(std::string_view folded, std::span<const text::Word> analysed,
                     std::span<const std::string_view> words) const;
  // Returns the word of the question that makes it a question about the site in spite of the
  // signal, or an empty string.
  std::string site_word(const Signal& signal, std::span<const std::string_view> words,
                        const SiteWords& site) const;
  std::vector<Signal> signals_;
  std::string offtopic_reply_;
  std::vector<std::string> not_content_;
  size_t followup_max_words_ = 8;
  std::vector<std::vector<std::string>> openers_;
};

}  // namespace stoka::route
