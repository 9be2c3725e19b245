#include "session/turn.h"

#include <algorithm>

#include "text/sentences.h"
#include "text/words.h"

namespace stoka::session {
namespace {

// Words that a follow-up is made of and that name no subject.
constexpr std::string_view kEmptyWords[] = {
    "more",    "else",      "again",   "further", "tell",       "go",     "continue", "next",
    "another", "elaborate", "explain", "example", "examples",   "ok",     "okay",     "yes",
    "no",      "sure",      "please",  "work",    "happened",   "happen", "show",     "other",
    "others",  "really",    "read",    "deeper",  "interesting"};

// Of more words only what is asked is searched for.
constexpr size_t kLongQuery = 60;

// Its last sentences that ask, as many as are not long; all of it if they hardly say about what.
std::string questions_of(std::string_view query) {
  std::string out;
  const std::vector<text::Span> sentences = text::sentences(query);
  for (auto at = sentences.rbegin(); at != sentences.rend(); ++at) {
    const std::string_view sentence = at->in(query);
    if (!sentence.ends_with('?') && !sentence.ends_with("\uFF1F")) continue;
    std::string longer = out.empty() ? std::string(sentence) : std::string(sentence) + " " + out;
    if (!out.empty() && text::words(longer).size() > kLongQuery) break;
    out = std::move(longer);
  }
  constexpr long kLeastContent = 3;  // words
  const std::vector<text::Word> words = text::words(out);
  const auto content = std::count_if(words.begin(), words.end(), [](const text::Word& word) {
    return !text::is_stop_word(word.text);
  });
  return content < kLeastContent ? std::string(query) : out;
}

bool names_a_subject(std::string_view query) {
  std::vector<text::Word> words = text::words(query);
  return std::any_of(words.begin(), words.end(), [](const text::Word& word) {
    return !text::is_stop_word(word.text) &&
           std::find(std::begin(kEmptyWords), std::end(kEmptyWords), word.text) ==
               std::end(kEmptyWords);
  });
}

}  // namespace

bool is_stale(const Session& session, Instant now) {
  return now - session.last_active > kStaleAfter;
}

std::string topic(Route route, std::span<const Hit> hits, const Session& session) {
  if (route == Route::followup && !session.explored_topics.empty()) return session.current_topic();
  if ((route == Route::fresh || route == Route::followup) && !hits.empty() &&
      !hits.front().chunk.tags.empty())
    return hits.front().chunk.tags.front();
  return "";
}

std::string effective_query(std::string_view query, Route route, const Session& session) {
  // A word has at least two bytes, the space beside it among them.
  if (query.size() > 2 * kLongQuery && text::words(query).size() > kLongQuery)
    return questions_of(query);
  if (route != Route::followup || names_a_subject(query)) return std::string(query);
  for (auto exchange = session.exchanges.rbegin(); exchange != session.exchanges.rend(); ++exchange)
    if (names_a_subject(exchange->user)) return exchange->user + " " + std::string(query);
  return std::string(query);
}

}  // namespace stoka::session
