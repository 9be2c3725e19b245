// Verifies quotes, so that a quotation that is shown is always in the cited document. Thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoka::cite {

struct VerifiedQuote {
  enum Kind {
    verbatim,  // the model's words, except for white space, case, typographic quotes and dashes
    repaired,  // the passage most similar to the model's quote, or the whole sentences around it
    replaced,  // a sentence that we chose: the model's quote is too vague or not in the document
  };
  std::string quote;
  Kind kind = replaced;
};

// Finds the model's quote in the contents of a document's chunks, the cited chunk first. Returns
// the document's own spelling with squeezed white space, which is always a substring of
// text::squeeze(chunk) for one of the chunks.
//
// 1. The words of the quote must be consecutive words of one chunk; punctuation between them is
//    ignored. A match of fewer than three words becomes the sentence around it; a match of more
//    than text::kMaxQuoteLength code points is cut to whole sentences.
// 2. Otherwise the result is the one or two adjacent sentences that are most similar to the quote,
//    if they are similar enough (kMinSimilarity).
// 3. Otherwise it is text::best_sentence() of the cited chunk, or of the first chunk that has one.
//
// Code is ignored (text/code_lines.h), so the quote is empty if the document has nothing but code.
// The time is nearly linear in the length of the document, because chunks that cannot contain the
// quote are not tokenised.
VerifiedQuote verify_quote(std::string_view model_quote,
                           std::span<const std::string_view> document_chunks, size_t cited_chunk,
                           std::string_view query);

// How similar a sentence must be: it contains at least this share of the quote's words in the same
// order, or reaches this Dice coefficient with it, and it contains this share of its content words.
inline constexpr double kMinSimilarity = 0.6;

}  // namespace stoka::cite
