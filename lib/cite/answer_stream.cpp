#include "cite/answer_stream.h"

#include <algorithm>
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
      guard_(rules,
             [this](std::string_view text) {
               if (gate_)
                 gate_->push(text);
               else
                 append_visible(text);
             }),
      parser_(*this) {
  for (size_t i = 0; i < sources_.size(); ++i)
    index_by_slug_.emplace(sources_[i].hit.chunk.slug, i);
  if (options_.claims)
    gate_.emplace(
        std::move(options_.claims->grounds), rules, query_,
        [this](std::string_view text) { append_visible(text); }, &summary_.interventions);
}

void AnswerStream::push(std::string_view delta) {
  parser_.push(delta);
  flush();
}

void AnswerStream::finish(bool is_complete) {
  parser_.finish();
  guard_.finish();
  if (gate_) gate_->finish();
  flush();
  if (gate_ && is_complete && summary_.citations.empty()) cite_something();
  while (!summary_.text.empty() && is_ascii_space(summary_.text.back())) summary_.text.pop_back();
  summary_.dropped_malformed = parser_.malformed();
}

void AnswerStream::text(std::string_view text) { guard_.push(text); }

void AnswerStream::append_visible(std::string_view text) {
  pending_ += text;
  std::string& all = summary_.text;
  // The summary leaves out the citation between two texts, so they may need a space between them.
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
  guard_.mark_citation();
  if (gate_) gate_->mark_citation();
  flush();
  emit(sources_[found->second], quote);
}

void AnswerStream::emit(CitationSource& source, const std::string& quote) {
  const std::string& slug = source.hit.chunk.slug;
  shown_slugs_.insert(slug);
  after_citation_ = true;
  summary_.cited_slugs.push_back(slug);
  summary_.citations.push_back(cite(source, quote));
  if (std::exchange(source.again, false)) summary_.citations.back().kind = CiteKind::inline_quote;
  if (gate_) gate_->allow(summary_.citations.back());
  sink_(CiteEvent{summary_.citations.back()});
}

// Completes an answer that cites nothing: with the best source not shown, or with the void reply.
void AnswerStream::cite_something() {
  Interventions& all = summary_.interventions;
  const bool is_unsupported = std::any_of(all.begin(), all.end(), [](const Intervention& one) {
    return one.kind == InterventionKind::unsupported;
  });
  if (is_unsupported && summary_.text.empty()) {
    summary_.is_void = true;
    record(all, InterventionKind::voided, "no sentence was supported");
    append_visible(options_.claims->void_reply);
    return flush();
  }
  const auto unshown =
      std::find_if(sources_.begin(), sources_.end(), [&](const CitationSource& source) {
        return source.again || !shown_slugs_.contains(source.hit.chunk.slug);
      });
  if (unshown == sources_.end()) return;
  record(all, InterventionKind::cited, unshown->hit.chunk.slug);
  const size_t replaced = summary_.replaced;
  emit(*unshown, {});
  summary_.replaced = replaced;  // the model gave no quote that was replaced
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
