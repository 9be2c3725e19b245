// Turns the stream of a model into events: the citation tags are separated from the text
// (CitationParser), the text passes the voice guard (VoiceGuard) and, sentence by sentence, the
// check of its claims (SentenceGate). Each citation must be of a retrieved page; its quote is
// verified against the document (verify_quote), and its fields are filled in from the hit. Dropped
// text and dropped tags are counted and never shown.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cite/citation.h"
#include "cite/citation_parser.h"
#include "cite/intervention.h"
#include "cite/sentence_gate.h"
#include "cite/voice_guard.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// A document that may be cited.
struct CitationSource {
  Hit hit;
  std::vector<std::string>
      document_chunks;  // the contents of all chunks of the page, in order; empty: only the hit's
  size_t chunk_index = 0;  // index of the hit's chunk in document_chunks
  bool again = false;      // true if the page was shown before: it is cited once more, inline
};

// The rules for the claims in a model's answer: see SentenceGate and AnswerStream::finish().
struct ClaimRules {
  Grounds grounds;
  std::string void_reply;
};

struct AnswerOptions {
  size_t max_citations = 5;
  CitationContext citation_context = {};
  std::optional<ClaimRules> claims = {};  // without rules, the text is passed on unchanged
};

struct AnswerSummary {
  std::string text;                      // the visible text without citations, trimmed
  std::vector<std::string> cited_slugs;  // the slugs of the citations, in order
  std::vector<Citation> citations;       // the citations that were sent to the sink, in order
  size_t dropped_unknown = 0;            // tags whose slug is not among the sources
  size_t dropped_repeated = 0;   // tags whose slug was already shown in the session or answer
  size_t dropped_malformed = 0;  // malformed tags: see CitationParser
  size_t dropped_excess = 0;     // tags beyond max_citations
  size_t repaired = 0;           // emitted citations whose quote is VerifiedQuote::repaired
  size_t replaced = 0;           // emitted citations whose quote is VerifiedQuote::replaced
  Interventions interventions;
  bool is_void = false;  // whether the text is the void reply
};

// Not thread safe. The event sink is called from push() and finish(), on the thread of the caller.
class AnswerStream : private TagSink {
 public:
  // The sources are sorted best first. Of two sources with the same slug the first one is cited.
  AnswerStream(std::vector<CitationSource> sources, std::set<std::string> already_shown,
               const GuardRules& rules, std::string query, EventSink sink,
               AnswerOptions options = {});
  AnswerStream(const AnswerStream&) = delete;
  AnswerStream& operator=(const AnswerStream&) = delete;

  // Accepts text in pieces of any size. Emits at most one token event at the end, and one before
  // each citation. The text of a token event is never empty and always valid UTF-8.
  void push(std::string_view delta);
  // Must be called once, even if the stream broke off. If the stream is complete and there are
  // claim rules, an answer without a citation gets one: the best source that was not shown. If an
  // unsupported sentence was dropped and no sentence is left, the void reply is sent instead.
  void finish(bool is_complete = true);

  // The summary of the answer. It is complete after finish().
  const AnswerSummary& summary() const { return summary_; }

 private:
  void text(std::string_view text) override;
  void tag(const std::string& slug, const std::string& quote) override;
  void append_visible(std::string_view text);
  void flush();
  void emit(CitationSource& source, const std::string& quote);
  void cite_something();
  Citation cite(const CitationSource& source, const std::string& quote);

  std::vector<CitationSource> sources_;
  std::map<std::string, size_t, std::less<>> index_by_slug_;
  std::set<std::string> shown_slugs_;  // the slugs shown earlier in the session or in this answer
  std::string query_;
  EventSink sink_;
  AnswerOptions options_;
  AnswerSummary summary_;
  std::string pending_;  // the text of the next token event
  bool after_citation_ = false;
  std::optional<SentenceGate> gate_;  // exists only if there are claim rules
  VoiceGuard guard_;
  CitationParser parser_;
};

}  // namespace stoka::cite
