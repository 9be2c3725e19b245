#include "cite/answer_stream.h"

#include <utility>

#include "base/ascii.h"
#include "cite/quote.h"

namespace stoka::cite {

AnswerStream::AnswerStream(std::vector<CitationSource> sources, std::set<std::string> already_shown,
                           const GuardRules& rules, std::string query, EventSink sink,
                           AnswerOptions options)
    : sources_(std::move(sources)),
      shown_slugs_(std::move(already_shown)),
      query_(std::move(query)),
      sink_(std::move(sink)),
      options_(std::move(options)),
      guard_(rules, [this](std::string_view text) { append_visible(text); }),
      parser_(*this) {
  for (size_t i = 0; i < sources_.size(); ++i)
    index_by_slug_.emplace(sources_[i].hit.chunk.slug, i);
}

void AnswerStream::push(std::string_view delta) {
  parser_.push(delta);
  flush();
}

void AnswerStream::finish() {
  parser_.finish();
  guard_.finish();
  flush();
  while (!summary_.text.empty() && is_ascii_space(summary_.text.back())) summary_.text.pop_back();
  summary_.dropped_malformed = parser_.malformed();
}

void AnswerStream::text(std::string_view text) { guard_.push(text); }

void AnswerStream::append_visible(std::string_view text) {
  pending_ += text;
  std::string& all = summary_.text;
  // The summary has no citation between these two texts, so it may need a space there.
  if (after_citation_ && !all.empty() && !is_ascii_space(all.back()) &&
      !is_ascii_space(text.front()))
    all += ' ';
  after_citation_ = false;
  while (all.empty() && !text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
  all += text;
}

void AnswerStream::flush() {
  if (!pending_.empty()) sink_(TokenEvent{std::exchange(pending_, {})});
}

void AnswerStream::tag(const std::string& slug, const std::string& quote) {
  const auto found = index_by_slug_.find(slug);
  if (found == index_by_slug_.end()) {
    ++summary_.dropped_unknown;
    return;
  }
  if (shown_slugs_.contains(slug) && !sources_[found->second].again) {
    ++summary_.dropped_repeated;
    return;
  }
  if (summary_.citations.size() >= options_.max_citations) {
    ++summary_.dropped_excess;
    return;
  }
  shown_slugs_.insert(slug);
  guard_.mark_citation();
  flush();
  after_citation_ = true;
  summary_.cited_slugs.push_back(slug);
  summary_.citations.push_back(cite(sources_[found->second], quote));
  if (std::exchange(sources_[found->second].again, false))
    summary_.citations.back().kind = CiteKind::inline_quote;
  sink_(CiteEvent{summary_.citations.back()});
}

Citation AnswerStream::cite(const CitationSource& source, const std::string& quote) {
  const Chunk& chunk = source.hit.chunk;
  std::vector<std::string_view> contents(source.document_chunks.begin(),
                                         source.document_chunks.end());
  if (contents.empty()) contents.push_back(chunk.content);
  VerifiedQuote verified = verify_quote(quote, contents, source.chunk_index, query_);
  if (verified.kind == VerifiedQuote::repaired) ++summary_.repaired;
  if (verified.kind == VerifiedQuote::replaced) ++summary_.replaced;
  return make_citation(source.hit, std::move(verified.quote), options_.citation_context);
}

}  // namespace stoka::cite
