#include "pipeline/golden_drafts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "text/entities.h"
#include "text/normalize.h"
#include "text/pull_quote.h"

namespace stoka::pipeline {
namespace {

// The text of a draft before and after its citation, which the owner of the site will edit.
struct DraftWords {
  const char* question;  // the question, with {} for the title
  const char* before;
  const char* after;
};

constexpr DraftWords kDraftWords[] = {
    {"tell me about {}", "it's written down. start here.",
     "which half of that do you not believe?"},
    {"what do you have on {}?", "one page of it. this is the sentence i'd keep.", ""},
    {"{}?", "depends what you came for.", "what did you expect it to say?"},
};

// The documents in the order in which drafts are made from them: the newest of each type, then the
// second newest of each, and so on. Essays come first, because they show the voice best.
std::vector<const Document*> draft_order(const std::vector<store::DocumentInfo>& documents) {
  std::vector<const Document*> sorted;
  for (const store::DocumentInfo& info : documents) sorted.push_back(&info.document);
  std::sort(sorted.begin(), sorted.end(), [](const Document* a, const Document* b) {
    return std::pair(b->date, a->slug) < std::pair(a->date, b->slug);
  });
  std::map<std::string, int> of_type;
  std::vector<std::pair<int, const Document*>> ranked;
  for (const Document* document : sorted) ranked.emplace_back(of_type[document->type]++, document);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    const auto place = [](const auto& of) {
      return std::pair(of.first, of.second->type != "philosophy");
    };
    return place(a) < place(b);
  });
  std::vector<const Document*> out;
  for (const auto& [round, document] : ranked) out.push_back(document);
  return out;
}

// A quote of the document, or an empty string if no sentence can be quoted verbatim.
Result<std::string> draft_quote(store::IndexReader& index, const Document& document) {
  STOKA_ASSIGN(const std::vector<store::StoredChunk> chunks, index.document_chunks(document.slug));
  for (const store::StoredChunk& chunk : chunks) {
    const std::string& content = chunk.chunk.content;
    const std::string quote = text::best_sentence(content, document.title);
    if (!quote.empty() && text::collapse_whitespace(content).find(quote) != std::string::npos)
      return quote;
  }
  return std::string();
}

}  // namespace

Result<std::vector<golden::GoldenExchange>> draft_exchanges(store::IndexReader& index,
                                                            size_t count) {
  STOKA_ASSIGN(const std::vector<store::DocumentInfo> documents, index.documents());
  std::vector<golden::GoldenExchange> out;
  for (const Document* document : draft_order(documents)) {
    if (out.size() >= count) break;
    STOKA_ASSIGN(const std::string quote, draft_quote(index, *document));
    if (quote.empty()) continue;
    const DraftWords& words = kDraftWords[out.size() % std::size(kDraftWords)];
    golden::GoldenExchange draft;
    draft.visitor = fmt::format(fmt::runtime(words.question), text::one_line(document->title));
    draft.stoka =
        fmt::format("{}\n<cite slug=\"{}\" quote=\"{}\"/>", words.before,
                    text::escape_attribute(document->slug), text::escape_attribute(quote));
    if (*words.after != '\0') draft.stoka += fmt::format("\n{}", words.after);
    draft.slugs = {document->slug};
    out.push_back(std::move(draft));
  }
  return out;
}

}  // namespace stoka::pipeline
