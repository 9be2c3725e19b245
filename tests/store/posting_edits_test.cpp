#include "store/posting_edits.h"

#include <doctest/doctest.h>

#include "search/scan.h"

namespace posting_edits_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using Postings = std::vector<search::Posting>;

std::string shown(const std::vector<ChunkTerm>& terms) {
  std::string out;
  for (const ChunkTerm& term : terms) {
    out += std::to_string(term.term) + "x" + std::to_string(term.count) + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("encoded chunk terms are decoded, and damaged bytes are detected") {
  const std::vector<ChunkTerm> terms = {{1, 3}, {300, 1}, {70000, 2000}};
  const std::string bytes = encode_chunk_terms(terms);
  std::vector<ChunkTerm> found = {{9, 9}};
  REQUIRE(decode_chunk_terms(bytes, found));
  CHECK(shown(found) == shown(terms));
  REQUIRE(decode_chunk_terms(encode_chunk_terms({}), found));
  CHECK(found.empty());
  CHECK_FALSE(decode_chunk_terms(bytes.substr(0, bytes.size() - 1), found));
  CHECK_FALSE(decode_chunk_terms("\xFF", found));
}

TEST_CASE("a block that is empty, damaged or in the wrong place is refused") {
  const std::string bytes = search::encode_postings(Postings{{1030, 1, 9}, {2000, 2, 8}});
  Postings found;
  REQUIRE(decode_block(1, bytes, found));
  CHECK((found == Postings{{1030, 1, 9}, {2000, 2, 8}}));
  CHECK_FALSE(decode_block(0, bytes, found));
  CHECK_FALSE(decode_block(2, bytes, found));
  CHECK_FALSE(decode_block(1, "", found));
  CHECK_FALSE(decode_block(1, bytes.substr(0, bytes.size() - 1), found));
  const std::string over_the_end = search::encode_postings(Postings{{1030, 1, 9}, {2048, 2, 8}});
  CHECK_FALSE(decode_block(1, over_the_end, found));
}

TEST_CASE("terms of a new chunk are sorted, and counts of zero are left out") {
  PostingEdits edits;
  std::vector<ChunkTerm> terms = {{7, 2}, {3, 0}, {5, 4}};
  CHECK(edits.add(2048, terms) == 6U);
  CHECK(shown(terms) == "5x4 7x2 ");
  REQUIRE(edits.blocks().size() == 2);
  const auto& [key, edit] = *edits.blocks().begin();
  CHECK(key.block == 2048 / search::kBlockIds);
  CHECK(key.term == 5);
  CHECK(edit.removed.empty());
  CHECK((edit.added == Postings{{2048, 4, 6}}));
  CHECK((edits.frequencies() == std::map<int64_t, int64_t>{{5, 1}, {7, 1}}));
}

TEST_CASE("a chunk with a duplicate term is refused and changes nothing") {
  PostingEdits edits;
  std::vector<ChunkTerm> terms = {{7, 2}, {5, 1}, {7, 1}};
  const auto length = edits.add(1, terms);
  REQUIRE_FALSE(length);
  CHECK(length.error().kind == ErrorKind::internal);
  CHECK(edits.blocks().empty());
  CHECK(edits.frequencies().empty());
  std::vector<ChunkTerm> one_counts = {{7, 2}, {7, 0}};
  CHECK(edits.add(1, one_counts) == 2U);
}

TEST_CASE("removed and added terms cancel out in the document frequencies") {
  PostingEdits edits;
  const std::vector<ChunkTerm> gone = {{1, 1}, {2, 5}};
  CHECK(edits.remove(10, gone) == 6);
  CHECK(edits.remove(11, gone) == 6);
  std::vector<ChunkTerm> come = {{2, 1}, {3, 1}};
  REQUIRE(edits.add(1030, come));
  std::vector<ChunkTerm> more = {{2, 1}};
  REQUIRE(edits.add(1031, more));
  CHECK((edits.frequencies() == std::map<int64_t, int64_t>{{1, -2}, {3, 1}}));
  CHECK(edits.blocks().size() == 4);
  CHECK((edits.blocks().at({0, 2}).removed == std::vector<int64_t>{10, 11}));
  CHECK((edits.blocks().at({1, 2}).added == Postings{{1030, 1, 2}, {1031, 1, 1}}));
}

TEST_CASE("an edit removes postings from a block and appends others") {
  const std::string before = search::encode_postings(Postings{{1, 1, 9}, {5, 2, 8}, {9, 3, 7}});
  struct {
    std::string before;
    PostingBlockEdit edit;
    Postings after;
  } const cases[] = {
      {before, {{}, {{12, 4, 6}}}, {{1, 1, 9}, {5, 2, 8}, {9, 3, 7}, {12, 4, 6}}},
      {before, {{1, 9}, {}}, {{5, 2, 8}}},
      {before, {{1, 5, 9}, {}}, {}},
      {before, {{1, 5, 9}, {{10, 1, 1}}}, {{10, 1, 1}}},
      {before, {{7}, {}}, {{1, 1, 9}, {5, 2, 8}, {9, 3, 7}}},
      {"", {{}, {{3, 1, 1}, {4, 1, 2}}}, {{3, 1, 1}, {4, 1, 2}}},
      {"", {{3}, {}}, {}},
  };
  for (const auto& c : cases) {
    std::string after = "left over";
    REQUIRE(apply_edit(c.edit, c.before, after));
    Postings found;
    REQUIRE(search::decode_postings(after, found));
    CHECK((found == c.after));
    CHECK(after.empty() == c.after.empty());
  }
  std::string after;
  CHECK_FALSE(apply_edit({{}, {{12, 4, 6}}}, before.substr(0, before.size() - 1), after));
}

}  // namespace posting_edits_test
