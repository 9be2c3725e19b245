// One turn as its visitor saw it, with everything that judging needs to know about it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/hit.h"

namespace stoka::eval {

// The confidence: "direct", "adjacent", "low" or "nothing".
inline std::string confidence_name(Confidence confidence, bool low) {
  return low ? "low" : std::string(to_string(confidence));
}

struct Answer {
  // A part of an answer: either text or a citation.
  struct Part {
    std::string text;  // a part of the visible text; empty if this part is a citation
    std::optional<Citation> citation;
  };

  std::string query;
  std::vector<Part> parts;  // parts in the order shown; two texts never follow each other
  Route route = Route::fresh;
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::vector<Hit> ranked;             // the citable hits, best first, at most five
  std::set<std::string> shown_before;  // slugs cited in earlier turns of the session
  // What the earlier turns of a conversation said and quoted; see eval/conversation.h.
  std::set<std::string> lines_before;
  std::set<std::string> quotes_before;

  // Returns the visible text of the answer, with a blank line in place of each citation.
  std::string text() const;
  // The text of the answer with "[1]", "[2]" as paragraphs in place of the citations.
  std::string text_with_markers() const;
  std::vector<Citation> citations() const;
  bool cites(std::string_view slug) const;
  std::string confidence_name() const { return eval::confidence_name(confidence, low_confidence); }
  // Whether the reply is a fixed one (meta, offtopic, void) that no generator wrote.
  bool is_canned() const {
    return route == Route::meta || route == Route::offtopic || route == Route::nothing;
  }
};

// Builds an answer from the events of a turn. The caller sets the fields that events do not carry.
class AnswerBuilder {
 public:
  void add(const Event& event);
  Answer take() { return std::move(answer_); }

 private:
  Answer answer_;
};

}  // namespace stoka::eval
