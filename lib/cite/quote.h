// The core promise: what is shown as a quotation stands in the cited document. Pure, thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoka::cite {

struct VerifiedQuote {
  enum Kind {
    verbatim,  // the model's words, but for white space, case, typographic quotes and dashes
    repaired,  // the passage that the model came close to, or the whole sentences of what it quoted
    replaced,  // a sentence of our choice: the model's quote says nothing or is not in the document
  };
  std::string quote;
  Kind kind = replaced;
};

// Finds the model's quote in the contents of a document's chunks, the cited one first, and returns
// the document's own spelling with white space squeezed: always a substring of text::squeeze(one
// chunk).
//
// The words must follow each other in one chunk; what stands between them does not matter. Fewer
// than three words are replaced by the sentence around them; more than text::kMaxQuoteLength code
// points are cut to whole sentences. Failing that, the one or two adjoining sentences most like the
// quote, if they are like enough (kNearMiss); failing that, text::best_sentence() of the cited
// chunk, or of the first chunk that has one. Code is not looked at (text/code_lines.h): the quote
// is empty if the document holds nothing else.
//
// Near-linear in the document; chunks that cannot hold the quote are not taken apart.
VerifiedQuote verify_quote(std::string_view model_quote,
                           std::span<const std::string_view> document_chunks, size_t cited_chunk,
                           std::string_view query);

// Least share of the quote's words that a sentence must hold in their order, and least share of its
// content words.
inline constexpr double kNearMiss = 0.6;

}  // namespace stoka::cite
