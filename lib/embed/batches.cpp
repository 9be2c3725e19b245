#include "embed/batches.h"

#include <fmt/format.h>

#include <utility>

#include "base/ascii.h"
#include "embed/lsa.h"
#include "text/utf8.h"

namespace stoka::embed {
namespace {

constexpr int kMaxSplits = 6;

size_t json_bytes(std::string_view text) {
  size_t out = 3;  // the bytes counted: two quotation marks and a comma so far
  for (const char c : text)
    out += c == '"' || c == '\\' ? 2u : static_cast<unsigned char>(c) < ' ' ? 6u : 1u;
  return out;
}

// Splits a trimmed text at the white space nearest to its middle. If the middle half of the text
// has no white space, the text is split in the middle, between two characters. The second half is
// empty if the text cannot be split.
std::pair<std::string_view, std::string_view> split_in_half(std::string_view text) {
  const size_t middle = text.size() / 2;
  const size_t before = text.find_last_of(kAsciiWhitespace, middle);
  const size_t after = text.find_first_of(kAsciiWhitespace, middle);
  size_t at = before;
  if (before == std::string_view::npos ||
      (after != std::string_view::npos && after - middle < middle - before))
    at = after;
  if (at == std::string_view::npos || at < text.size() / 4 || at > text.size() / 4 * 3) {
    at = text::floor_char_boundary(text, middle);
    if (at == 0) return {text, {}};
  }
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at))};
}

struct WeightedSum {
  std::vector<double> values;
  size_t count = 0;  // the number of vectors added

  void add(const Vector& vector, size_t weight) {
    values.resize(vector.size());
    for (size_t i = 0; i < vector.size(); ++i)
      values[i] += static_cast<double>(vector[i]) * static_cast<double>(weight);
    ++count;
  }
};

class BatchRun {
 public:
  BatchRun(std::span<const std::string> texts, const SendBatch& send) : texts_(texts), send_(send) {
    out_.vectors.resize(texts.size());
  }

  Result<> embed_batch(size_t begin, size_t end) {
    server_works_ = false;
    return embed_range(begin, end);
  }
  void warn(size_t text, std::string message) {
    out_.warnings.push_back({text, std::move(message)});
  }
  Embeddings take() { return std::move(out_); }

 private:
  Result<> embed_range(size_t begin, size_t end);
  Result<> embed_refused_text(size_t text, const BatchRefusal& refusal);
  // Checks that the server works at all, and otherwise returns the error of the refusal.
  Result<> probe(const BatchRefusal& refusal);
  // Adds the vectors of a text's halves to the sum; a half that is too long is split again. If a
  // part is refused, the whole text is refused.
  using Split = tl::expected<void, BatchRefusal>;
  Result<Split> embed_halves(std::string_view text, const BatchRefusal& refusal, int splits_left,
                             WeightedSum& sum);

  std::span<const std::string> texts_;
  const SendBatch& send_;
  Embeddings out_;
  bool server_works_ = false;  // the server has embedded a text since the batch began
};

Result<> BatchRun::embed_range(size_t begin, size_t end) {
  STOKA_ASSIGN(BatchReply reply, send_(texts_.subspan(begin, end - begin)));
  if (reply) {
    server_works_ = true;
    std::move(reply->begin(), reply->end(), out_.vectors.begin() + static_cast<long>(begin));
    return {};
  }
  if (end - begin == 1) return embed_refused_text(begin, reply.error());
  const size_t middle = begin + (end - begin) / 2;
  STOKA_TRY(embed_range(begin, middle));
  return embed_range(middle, end);
}

Result<> BatchRun::embed_refused_text(size_t text, const BatchRefusal& refusal) {
  STOKA_TRY(probe(refusal));
  if (!refusal.is_too_long) {
    warn(text, "refused: " + refusal.message);
    return {};
  }
  WeightedSum sum;
  STOKA_ASSIGN(const Split split, embed_halves(trimmed(texts_[text]), refusal, kMaxSplits, sum));
  if (!split) {
    warn(text, "refused: " + split.error().message);
    return {};
  }
  out_.vectors[text] = normalized(sum.values);
  warn(text, out_.vectors[text].empty()
                 ? "refused: longer than the model reads, and the mean of its parts is zero"
                 : fmt::format("longer than the model reads: embedded in {} parts", sum.count));
  return {};
}

Result<> BatchRun::probe(const BatchRefusal& refusal) {
  if (server_works_) return {};
  const std::string texts[] = {std::string(kProbeText)};
  STOKA_ASSIGN(const BatchReply reply, send_(texts));
  if (!reply) return fail(refusal.error);
  server_works_ = true;
  return {};
}

Result<BatchRun::Split> BatchRun::embed_halves(std::string_view text, const BatchRefusal& refusal,
                                               int splits_left, WeightedSum& sum) {
  const auto [left, right] = split_in_half(text);
  if (splits_left == 0 || right.empty()) return Split(tl::unexpect, refusal);
  for (const std::string_view half : {left, right}) {
    const std::string texts[] = {std::string(half)};
    STOKA_ASSIGN(const BatchReply reply, send_(texts));
    if (reply) {
      sum.add(reply->front(), half.size());
    } else if (!reply.error().is_too_long) {
      return Split(tl::unexpect, reply.error());
    } else {
      STOKA_ASSIGN(const Split split, embed_halves(half, reply.error(), splits_left - 1, sum));
      if (!split) return split;
    }
  }
  return Split();
}

}  // namespace

Result<Embeddings> embed_in_batches(std::span<const std::string> texts, const BatchLimits& limits,
                                    const SendBatch& send, const EmbedProgress& progress) {
  BatchRun run(texts, send);
  for (size_t at = 0; at < texts.size();) {
    size_t end = at, bytes = 0;
    for (; end < texts.size() && (end == at || end - at < limits.max_texts); ++end) {
      bytes += json_bytes(texts[end]);
      if (trimmed(texts[end]).empty() || (end > at && bytes > limits.max_bytes)) break;
    }
    if (end > at) {
      STOKA_TRY(run.embed_batch(at, end));
    } else {
      run.warn(end++, "refused: the text is empty");
    }
    at = end;
    if (progress) progress(at);
  }
  return run.take();
}

}  // namespace stoka::embed
