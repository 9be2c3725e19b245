// Releases the text of a model sentence by sentence, and only what may be said:
//
// - At most kMaxSentences sentences may stand before a citation, between two citations and after
//   the last one. Further sentences are dropped. text/sentences.h counts the sentences.
// - A sentence with a number, term, name or quotation that occurs in nothing that was retrieved or
//   asked is dropped (Grounds).
// - A sentence that has a phrase of GuardRules::forbidden, or that repeats the whole question, is
//   dropped.
//
// A sentence is held back until the next one begins, or a citation or the end of the answer
// follows; so the result does not depend on how the text is split. Only text in which no sentence
// ends is released earlier, when it exceeds 1,200 bytes.
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

// The class is not thread safe.
class SentenceGate {
 public:
  // A function that receives the released text, which is never empty.
  using TextSink = std::function<void(std::string_view)>;

  // The gate adds its interventions to *interventions, which must outlive the gate.
  SentenceGate(Grounds grounds, const GuardRules& rules, std::string_view query, TextSink sink,
               Interventions* interventions);

  void push(std::string_view text);      // `text` has whole code points and is not empty
  void mark_citation();                  // judges all text held back, because a citation follows it
  void allow(const Citation& citation);  // adds the citation to what the answer may state
  void finish();                         // must be called once, after the last text

 private:
  void judge_complete_sentences();
  void judge_rest();
  void judge(std::string_view piece);
  void release(std::string_view piece);
  std::optional<std::string> unsupported(std::string_view sentence) const;
  std::optional<std::string> forbidden(std::string_view sentence) const;

  Grounds grounds_;
  const PhraseList common_names_;
  std::vector<std::pair<std::string, PhraseList>> forbidden_;  // each list with its name
  std::vector<std::string> question_;                          // the words of the question
  TextSink sink_;
  Interventions& interventions_;
  std::string held_;         // text that is not judged yet
  bool may_end_ = false;     // the held text has a character that may end a sentence
  size_t sentences_ = 0;     // the number of sentences released since the last citation
  bool is_cutting_ = false;  // too many sentences since the last citation
  bool has_output_ = false;  // text was released since the last citation
};

}  // namespace stoka::cite
