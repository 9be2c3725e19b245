#include "store/versions.h"

#include <doctest/doctest.h>

#include "store/open.h"
#include "store/temp_database.h"

namespace stoka::store {

std::vector<ChunkRecord> versioned_chunks(const std::string& slug, int n) {
  std::vector<ChunkRecord> chunks;
  for (int index = 0; index < 1 + n % 4; ++index) {
    const auto all = static_cast<uint32_t>(n % 5 + 1);
    chunks.push_back(make_chunk(
        slug, index,
        {{"t0", all}, {"v" + std::to_string(n), 1}, {"t" + std::to_string(1 + n % 50), 1}},
        {n % 2 ? 1.0F : 0.0F, n % 2 ? 0.0F : 1.0F, 0, 0}));
    chunks.back().chunk.section = "version " + std::to_string(n);
  }
  return chunks;
}

Document versioned_document(const std::string& slug, int n) {
  Document document = make_document(slug);
  document.content_hash = std::to_string(n);
  return document;
}

void check_consistency(Store& store) {
  const TempDatabase clean;
  const auto reference = store::open(clean.db(), OpenMode::read_write);
  REQUIRE(reference);
  const auto writer = (*reference)->begin_index();
  REQUIRE(writer);
  const auto documents = store.documents();
  REQUIRE(documents);
  Corpus corpus(1);
  for (const DocumentInfo& info : *documents) {
    const std::string& slug = info.document.slug;
    const auto expected = versioned_chunks(slug, std::stoi(info.document.content_hash));
    corpus.put(**writer, slug, expected);
    const auto chunks = store.document_chunks(slug);
    REQUIRE(chunks);
    REQUIRE(chunks->size() == expected.size());
    for (const StoredChunk& stored : *chunks) {
      CHECK(stored.chunk.section == "version " + info.document.content_hash);
    }
  }
  corpus.check(store);
}

void write_versions(const std::string& url, int first,
                    const std::function<bool(IndexWriter& writer, int n)>& go_on) {
  const auto store = store::open(url, OpenMode::read_write);
  if (!store) return;
  const auto writer = (*store)->begin_index();
  if (!writer) return;
  for (int n = first;; ++n) {
    const std::string slug = "post-" + std::to_string(n % 7);
    const auto done = n % 11 == 10 ? (*writer)->remove_document(slug)
                                   : (*writer)->put_document(versioned_document(slug, n),
                                                             versioned_chunks(slug, n));
    if (!done || !go_on(**writer, n)) return;
  }
}

}  // namespace stoka::store
