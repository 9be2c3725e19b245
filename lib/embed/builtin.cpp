#include "embed/builtin.h"

#include <algorithm>
#include <unordered_map>

#include "text/words.h"

namespace stoka::embed {
namespace {

constexpr size_t kMaxCachedRows = 20000;
// The share of the time of a refit that is spent on the basis. The rest is spent on the vectors.
constexpr double kFitTimeShare = 0.8;
constexpr uint64_t kRefitDivisor = 5;  // refit if more than 1/5 of the chunks have changed

// The terms of all chunks as numbers. The fit and the computation of the vectors both use it, so
// the store is read once.
struct Corpus {
  std::vector<std::string> vocabulary;
  std::vector<ChunkId> ids;  // chunk ids, ascending
  std::vector<TermCount> entries;
  std::vector<size_t> ends;  // for each chunk the end of its part of `entries`

  ChunkTerms chunk_terms(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    return {entries.data() + begin, ends[i] - begin};
  }
};

Result<Corpus> read_corpus(store::IndexWriter& writer, const std::stop_token& stop) {
  Corpus corpus;
  std::unordered_map<std::string, uint32_t> numbers;
  STOKA_TRY(writer.each_chunk_terms([&](ChunkId id, std::span<const store::TermCount> terms) {
    for (const auto& [term, count] : terms) {
      const auto [at, is_new] = numbers.emplace(term, static_cast<uint32_t>(numbers.size()));
      if (is_new) corpus.vocabulary.push_back(term);
      corpus.entries.push_back({at->second, count});
    }
    corpus.ids.push_back(id);
    corpus.ends.push_back(corpus.entries.size());
    return !stop.stop_requested();
  }));
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "fitting was stopped");
  return corpus;
}

// Computes the vector of a text that has each term of `rows` as often as `counts` says.
Vector fold_rows(std::span<const store::BasisRow* const> rows, std::span<const uint32_t> counts) {
  if (rows.empty()) return {};
  const size_t dim = rows.front()->values.size();
  FoldInSum sum(static_cast<int>(dim));
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i]->values.size() == dim) sum.add(rows[i]->weight, counts[i], rows[i]->values);
  return sum.finish();
}

bool needs_fit(const store::IndexStats& stats) {
  if (stats.chunks == 0) return false;
  return stats.fitted_chunks == 0 || stats.changed_since_fit * kRefitDivisor > stats.fitted_chunks;
}

}  // namespace

std::vector<store::TermCount> count_terms(std::string_view text) {
  std::vector<std::string> terms = text::terms(text);
  std::sort(terms.begin(), terms.end());
  std::vector<store::TermCount> counts;
  for (std::string& term : terms) {
    if (counts.empty() || counts.back().term != term) counts.push_back({std::move(term), 0});
    ++counts.back().count;
  }
  return counts;
}

Result<Vector> BuiltinEmbedder::embed_query(std::string_view text, std::stop_token) {
  if (!store_) return Vector();
  return FoldInEmbedder(*store_).fold_in(count_terms(text));
}

Result<Embeddings> BuiltinEmbedder::embed_documents(std::span<const std::string> texts,
                                                    const EmbedProgress& progress,
                                                    std::stop_token stop) {
  if (!store_) return Embeddings{std::vector<Vector>(texts.size()), {}};
  std::vector<store::TermCount> terms;
  return index_embedder()->embed(
      texts,
      [&](size_t text) -> std::span<const store::TermCount> {
        return terms = count_terms(texts[text]);
      },
      progress, stop);
}

std::unique_ptr<IndexEmbedder> BuiltinEmbedder::index_embedder() {
  if (!store_) return Embedder::index_embedder();
  return std::make_unique<FoldInEmbedder>(*store_);
}

Result<Embeddings> FoldInEmbedder::embed(std::span<const std::string> texts,
                                         const TermsOfText& terms, const EmbedProgress& progress,
                                         std::stop_token) {
  Embeddings out;
  for (size_t i = 0; i < texts.size(); ++i) {
    STOKA_ASSIGN(Vector vector, fold_in(terms(i)));
    out.vectors.push_back(std::move(vector));
    if (progress) progress(i + 1);
  }
  return out;
}

Result<Vector> FoldInEmbedder::fold_in(std::span<const store::TermCount> terms) {
  if (cached_rows_.size() > kMaxCachedRows) cached_rows_.clear();
  std::vector<std::string> missing;
  for (const auto& [term, count] : terms)
    if (!cached_rows_.contains(term)) missing.push_back(term);
  if (!missing.empty()) {
    STOKA_ASSIGN(std::vector<store::BasisRow> rows, store_.basis_rows(missing));
    for (std::string& term : missing) cached_rows_.emplace(std::move(term), std::nullopt);
    for (store::BasisRow& row : rows) {
      const std::string term = row.term;
      cached_rows_[term] = std::move(row);
    }
  }

  std::vector<const store::BasisRow*> rows;
  std::vector<uint32_t> counts;
  for (const auto& [term, count] : terms) {
    const auto& row = cached_rows_.find(term)->second;
    if (!row) continue;
    rows.push_back(&*row);
    counts.push_back(count);
  }
  return fold_rows(rows, counts);
}

Result<bool> refit_if_needed(store::IndexReader& store, store::IndexWriter& writer,
                             const FitOptions& options, const Progress& progress,
                             std::stop_token stop) {
  STOKA_ASSIGN(const store::IndexStats stats, store.stats());
  if (!needs_fit(stats)) return false;
  STOKA_ASSIGN(const Corpus corpus, read_corpus(writer, stop));

  std::vector<ChunkTerms> chunks;
  for (size_t i = 0; i < corpus.ids.size(); ++i) chunks.push_back(corpus.chunk_terms(i));
  const Progress fit_progress = [&](double share) {
    if (progress) progress(share * kFitTimeShare);
  };
  STOKA_ASSIGN(Basis basis, fit(chunks, corpus.vocabulary.size(), options, fit_progress, stop));
  if (basis.dim == 0) return false;

  std::vector<store::BasisRow> rows(basis.rows.size());
  std::vector<const store::BasisRow*> row_by_term(corpus.vocabulary.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t term = basis.rows[i].term;
    rows[i] = {corpus.vocabulary[term], basis.rows[i].weight, std::move(basis.rows[i].values)};
    row_by_term[term] = &rows[i];
  }

  size_t folded = 0;
  const auto vector_of = [&](ChunkId id) -> Vector {
    const auto at = std::lower_bound(corpus.ids.begin(), corpus.ids.end(), id);
    if (at == corpus.ids.end() || *at != id) return {};
    std::vector<const store::BasisRow*> used;
    std::vector<uint32_t> counts;
    for (const auto& [term, count] :
         corpus.chunk_terms(static_cast<size_t>(at - corpus.ids.begin()))) {
      if (row_by_term[term] == nullptr) continue;
      used.push_back(row_by_term[term]);
      counts.push_back(count);
    }
    ++folded;
    if (progress)
      progress(kFitTimeShare + (1 - kFitTimeShare) * static_cast<double>(folded) /
                                   static_cast<double>(corpus.ids.size()));
    return fold_rows(used, counts);
  };
  STOKA_TRY(writer.replace_basis(rows, basis.dim, corpus.ids.size(), vector_of));
  return true;
}

}  // namespace stoka::embed
