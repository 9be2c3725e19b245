// A model's stream becomes events: tags are taken out (Parser), the text is guarded (VoiceGuard),
// each citation is checked against what was retrieved, its quote against the document
// (verify_quote), and filled in from the hit. What is left out is counted, never shown.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cite/citation.h"
#include "cite/guard.h"
#include "cite/parser.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// What may be cited: a hit and its whole document.
struct Source {
  Hit hit;
  std::vector<std::string>
      document;         // contents of all chunks, in order; empty: the hit's chunk alone
  size_t chunk_at = 0;  // the hit's place in it
};

struct AnswerOptions {
  size_t max_citations = 5;
  Showing showing = {};
};

struct Summary {
  std::string text;                 // visible, without citations; trimmed
  std::vector<std::string> cited;   // slugs in order
  std::vector<Citation> citations;  // the same, as emitted
  size_t dropped_unknown = 0;       // slug is not among the sources
  size_t dropped_repeated = 0;      // slug was shown in the session or cited in this answer
  size_t dropped_malformed = 0;     // no tag; see Parser
  size_t dropped_excess = 0;        // above max_citations
  size_t repaired = 0;              // emitted, see VerifiedQuote
  size_t replaced = 0;              // emitted, see VerifiedQuote
  size_t openers = 0;               // dropped, see OpenerFilter
};

// Not thread safe; no threads of its own. Events come from push() and finish(), on the caller's
// thread.
class AnswerStream : private TagSink {
 public:
  // Sources best first. Of two with one slug, the quote is first looked for in the first's chunk.
  AnswerStream(std::vector<Source> sources, std::set<std::string> already_shown,
               const GuardRules& rules, std::string query, EventSink sink,
               AnswerOptions options = {});
  AnswerStream(const AnswerStream&) = delete;
  AnswerStream& operator=(const AnswerStream&) = delete;

  // Any bytes in any split. One token event at most, but for those between citations; never empty,
  // always valid UTF-8.
  void push(std::string_view delta);
  void finish();  // once, also after a stream that broke off

  // Complete after finish().
  const Summary& summary() const { return summary_; }

 private:
  void text(std::string_view text) override;
  void tag(const std::string& slug, const std::string& quote) override;
  void keep(std::string_view text);
  void flush();
  Citation hydrate(const Source& source, const std::string& quote);

  std::vector<Source> sources_;
  std::map<std::string, size_t, std::less<>> by_slug_;
  std::set<std::string> taken_;  // shown before or cited here
  std::string query_;
  EventSink sink_;
  AnswerOptions options_;
  Summary summary_;
  std::string ready_;  // text of the next token event
  bool after_cite_ = false;
  VoiceGuard guard_;
  Parser parser_;
};

}  // namespace stoka::cite
