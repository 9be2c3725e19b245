#include "embed/batches.h"

#include <fmt/format.h>

#include <utility>

#include "base/ascii.h"
#include "embed/vectors_check.h"
#include "text/utf8.h"

namespace stoka::embed {
namespace {

constexpr int kMostHalvings = 6;

size_t json_bytes(std::string_view text) {
  size_t out = 3;  // quotes and comma
  for (const char c : text)
    out += c == '"' || c == '\\' ? 2u : static_cast<unsigned char>(c) < ' ' ? 6u : 1u;
  return out;
}

// Of a trimmed text: at the white space next to its middle, or in the middle of a text that has
// none thereabouts. The second half is empty if there is nothing to halve.
std::pair<std::string_view, std::string_view> halves(std::string_view text) {
  const size_t middle = text.size() / 2;
  const size_t before = text.find_last_of(kWhiteSpace, middle);
  const size_t after = text.find_first_of(kWhiteSpace, middle);
  size_t at = before;
  if (before == std::string_view::npos ||
      (after != std::string_view::npos && after - middle < middle - before))
    at = after;
  if (at == std::string_view::npos || at < text.size() / 4 || at > text.size() / 4 * 3) {
    at = text::floor_border(text, middle);
    if (at == 0) return {text, {}};
  }
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at))};
}

struct Parts {
  std::vector<double> sum;
  size_t count = 0;

  void add(const Vector& vector, size_t weight) {
    sum.resize(vector.size());
    for (size_t i = 0; i < vector.size(); ++i)
      sum[i] += static_cast<double>(vector[i]) * static_cast<double>(weight);
    ++count;
  }
};

class Run {
 public:
  Run(std::span<const std::string> texts, const Ask& ask) : texts_(texts), ask_(ask) {
    out_.vectors.resize(texts.size());
  }

  Result<> batch(size_t begin, size_t end) {
    answers_ = false;
    return range(begin, end);
  }
  void note(size_t text, std::string what) { out_.notes.push_back({text, std::move(what)}); }
  Embedded take() { return std::move(out_); }

 private:
  Result<> range(size_t begin, size_t end);
  Result<> single(size_t text, const Refusal& refusal);
  Result<> probe(const Refusal& refusal);
  // Adds the parts of a text that was refused. The refusal of a part is that of the text.
  using Done = tl::expected<void, Refusal>;
  Result<Done> halve(std::string_view text, const Refusal& refusal, int halvings, Parts& parts);

  std::span<const std::string> texts_;
  const Ask& ask_;
  Embedded out_;
  bool answers_ = false;  // the server gave a vector since the batch began
};

Result<> Run::range(size_t begin, size_t end) {
  STOKA_ASSIGN(Reply reply, ask_(texts_.subspan(begin, end - begin)));
  if (reply) {
    answers_ = true;
    std::move(reply->begin(), reply->end(), out_.vectors.begin() + static_cast<long>(begin));
    return {};
  }
  if (end - begin == 1) return single(begin, reply.error());
  const size_t middle = begin + (end - begin) / 2;
  STOKA_TRY(range(begin, middle));
  return range(middle, end);
}

Result<> Run::single(size_t text, const Refusal& refusal) {
  STOKA_TRY(probe(refusal));
  if (!refusal.too_long) {
    note(text, "refused: " + refusal.what);
    return {};
  }
  Parts parts;
  STOKA_ASSIGN(const Done halved, halve(trimmed(texts_[text]), refusal, kMostHalvings, parts));
  if (!halved) {
    note(text, "refused: " + halved.error().what);
    return {};
  }
  out_.vectors[text] = unit(parts.sum);
  note(text, out_.vectors[text].empty()
                 ? "refused: longer than the model reads, and its parts cancel each other out"
                 : fmt::format("longer than the model reads: embedded in {} parts", parts.count));
  return {};
}

Result<> Run::probe(const Refusal& refusal) {
  if (answers_) return {};
  const std::string plain[] = {std::string(kProbe)};
  STOKA_ASSIGN(const Reply reply, ask_(plain));
  if (!reply) return fail(refusal.error);
  answers_ = true;
  return {};
}

Result<Run::Done> Run::halve(std::string_view text, const Refusal& refusal, int halvings,
                             Parts& parts) {
  const auto [left, right] = halves(text);
  if (halvings == 0 || right.empty()) return Done(tl::unexpect, refusal);
  for (const std::string_view half : {left, right}) {
    const std::string part[] = {std::string(half)};
    STOKA_ASSIGN(const Reply reply, ask_(part));
    if (reply) {
      parts.add(reply->front(), half.size());
    } else if (!reply.error().too_long) {
      return Done(tl::unexpect, reply.error());
    } else {
      STOKA_ASSIGN(const Done done, halve(half, reply.error(), halvings - 1, parts));
      if (!done) return done;
    }
  }
  return Done();
}

}  // namespace

Result<Embedded> embed_in_batches(std::span<const std::string> texts, const BatchLimits& limits,
                                  const Ask& ask, const EmbedProgress& progress) {
  Run run(texts, ask);
  for (size_t at = 0; at < texts.size();) {
    size_t end = at, bytes = 0;
    for (; end < texts.size() && (end == at || end - at < limits.texts); ++end) {
      bytes += json_bytes(texts[end]);
      if (trimmed(texts[end]).empty() || (end > at && bytes > limits.bytes)) break;
    }
    if (end > at) {
      STOKA_TRY(run.batch(at, end));
    } else {
      run.note(end++, "refused: no text");
    }
    at = end;
    if (progress) progress(at);
  }
  return run.take();
}

}  // namespace stoka::embed
