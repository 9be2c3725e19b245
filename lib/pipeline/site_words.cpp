#include "pipeline/site_words.h"

#include <algorithm>
#include <set>

#include "text/words.h"

namespace stoka::pipeline {
namespace {

// A word is a subject of the site if one in a hundred documents has it; the required number of
// documents is at least 3 and at most 10.
constexpr size_t kMinDocuments = 3;
constexpr size_t kMaxDocuments = 10;

// How many of a word's best chunks are read for each required document, which may have several.
constexpr size_t kChunksPerDocument = 20;

}  // namespace

const Catalog* SiteWordLookup::catalog() {
  if (!catalog_ && outcome_) {
    if (auto read = read_catalog_())
      catalog_ = std::move(*read);
    else
      outcome_ = fail(read.error());
  }
  return outcome_ ? catalog_.get() : nullptr;
}

Result<bool> SiteWordLookup::is_in_several_documents(const Catalog& catalog,
                                                     std::string_view word) {
  const size_t required =
      std::clamp(catalog.documents().size() / 100, kMinDocuments, kMaxDocuments);
  const std::string stem = text::stem(word);
  STOKA_ASSIGN(const std::vector<uint64_t> chunks, index_.document_frequencies({&stem, 1}));
  if (chunks.front() < required) return false;
  const store::QueryTerm term{stem};
  STOKA_ASSIGN(const std::vector<store::ScoredChunk> found,
               index_.search_lexical({&term, 1}, required * kChunksPerDocument, {}));
  std::vector<ChunkId> ids;
  for (const store::ScoredChunk& chunk : found) ids.push_back(chunk.id);
  STOKA_ASSIGN(const std::vector<store::StoredChunk> loaded, index_.chunks(ids));
  std::set<std::string> slugs;
  for (const store::StoredChunk& stored : loaded) slugs.insert(stored.chunk.slug);
  return slugs.size() >= required;
}

route::SiteWords SiteWordLookup::words() {
  return {[this](std::string_view word) {
            const Catalog* site = catalog();
            return site && site->is_in_slug_or_tag(word);
          },
          [this](std::string_view word) {
            const Catalog* site = catalog();
            if (!site) return false;
            if (site->is_in_title(word)) return true;
            auto several = is_in_several_documents(*site, word);
            if (!several) outcome_ = fail(several.error());
            return several && *several;
          }};
}

}  // namespace stoka::pipeline
