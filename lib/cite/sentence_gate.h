// Releases the text of a model sentence by sentence, and only what may be said:
//
// - At most kMaxSentences sentences before a citation, between two and after the last one. What
//   follows is cut at the end of a sentence. Sentences are counted by text/sentences.h.
// - A sentence with a number, term, name or quotation that occurs in nothing that was retrieved or
//   asked is dropped (Grounds).
// - A sentence with a phrase of GuardRules::forbidden is dropped, and one that repeats the whole
//   question.
//
// A sentence is held back until the next one begins, or a citation or the end of the answer
// follows; so the result does not depend on how the text is split. Only text of more than 1,200
// bytes without the end of a sentence is not held back any longer.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cite/grounds.h"
#include "cite/intervention.h"
#include "cite/voice_guard.h"

namespace stoka::cite {

inline constexpr size_t kMaxSentences = 3;  // item 10 of the NEVER list

// Not thread safe.
class SentenceGate {
 public:
  // Called with text that is never empty.
  using TextSink = std::function<void(std::string_view)>;

  // The interventions are added to *interventions, which must outlive the gate.
  SentenceGate(Grounds grounds, const GuardRules& rules, std::string_view query, TextSink sink,
               Interventions* interventions);

  void push(std::string_view text);      // whole code points, not empty
  void mark_citation();                  // a citation is shown here: judges all that is held back
  void allow(const Citation& citation);  // what it shows may be said from now on
  void finish();                         // once, after the last text

 private:
  void judge_complete_sentences();
  void judge_rest();
  void judge(std::string_view piece);
  void release(std::string_view piece);
  std::optional<std::string> unsupported(std::string_view sentence) const;
  std::optional<std::string> forbidden(std::string_view sentence) const;

  Grounds grounds_;
  const PhraseList common_names_;
  std::vector<std::pair<std::string, PhraseList>> forbidden_;  // with the names of the lists
  std::vector<std::string> question_;                          // its words
  TextSink sink_;
  Interventions& interventions_;
  std::string held_;         // text that is not judged yet
  bool may_end_ = false;     // held_ has a character that may end a sentence
  size_t sentences_ = 0;     // released since the last citation
  bool is_cutting_ = false;  // there were too many sentences since the last citation
  bool has_output_ = false;  // something was released since the last citation
};

}  // namespace stoka::cite
