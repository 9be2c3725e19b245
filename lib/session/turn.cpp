#include "session/turn.h"

#include <algorithm>

#include "text/sentences.h"
#include "text/words.h"

namespace stoka::session {
namespace {

// Besides the stop words, these words of a follow-up name no subject.
constexpr std::string_view kFollowupWords[] = {
    "more",    "else",      "again",   "further", "tell",       "go",     "continue", "next",
    "another", "elaborate", "explain", "example", "examples",   "ok",     "okay",     "yes",
    "no",      "sure",      "please",  "work",    "happened",   "happen", "show",     "other",
    "others",  "really",    "read",    "deeper",  "interesting"};

// Of a query with more words, only the last questions are searched for.
constexpr size_t kMaxQueryWords = 60;

// Returns the last questions of a long query that fit in kMaxQueryWords together. Returns the whole
// query if they have fewer than three content words.
std::string last_questions(std::string_view query) {
  std::string out;
  const std::vector<text::Span> sentences = text::sentences(query);
  for (auto at = sentences.rbegin(); at != sentences.rend(); ++at) {
    const std::string_view sentence = at->in(query);
    if (!sentence.ends_with('?') && !sentence.ends_with("\uFF1F")) continue;
    std::string longer = out.empty() ? std::string(sentence) : std::string(sentence) + " " + out;
    if (!out.empty() && text::words(longer).size() > kMaxQueryWords) break;
    out = std::move(longer);
  }
  constexpr long kMinContentWords = 3;
  const std::vector<text::Word> words = text::words(out);
  const auto content = std::count_if(words.begin(), words.end(), [](const text::Word& word) {
    return !text::is_stop_word(word.text);
  });
  return content < kMinContentWords ? std::string(query) : out;
}

bool names_a_subject(std::string_view query) {
  std::vector<text::Word> words = text::words(query);
  return std::any_of(words.begin(), words.end(), [](const text::Word& word) {
    return !text::is_stop_word(word.text) &&
           std::find(std::begin(kFollowupWords), std::end(kFollowupWords), word.text) ==
               std::end(kFollowupWords);
  });
}

}  // namespace

bool is_stale(const Session& session, Instant now) {
  return now - session.last_active > kSessionTimeout;
}

std::string topic(Route route, std::span<const Hit> hits, const Session& session) {
  if (route == Route::followup && !session.explored_topics.empty()) return session.current_topic();
  if ((route == Route::fresh || route == Route::followup) && !hits.empty() &&
      !hits.front().chunk.tags.empty())
    return hits.front().chunk.tags.front();
  return "";
}

std::string effective_query(std::string_view query, Route route, const Session& session) {
  // Counting words is needed only for long texts: a word with its space has at least two bytes.
  if (query.size() > 2 * kMaxQueryWords && text::words(query).size() > kMaxQueryWords)
    return last_questions(query);
  if (route != Route::followup || names_a_subject(query)) return std::string(query);
  for (auto exchange = session.exchanges.rbegin(); exchange != session.exchanges.rend(); ++exchange)
    if (names_a_subject(exchange->user)) return exchange->user + " " + std::string(query);
  return std::string(query);
}

}  // namespace stoka::session
