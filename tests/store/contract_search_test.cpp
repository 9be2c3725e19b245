#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "store/contract.h"
#include "store/corpus.h"

namespace contract_search_test {

using namespace stoka;
using namespace stoka::store;

TEST_CASE("an empty index finds nothing") {
  const ContractStore store;
  const QueryTerm query[] = {{"t1", 1}};
  const float vector[] = {1, 0};
  const auto lexical = store->search_lexical(query, 5, {});
  REQUIRE(lexical);
  CHECK(lexical->empty());
  const auto dense = store->search_dense(vector, 5, {});
  REQUIRE(dense);
  CHECK(dense->empty());
}

TEST_CASE("searches agree with the formula while documents are added, replaced and removed") {
  const ContractStore store;
  Corpus corpus(42);
  auto writer = store->begin_index();
  REQUIRE(writer);
  for (int step = 0; step < 40; ++step) {
    const std::string slug = "post-" + std::to_string(corpus.random(25));
    if (corpus.random(4) == 0) {
      corpus.remove(**writer, slug);
    } else {
      corpus.put(**writer, slug);
    }
    if (step % 10 == 9) corpus.check(*store);
  }
  const auto other = store.open();
  corpus.check(*other);
  REQUIRE((*writer)->clear());
  Corpus(1).check(*store);
  Corpus(1).check(*other);
}

TEST_CASE("ties are ordered by slug, then chunk index, whatever the order of indexing") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(1);
  for (const char* slug : {"m", "z", "a", "q"}) {
    std::vector<ChunkRecord> chunks;
    for (int index = 4; index >= 0; --index) {
      chunks.push_back(make_chunk(slug, index, {{"same", 2}}, {1, 0}));
    }
    corpus.put(**writer, slug, chunks);
  }
  for (const size_t k : {1U, 3U, 5U, 7U, 20U, 50U}) {
    const QueryTerm query[] = {{"same", 1}};
    const float vector[] = {1, 0};
    const auto lexical = store->search_lexical(query, k, {});
    REQUIRE(lexical);
    CHECK((with_slugs(*store, *lexical) == corpus.lexical({{"same", 1}}, k, {})));
    const auto dense = store->search_dense(vector, k, {});
    REQUIRE(dense);
    CHECK((with_slugs(*store, *dense) == corpus.dense({1, 0}, k, {})));
  }
}

TEST_CASE(
    "a search query may be empty, repeat a term, contain unknown terms and have weights of zero") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(3);
  for (int i = 0; i < 5; ++i) corpus.put(**writer, "post-" + std::to_string(i));
  const std::vector<std::vector<QueryTerm>> queries = {{},
                                                       {{"nowhere", 1}},
                                                       {{"t3", 1}, {"t3", 0.5}},
                                                       {{"t3", 0}, {"t5", -1}},
                                                       {{"", 1}, {"t0", 1}}};
  for (const auto& query : queries) {
    const auto found = store->search_lexical(query, 10, {});
    REQUIRE(found);
    CHECK((with_slugs(*store, *found) == corpus.lexical(query, 10, {})));
  }
}

TEST_CASE("the order of the terms of a query does not matter") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(4);
  for (int i = 0; i < 20; ++i) corpus.put(**writer, "post-" + std::to_string(i));
  const QueryTerm one[] = {{"t1", 0.3}, {"t2", 0.7}, {"t9", 1.1}};
  const QueryTerm two[] = {{"t9", 1.1}, {"t1", 0.3}, {"t2", 0.7}};
  const auto first = store->search_lexical(one, 50, {});
  const auto second = store->search_lexical(two, 50, {});
  REQUIRE(first);
  REQUIRE(second);
  CHECK((with_slugs(*store, *first) == with_slugs(*store, *second)));
}

TEST_CASE("chunks without a vector are found by lexical search only") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(5);
  corpus.put(**writer, "a", {make_chunk("a", 0, {{"t1", 1}}, {1, 0, 0, 0})});
  corpus.put(**writer, "b", {make_chunk("b", 0, {{"t1", 1}})});
  corpus.check(*store);
}

TEST_CASE("a query of another dimension is refused") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(5);
  corpus.put(**writer, "a", {make_chunk("a", 0, {{"t1", 1}}, {1, 0})});
  const float vector[] = {1, 0, 0};
  const auto found = store->search_dense(vector, 5, {});
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == ErrorKind::config);
  CHECK(found.error().message == "the query has 3 dimensions, the index 2");
}

TEST_CASE("threads that search during a replacement see the old or the new document") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(6);
  const auto versioned_chunks = [](const char* term) {
    return std::vector<ChunkRecord>{make_chunk("a", 0, {{"t1", 1}, {term, 1}}, {1, 0, 0, 0}),
                                    make_chunk("a", 1, {{"t1", 1}, {term, 1}}, {0, 1, 0, 0})};
  };
  corpus.put(**writer, "a", versioned_chunks("old"));
  std::vector<std::string> wrong(static_cast<size_t>(std::min(4, store.max_callers())));
  std::vector<std::thread> threads;
  for (std::string& complaint : wrong) {
    threads.emplace_back([&store, &complaint] {
      const QueryTerm query[] = {{"t1", 1}};
      const float vector[] = {1, 0, 0, 0};
      for (int i = 0; i < 150 && complaint.empty(); ++i) {
        const auto lexical = store->search_lexical(query, 5, {});
        const auto dense = store->search_dense(vector, 5, {});
        if (!lexical) complaint = lexical.error().message;
        if (!dense) complaint = dense.error().message;
        if (lexical && lexical->size() != 2) complaint = "not two by words";
        if (dense && dense->size() != 2) complaint = "not two by vector";
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    corpus.put(**writer, "a", versioned_chunks(i % 2 ? "old" : "new"));
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& complaint : wrong) CHECK(complaint == "");
  corpus.check(*store);
}

TEST_CASE("a filter that excludes nearly everything still returns all that remain") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(9);
  SearchFilter filter;
  for (int i = 0; i < 300; ++i) {
    const std::string slug = "post-" + std::to_string(i);
    // The remaining chunks are the worst ones: a vector index returns all the others first.
    const float cosine = i % 100 == 50 ? 0.0F : 1.0F;
    const uint32_t count = i % 100 == 50 ? 1 : 9;
    corpus.put(**writer, slug,
               {make_chunk(slug, 0, {{"t1", count}, {"t2", 1}}, {cosine, 1 - cosine, 0, 0})});
    if (i % 100 != 50) filter.exclude_slugs.insert(slug);
  }
  REQUIRE((*writer)->finish(Instant(std::chrono::milliseconds(1))));
  const QueryTerm query[] = {{"t1", 1}};
  const float vector[] = {1, 0, 0, 0};
  const auto check = [&](size_t wanted) {
    const auto lexical = store->search_lexical(query, 10, filter);
    REQUIRE(lexical);
    CHECK(lexical->size() == wanted);
    CHECK((with_slugs(*store, *lexical) == corpus.lexical({{"t1", 1}}, 10, filter)));
    const auto dense = store->search_dense(vector, 10, filter);
    REQUIRE(dense);
    CHECK(dense->size() == wanted);
    CHECK((with_slugs(*store, *dense) == corpus.dense({1, 0, 0, 0}, 10, filter)));
  };
  check(3);
  for (const char* slug : {"post-50", "post-150", "post-250", "no-such-post"}) {
    filter.exclude_slugs.insert(slug);
  }
  check(0);
  filter.exclude_slugs.clear();
  check(10);
}

TEST_CASE("another store sees a whole document or none while it is replaced") {
  const ContractStore store;
  const auto other = store.open();
  auto writer = store->begin_index();
  REQUIRE(writer);
  const auto versioned_chunks = [](int n) {
    std::vector<ChunkRecord> chunks;
    for (int index = 0; index < 2 + n % 3; ++index) {
      chunks.push_back(make_chunk("a", index, {{"t1", 1}}, {1, 0, 0, 0}));
      chunks.back().chunk.section = std::to_string(n);
    }
    return chunks;
  };
  const auto complaint_about = [](Store& reader) -> std::string {
    const auto documents = reader.documents();
    const auto chunks = reader.document_chunks("a");
    const auto stats = reader.stats();
    if (!documents) return documents.error().message;
    if (!chunks) return chunks.error().message;
    if (!stats) return stats.error().message;
    if (stats->chunks != 0 && stats->chunks != stats->vectors) return "vectors apart from chunks";
    if (stats->documents > 1 || (stats->chunks == 0) != (stats->documents == 0)) {
      return "documents apart from chunks";
    }
    for (const DocumentInfo& info : *documents) {
      if (info.chunks != 2 + std::stoi(info.document.content_hash) % 3) return "a mixed document";
    }
    if (chunks->empty()) return "";
    const std::string section = chunks->front().chunk.section;
    if (static_cast<int>(chunks->size()) != 2 + std::stoi(section) % 3) return "half a document";
    std::vector<ChunkId> ids;
    for (const StoredChunk& stored : *chunks) {
      if (stored.chunk.section != section) return "chunks of two versions";
      ids.push_back(stored.id);
    }
    const auto again = reader.chunks(ids, true);
    if (!again) return again.error().message;
    if (!again->empty() && again->size() != ids.size()) return "some chunks of an old version";
    for (const StoredChunk& stored : *again) {
      if (stored.embedding.size() != 4) return "a chunk without its vector";
    }
    return "";
  };
  std::atomic<bool> done = false;
  std::string complaint;
  std::thread reader([&] {
    while (!done && complaint.empty()) complaint = complaint_about(*other);
  });
  for (int n = 0; n < 40; ++n) {
    if (n % 8 == 7) {
      CHECK((*writer)->remove_document("a"));
    } else {
      Document document = make_document("a");
      document.content_hash = std::to_string(n);
      CHECK((*writer)->put_document(document, versioned_chunks(n)));
    }
  }
  done = true;
  reader.join();
  CHECK(complaint == "");
}

}  // namespace contract_search_test
