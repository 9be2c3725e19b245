#include "cite/answer_stream.h"

#include <utility>

#include "cite/quote.h"

namespace stoka::cite {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n'; }

}  // namespace

AnswerStream::AnswerStream(std::vector<Source> sources, std::set<std::string> already_shown,
                           const GuardRules& rules, std::string query, EventSink sink,
                           AnswerOptions options)
    : sources_(std::move(sources)),
      taken_(std::move(already_shown)),
      query_(std::move(query)),
      sink_(std::move(sink)),
      options_(std::move(options)),
      guard_(rules, [this](std::string_view text) { keep(text); }),
      parser_(*this) {
  for (size_t i = 0; i < sources_.size(); ++i) by_slug_.emplace(sources_[i].hit.chunk.slug, i);
}

void AnswerStream::push(std::string_view delta) {
  parser_.push(delta);
  flush();
}

void AnswerStream::finish() {
  parser_.finish();
  guard_.finish();
  flush();
  while (!summary_.text.empty() && is_space(summary_.text.back())) summary_.text.pop_back();
  summary_.dropped_malformed = parser_.malformed();
  summary_.openers = guard_.openers_dropped();
}

void AnswerStream::text(std::string_view text) { guard_.push(text); }

void AnswerStream::keep(std::string_view text) {
  ready_ += text;
  std::string& all = summary_.text;
  // Without the citation between them, two words must not become one.
  if (after_cite_ && !all.empty() && !is_space(all.back()) && !is_space(text.front())) all += ' ';
  after_cite_ = false;
  while (all.empty() && !text.empty() && is_space(text.front())) text.remove_prefix(1);
  all += text;
}

void AnswerStream::flush() {
  if (!ready_.empty()) sink_(TokenEvent{std::exchange(ready_, {})});
}

void AnswerStream::tag(const std::string& slug, const std::string& quote) {
  const auto found = by_slug_.find(slug);
  if (found == by_slug_.end()) {
    ++summary_.dropped_unknown;
    return;
  }
  if (taken_.contains(slug)) {
    ++summary_.dropped_repeated;
    return;
  }
  if (summary_.citations.size() >= options_.max_citations) {
    ++summary_.dropped_excess;
    return;
  }
  taken_.insert(slug);
  guard_.mark();
  flush();
  after_cite_ = true;
  summary_.cited.push_back(slug);
  summary_.citations.push_back(hydrate(sources_[found->second], quote));
  sink_(CiteEvent{summary_.citations.back()});
}

Citation AnswerStream::hydrate(const Source& source, const std::string& quote) {
  const Chunk& chunk = source.hit.chunk;
  std::vector<std::string_view> contents(source.document.begin(), source.document.end());
  if (contents.empty()) contents.push_back(chunk.content);
  VerifiedQuote verified = verify_quote(quote, contents, source.chunk_at, query_);
  if (verified.kind == VerifiedQuote::repaired) ++summary_.repaired;
  if (verified.kind == VerifiedQuote::replaced) ++summary_.replaced;
  return make_citation(source.hit, std::move(verified.quote), options_.showing);
}

}  // namespace stoka::cite
