// What a visitor saw of one turn, and what it may be judged by.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/hit.h"

namespace stoka::eval {

// "direct", "adjacent", "low", "nothing".
inline std::string confidence_name(Confidence confidence, bool low) {
  return low ? "low" : std::string(name(confidence));
}

struct Answer {
  // In the order shown: text, or a citation.
  struct Part {
    std::string text;  // empty for a citation
    std::optional<Citation> citation;
  };

  std::string query;
  std::vector<Part> parts;  // no two texts in a row
  Route route = Route::fresh;
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::vector<Hit> ranked;             // what could be cited, best first, at most five
  std::set<std::string> shown_before;  // slugs cited in earlier turns of the session

  // All visible text, citations apart; a blank line stands where one was.
  std::string text() const;
  // The same with "[1]", "[2]" in paragraphs of their own where the citations stand.
  std::string marked_text() const;
  std::vector<Citation> citations() const;
  bool cites(std::string_view slug) const;
  std::string confidence_name() const { return eval::confidence_name(confidence, low_confidence); }
  // A reply that no generator wrote: meta, offtopic or void.
  bool canned() const {
    return route == Route::meta || route == Route::offtopic || route == Route::nothing;
  }
};

// Makes an answer of the events of a turn; what else is known of it is for the caller to fill in.
class AnswerReader {
 public:
  void read(const Event& event);
  Answer take() { return std::move(answer_); }

 private:
  Answer answer_;
};

}  // namespace stoka::eval
