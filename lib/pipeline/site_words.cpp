#include "pipeline/site_words.h"

#include <algorithm>
#include <set>

#include "text/words.h"

namespace stoka::pipeline {
namespace {

// A word that one in a hundred documents has, and three at least, is one that the site writes
// about; ten are enough on any site.
constexpr size_t kMinTexts = 3;
constexpr size_t kMaxTexts = 10;

// Of a word's best chunks, that many for each text that is wanted are looked at.
constexpr size_t kChunksOfAText = 20;

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

Result<bool> SiteWordLookup::is_in_several_texts(const Catalog& catalog, std::string_view word) {
  const size_t wanted = std::clamp(catalog.documents().size() / 100, kMinTexts, kMaxTexts);
  const std::string stem = text::stem(word);
  STOKA_ASSIGN(const std::vector<uint64_t> chunks, store_.document_frequencies({&stem, 1}));
  if (chunks.front() < wanted) return false;
  const store::QueryTerm term{stem};
  STOKA_ASSIGN(const std::vector<store::ScoredChunk> found,
               store_.search_lexical({&term, 1}, wanted * kChunksOfAText, {}));
  std::vector<ChunkId> ids;
  for (const store::ScoredChunk& chunk : found) ids.push_back(chunk.id);
  STOKA_ASSIGN(const std::vector<store::StoredChunk> texts, store_.chunks(ids));
  std::set<std::string> slugs;
  for (const store::StoredChunk& text : texts) slugs.insert(text.chunk.slug);
  return slugs.size() >= wanted;
}

route::SiteWords SiteWordLookup::words() {
  return {[this](std::string_view word) {
            const Catalog* site = catalog();
            return site && site->names(word);
          },
          [this](std::string_view word) {
            const Catalog* site = catalog();
            if (!site) return false;
            if (site->is_in_a_title(word)) return true;
            auto several = is_in_several_texts(*site, word);
            if (!several) outcome_ = fail(several.error());
            return several && *several;
          }};
}

}  // namespace stoka::pipeline
