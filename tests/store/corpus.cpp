#include "store/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "search/vectors.h"

namespace stoka::store {
namespace {

std::vector<RankedChunk> best(std::vector<RankedChunk> all, size_t k) {
  std::sort(all.begin(), all.end(), [](const RankedChunk& a, const RankedChunk& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::tie(a.slug, a.index) < std::tie(b.slug, b.index);
  });
  if (all.size() > k) all.resize(k);
  return all;
}

uint32_t length_of(const ChunkRecord& chunk) {
  uint32_t sum = 0;
  for (const TermCount& term : chunk.terms) sum += term.count;
  return sum;
}

std::string term_name(uint32_t number) { return "t" + std::to_string(number); }

}  // namespace

std::string uuid(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  REQUIRE(name.size() <= 16);
  std::string id;
  for (const char c : name) {
    id += kDigits[static_cast<unsigned char>(c) >> 4];
    id += kDigits[static_cast<unsigned char>(c) & 15];
  }
  id.insert(0, 32 - id.size(), '0');
  for (const size_t dash : {8U, 13U, 18U, 23U}) id.insert(dash, 1, '-');
  return id;
}

ChunkRecord make_chunk(const std::string& slug, int index, std::vector<TermCount> terms,
                       std::vector<float> embedding) {
  ChunkRecord record;
  record.chunk.slug = slug;
  record.chunk.index = index;
  record.chunk.type = "blog";
  record.chunk.title = "title of " + slug;
  for (const TermCount& term : terms) record.chunk.content += term.term + " ";
  record.terms = std::move(terms);
  record.embedding = std::move(embedding);
  return record;
}

Document make_document(const std::string& slug) {
  Document document;
  document.slug = slug;
  document.title = "title of " + slug;
  document.type = "blog";
  document.path = "content/" + slug + ".md";
  document.content_hash = "hash of " + slug;
  return document;
}

std::vector<ChunkRecord> Corpus::make_chunks(const std::string& slug) {
  std::vector<ChunkRecord> chunks;
  const int count = 1 + static_cast<int>(random(4));
  for (int index = 0; index < count; ++index) {
    std::vector<TermCount> terms;
    for (uint32_t term = 0; term < 60; ++term) {
      if (random(term / 3 + 2) == 0) terms.push_back({term_name(term), 1 + random(3)});
    }
    std::vector<float> vector;
    for (int i = 0; i < 4; ++i) vector.push_back(static_cast<float>(random(3)) - 0.5F);
    search::normalize(vector);
    chunks.push_back(make_chunk(slug, index, std::move(terms), std::move(vector)));
  }
  return chunks;
}

void Corpus::put(IndexWriter& writer, const std::string& slug) {
  put(writer, slug, make_chunks(slug));
}

void Corpus::put(IndexWriter& writer, const std::string& slug, std::vector<ChunkRecord> chunks) {
  REQUIRE(writer.put_document(make_document(slug), chunks));
  documents_[slug] = std::move(chunks);
}

void Corpus::remove(IndexWriter& writer, const std::string& slug) {
  REQUIRE(writer.remove_document(slug));
  documents_.erase(slug);
}

std::vector<RankedChunk> Corpus::lexical(const std::vector<QueryTerm>& query, size_t k,
                                         const SearchFilter& filter) const {
  search::CorpusStats corpus;
  std::map<std::string, uint64_t> frequencies;
  for (const auto& [slug, chunks] : documents_) {
    for (const ChunkRecord& chunk : chunks) {
      ++corpus.documents;
      corpus.total_length += length_of(chunk);
      for (const TermCount& term : chunk.terms) ++frequencies[term.term];
    }
  }
  std::map<std::string, double> weights;
  for (const QueryTerm& term : query) weights[term.term] += term.weight;
  std::vector<RankedChunk> all;
  for (const auto& [slug, chunks] : documents_) {
    if (filter.exclude_slugs.contains(slug)) continue;
    for (const ChunkRecord& chunk : chunks) {
      RankedChunk found{slug, chunk.chunk.index, 0};
      bool matches = false;
      for (const auto& [name, weight] : weights) {
        for (const TermCount& term : chunk.terms) {
          if (term.term != name || !(weight > 0)) continue;
          matches = true;
          found.score += weight * search::idf(corpus.documents, frequencies[name]) *
                         search::term_weight(term.count, length_of(chunk), corpus.average_length(),
                                             search::Bm25Params{});
        }
      }
      if (matches) all.push_back(found);
    }
  }
  return best(std::move(all), k);
}

std::vector<RankedChunk> Corpus::dense(const std::vector<float>& query, size_t k,
                                       const SearchFilter& filter) const {
  std::vector<RankedChunk> all;
  for (const auto& [slug, chunks] : documents_) {
    if (filter.exclude_slugs.contains(slug)) continue;
    for (const ChunkRecord& chunk : chunks) {
      if (chunk.embedding.empty()) continue;
      all.push_back({slug, chunk.chunk.index,
                     search::dot(chunk.embedding.data(), query.data(), query.size())});
    }
  }
  return best(std::move(all), k);
}

std::vector<std::string> Corpus::slugs() const {
  std::vector<std::string> slugs;
  for (const auto& [slug, chunks] : documents_) slugs.push_back(slug);
  return slugs;
}

std::vector<RankedChunk> with_slugs(Store& store, const std::vector<ScoredChunk>& found) {
  std::vector<ChunkId> ids;
  for (const ScoredChunk& scored : found) ids.push_back(scored.id);
  const auto chunks = store.chunks(ids);
  REQUIRE(chunks);
  REQUIRE(chunks->size() == found.size());
  std::vector<RankedChunk> result;
  for (size_t i = 0; i < found.size(); ++i) {
    REQUIRE((*chunks)[i].id == found[i].id);
    result.push_back({(*chunks)[i].chunk.slug, (*chunks)[i].chunk.index, found[i].score});
  }
  return result;
}

void Corpus::check(Store& store) {
  search::CorpusStats corpus;
  std::map<std::string, uint64_t> frequencies;
  uint64_t vectors = 0;
  for (const auto& [slug, chunks] : documents_) {
    for (const ChunkRecord& chunk : chunks) {
      ++corpus.documents;
      corpus.total_length += length_of(chunk);
      vectors += chunk.embedding.empty() ? 0 : 1;
      for (const TermCount& term : chunk.terms) ++frequencies[term.term];
    }
  }
  const auto stats = store.stats();
  REQUIRE(stats);
  CHECK(stats->documents == documents_.size());
  CHECK(stats->chunks == corpus.documents);
  CHECK(stats->vectors == vectors);
  const auto totals = store.corpus_stats();
  REQUIRE(totals);
  CHECK(totals->documents == corpus.documents);
  CHECK(totals->total_length == corpus.total_length);

  std::vector<std::string> terms;
  std::vector<uint64_t> expected;
  for (uint32_t term = 0; term < 61; ++term) {
    terms.push_back(term_name(term));
    expected.push_back(frequencies[term_name(term)]);
  }
  const auto found_frequencies = store.document_frequencies(terms);
  REQUIRE(found_frequencies);
  CHECK(*found_frequencies == expected);

  for (int round = 0; round < 12; ++round) {
    std::vector<QueryTerm> query;
    for (uint32_t i = 0; i < 1 + random(5); ++i) {
      query.push_back({term_name(random(62)), 0.25 * (1 + random(8))});
    }
    SearchFilter filter;
    for (const std::string& slug : slugs()) {
      if (random(4) == 0) filter.exclude_slugs.insert(slug);
    }
    std::vector<float> vector;
    for (int i = 0; i < 4; ++i) vector.push_back(static_cast<float>(random(3)) - 0.9F);
    search::normalize(vector);
    for (const size_t k : {1U, 7U, 1000U}) {
      const auto lexical_found = store.search_lexical(query, k, filter);
      REQUIRE(lexical_found);
      CHECK((with_slugs(store, *lexical_found) == lexical(query, k, filter)));
      const auto dense_found = store.search_dense(vector, k, filter);
      REQUIRE(dense_found);
      CHECK((with_slugs(store, *dense_found) == dense(vector, k, filter)));
    }
  }
}

}  // namespace stoka::store
