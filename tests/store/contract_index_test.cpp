#include <doctest/doctest.h>

#include <cmath>

#include "store/contract.h"
#include "store/corpus.h"

namespace contract_index_test {

using namespace stoka;
using namespace stoka::store;

namespace {

Document full_document() {
  Document document;
  document.slug = "philosophy-bounded-execution";
  document.title = "Bounded \"execution\" – ünïcode 漢字";
  document.type = "philosophy";
  document.path = "content/a 'quoted' path.md";
  document.url = "/blog/philosophy-bounded-execution";
  document.description = "what it is";
  document.author = "someone";
  document.tags = {"philosophy", "systems, \"quoted\""};
  document.date = parse_date("2026-04-12");
  document.reading_minutes = 8;
  document.content_hash = "0123456789abcdef";
  return document;
}

ChunkRecord full_chunk(int index) {
  const Document document = full_document();
  ChunkRecord record;
  record.chunk.slug = document.slug;
  record.chunk.index = index;
  record.chunk.type = document.type;
  record.chunk.title = document.title;
  record.chunk.section = index == 0 ? "" : "Section " + std::to_string(index);
  record.chunk.tags = document.tags;
  record.chunk.date = document.date;
  record.chunk.reading_minutes = 8;
  record.chunk.url = document.url;
  record.chunk.content = "first paragraph\n\nsecond 'paragraph' \xF0\x9F\x98\x80";
  record.terms = {{"first", 1}, {"paragraph", 2}, {"3.4.10", 1}};
  record.embedding = {0.6F, static_cast<float>(index), -0.8F};
  return record;
}

void check_same(const Chunk& a, const Chunk& b) {
  CHECK(a.slug == b.slug);
  CHECK(a.index == b.index);
  CHECK(a.type == b.type);
  CHECK(a.title == b.title);
  CHECK(a.section == b.section);
  CHECK(a.tags == b.tags);
  CHECK((a.date == b.date));
  CHECK(a.reading_minutes == b.reading_minutes);
  CHECK(a.url == b.url);
  CHECK(a.content == b.content);
}

ChunkId only_id(Store& store, const std::string& slug) {
  const auto chunks = store.document_chunks(slug);
  REQUIRE(chunks);
  REQUIRE(chunks->size() == 1);
  return chunks->front().id;
}

}  // namespace

TEST_CASE("a new store has no index") {
  const ContractStore store;
  const auto identity = store->identity();
  REQUIRE(identity);
  CHECK_FALSE(identity->has_value());
  const auto stats = store->stats();
  REQUIRE(stats);
  CHECK(stats->documents == 0);
  CHECK(stats->dim == 0);
  CHECK_FALSE(stats->indexed_at.has_value());
  const auto documents = store->documents();
  REQUIRE(documents);
  CHECK(documents->empty());
}

TEST_CASE("the identity and the end of an index run are stored") {
  const ContractStore store;
  const IndexIdentity identity{"tei:model@sha", 1024, "v1 max=512 overlap=64 prefix=full",
                               "q: ", "passage: {text}"};
  const Instant now{std::chrono::milliseconds(1775988000123)};
  {
    auto writer = store->begin_index();
    REQUIRE(writer);
    REQUIRE((*writer)->set_identity({"other", 0, "", ""}));
    REQUIRE((*writer)->set_identity(identity));
    REQUIRE((*writer)->finish(now));
  }
  const auto again = store.open();
  const auto found = again->identity();
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((**found == identity));
  CHECK((again->stats()->indexed_at == now));
}

TEST_CASE("an interrupted index run is reported") {
  const ContractStore store;
  const ChunkRecord chunks[] = {full_chunk(0)};
  {
    auto writer = store->begin_index();
    REQUIRE(writer);
    CHECK_FALSE(store->stats()->unfinished);
    REQUIRE((*writer)->put_document(full_document(), chunks));
  }
  CHECK(store->stats()->unfinished);
  auto writer = store->begin_index();
  REQUIRE(writer);
  REQUIRE((*writer)->finish(Instant()));
  CHECK_FALSE(store->stats()->unfinished);
}

TEST_CASE("an interrupted index run that wrote no chunk is reported") {
  const ContractStore store;
  const ChunkRecord chunks[] = {full_chunk(0)};
  const auto run = [&](const auto& change, bool finish) {
    auto writer = store->begin_index();
    REQUIRE(writer);
    REQUIRE(change(**writer));
    if (finish) REQUIRE((*writer)->finish(Instant()));
    CHECK(store->stats()->unfinished == !finish);
  };
  const auto fill = [&](IndexWriter& writer) {
    return writer.put_document(full_document(), chunks);
  };
  const auto remove = [&](IndexWriter& writer) {
    return writer.remove_document(full_document().slug);
  };
  const auto clear = [](IndexWriter& writer) { return writer.clear(); };
  const auto fit = [](IndexWriter& writer) {
    return writer.replace_basis({}, 3, 1, [](ChunkId) { return std::vector<float>(); });
  };
  run(fill, true);
  run(fit, false);
  run(fit, true);
  run(remove, false);
  run(remove, true);
  run(fill, true);
  run(clear, false);
  run(clear, true);
  CHECK_FALSE(store.open()->stats()->unfinished);
}

TEST_CASE("documents and chunks are returned as they were put") {
  const ContractStore store;
  {
    auto writer = store->begin_index();
    REQUIRE(writer);
    const ChunkRecord chunks[] = {full_chunk(0), full_chunk(1)};
    REQUIRE((*writer)->put_document(full_document(), chunks));
    REQUIRE((*writer)->put_document(make_document("a-bare-one"), {}));
  }
  const auto documents = store->documents();
  REQUIRE(documents);
  REQUIRE(documents->size() == 2);
  CHECK((*documents)[0].document.slug == "a-bare-one");
  CHECK((*documents)[0].chunks == 0);
  CHECK_FALSE((*documents)[0].document.date.has_value());
  const Document& found = (*documents)[1].document;
  const Document expected = full_document();
  CHECK((*documents)[1].chunks == 2);
  CHECK(found.title == expected.title);
  CHECK(found.type == expected.type);
  CHECK(found.path == expected.path);
  CHECK(found.url == expected.url);
  CHECK(found.description == expected.description);
  CHECK(found.author == expected.author);
  CHECK(found.tags == expected.tags);
  CHECK((found.date == expected.date));
  CHECK(found.reading_minutes == 8);
  CHECK(found.content_hash == expected.content_hash);

  const auto chunks = store->document_chunks(expected.slug);
  REQUIRE(chunks);
  REQUIRE(chunks->size() == 2);
  check_same((*chunks)[0].chunk, full_chunk(0).chunk);
  check_same((*chunks)[1].chunk, full_chunk(1).chunk);
  CHECK((*chunks)[0].embedding.empty());

  const ChunkId first = (*chunks)[0].id;
  const ChunkId second = (*chunks)[1].id;
  const ChunkId ids[] = {second, 999999, first, second};
  const auto some = store->chunks(ids, true);
  REQUIRE(some);
  REQUIRE(some->size() == 3);
  CHECK((*some)[0].id == second);
  CHECK((*some)[1].id == first);
  CHECK((*some)[2].id == second);
  CHECK((*some)[0].embedding == full_chunk(1).embedding);
  check_same((*some)[1].chunk, full_chunk(0).chunk);
}

TEST_CASE("putting a document again replaces all of it") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(1);
  corpus.put(**writer, "a",
             {make_chunk("a", 0, {{"t1", 1}, {"t2", 1}}, {1, 0, 0, 0}),
              make_chunk("a", 1, {{"t3", 5}}, {0, 1, 0, 0})});
  const auto before = store->document_chunks("a");
  REQUIRE(before);
  corpus.put(**writer, "a", {make_chunk("a", 0, {{"t2", 2}}, {0, 0, 1, 0})});
  corpus.check(*store);
  const ChunkId gone[] = {before->at(0).id, before->at(1).id};
  const auto after = store->chunks(gone);
  REQUIRE(after);
  CHECK(after->empty());
}

TEST_CASE("a document can be removed, and removing an unknown one is not an error") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(2);
  corpus.put(**writer, "a");
  corpus.put(**writer, "b");
  corpus.remove(**writer, "a");
  corpus.remove(**writer, "never-there");
  corpus.check(*store);
  CHECK(store->documents()->size() == 1);
}

TEST_CASE("clear() keeps sessions, and chunk ids are not reused") {
  const ContractStore store;
  TurnRecord turn;
  turn.session_id = uuid("s");
  turn.visitor_id = uuid("v");
  REQUIRE(store->commit_turn(turn));
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(3);
  corpus.put(**writer, "a", {make_chunk("a", 0, {{"t1", 1}}, {1, 0, 0, 0})});
  const ChunkId old_id = only_id(*store, "a");
  REQUIRE((*writer)->replace_basis(std::vector<BasisRow>{{"t1", 1, {1, 2}}}, 2, 1, [](ChunkId) {
    return std::vector<float>{1, 0};
  }));
  REQUIRE((*writer)->clear());
  Corpus(1).check(*store);
  CHECK(store->stats()->fitted_chunks == 0);
  CHECK(store->stats()->dim == 0);
  const std::string terms[] = {"t1"};
  CHECK(store->basis_rows(terms)->empty());
  CHECK(store->session(uuid("s"))->has_value());
  Corpus refilled(4);
  refilled.put(**writer, "b", {make_chunk("b", 0, {{"t1", 1}}, {1, 0, 0, 0})});
  CHECK(only_id(*store, "b") != old_id);
  refilled.check(*store);
}

TEST_CASE("a document that cannot be stored changes nothing") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(5);
  corpus.put(**writer, "a");
  const std::vector<std::vector<ChunkRecord>> bad = {
      {make_chunk("a", 0, {{"t1", 1}}, {1, 0, 0, 0}), make_chunk("a", 1, {{"t1", 1}}, {1, 0})},
      {make_chunk("a", 0, {{"t1", 1}}, {1, 0, 0, std::nanf("")})},
      {make_chunk("a", 0, {{"t1", 1}, {"t1", 1}})},
      {make_chunk("a", 0, {{"t1", 1}}), make_chunk("a", 0, {{"t2", 1}})},
  };
  for (const auto& chunks : bad) {
    CHECK_FALSE((*writer)->put_document(make_document("a"), chunks));
    corpus.check(*store);
  }
  CHECK_FALSE((*writer)->replace_basis({}, 2, 1, [](ChunkId) { return std::vector<float>{1}; }));
  CHECK_FALSE((*writer)->replace_basis(std::vector<BasisRow>{{"t1", 1, {1}}}, 2, 1, [](ChunkId) {
    return std::vector<float>{1, 0};
  }));
  corpus.check(*store);
}

TEST_CASE("the terms of every chunk are visited in order, until the callback returns false") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  for (const char* slug : {"b", "a"}) {
    const ChunkRecord chunks[] = {make_chunk(slug, 0, {{"zebra", 2}, {"ant", 1}}),
                                  make_chunk(slug, 1, {})};
    REQUIRE((*writer)->put_document(make_document(slug), chunks));
  }
  std::vector<ChunkId> ids;
  std::string seen;
  REQUIRE((*writer)->each_chunk_terms([&](ChunkId id, std::span<const TermCount> terms) {
    ids.push_back(id);
    for (const TermCount& term : terms) seen += term.term + std::to_string(term.count) + " ";
    return true;
  }));
  CHECK(ids.size() == 4);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  CHECK(seen == "ant1 zebra2 ant1 zebra2 ");
  int calls = 0;
  REQUIRE((*writer)->each_chunk_terms(
      [&](ChunkId, std::span<const TermCount>) { return ++calls < 2; }));
  CHECK(calls == 2);
}

TEST_CASE("a new basis replaces the old one and all vectors") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  for (const char* slug : {"a", "b", "c"}) {
    const ChunkRecord chunks[] = {make_chunk(slug, 0, {{"t1", 1}}, {1, 0, 0, 0})};
    REQUIRE((*writer)->put_document(make_document(slug), chunks));
  }
  const ChunkId empty = only_id(*store, "b");
  const std::vector<BasisRow> rows = {{"t1", 0.5F, {1, 2}}, {"c++", 1.5F, {3, 4}}};
  std::vector<ChunkId> asked;
  REQUIRE((*writer)->replace_basis({}, 3, 1, [](ChunkId) { return std::vector<float>(3, 1); }));
  REQUIRE((*writer)->replace_basis(rows, 2, 3, [&](ChunkId id) {
    asked.push_back(id);
    return id == empty ? std::vector<float>{} : std::vector<float>{0, 1};
  }));
  CHECK(asked.size() == 3);
  CHECK(std::is_sorted(asked.begin(), asked.end()));
  const auto stats = store->stats();
  REQUIRE(stats);
  CHECK(stats->vectors == 2);
  CHECK(stats->dim == 2);
  CHECK(stats->fitted_chunks == 3);
  CHECK(stats->changed_since_fit == 0);
  const std::string terms[] = {"c++", "unknown", "t1"};
  const auto found = store->basis_rows(terms);
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  CHECK((*found)[0].term == "c++");
  CHECK((*found)[0].weight == 1.5F);
  CHECK((*found)[0].values == std::vector<float>{3, 4});
  CHECK((*found)[1].term == "t1");
  CHECK((*store->basis() == std::vector<BasisRow>{rows[1], rows[0]}));
  const float query[] = {0, 1};
  const auto near = store->search_dense(query, 5, {});
  REQUIRE(near);
  CHECK((with_slugs(*store, *near) == std::vector<RankedChunk>{{"a", 0, 1}, {"c", 0, 1}}));

  const ChunkRecord more[] = {make_chunk("a", 0, {{"t1", 1}}, {1, 0}),
                              make_chunk("a", 1, {{"t1", 1}}, {1, 0})};
  REQUIRE((*writer)->put_document(make_document("a"), more));
  REQUIRE((*writer)->remove_document("c"));
  CHECK(store->stats()->changed_since_fit == 3);
}

TEST_CASE("a second writer is refused until the first one is destroyed") {
  const ContractStore store;
  const auto other = store.open();
  auto writer = store->begin_index();
  REQUIRE(writer);
  for (Store* second : {&*store, other.get()}) {
    const auto refused = second->begin_index();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::busy);
    CHECK(refused.error().message.find("another index run") == 0);
    CHECK_FALSE(refused.error().hint.empty());
  }
  REQUIRE((*writer)->put_document(make_document("kept"), {}));
  writer->reset();
  auto next = other->begin_index();
  REQUIRE(next);
  CHECK(other->documents()->size() == 1);
}

TEST_CASE("lists of names are in byte order") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  const std::vector<std::string> names = {"B", "a", "a b", "a-b", "ab", "b", "\xC3\xA9"};
  std::vector<BasisRow> rows;
  std::vector<TermCount> terms;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    rows.push_back({*name, 1, {1}});
    terms.push_back({*name, 1});
  }
  for (const std::string& name : names) {
    const ChunkRecord chunks[] = {make_chunk(name, 0, terms)};
    REQUIRE((*writer)->put_document(make_document(name), chunks));
  }
  REQUIRE((*writer)->replace_basis(rows, 1, 1, [](ChunkId) { return std::vector<float>(); }));
  const auto documents = store->documents();
  const auto basis = store->basis();
  const ChunkId ids[] = {only_id(*store, "a-b")};
  const auto stored = store->chunk_terms(ids);
  const QueryTerm query[] = {{"a", 1}};
  const auto found = store->search_lexical(query, 99, {});
  REQUIRE(documents);
  REQUIRE(basis);
  REQUIRE(stored);
  REQUIRE(found);
  const auto ties = with_slugs(*store, *found);
  REQUIRE(documents->size() == names.size());
  REQUIRE(basis->size() == names.size());
  REQUIRE(stored->front().size() == names.size());
  REQUIRE(ties.size() == names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    CHECK((*documents)[i].document.slug == names[i]);
    CHECK((*basis)[i].term == names[i]);
    CHECK(stored->front()[i].term == names[i]);
    CHECK(ties[i].slug == names[i]);
  }
  std::string walked;
  REQUIRE((*writer)->each_chunk_terms([&](ChunkId, std::span<const TermCount> of_chunk) {
    for (const TermCount& term : of_chunk) walked += term.term + "|";
    return false;
  }));
  CHECK(walked == "B|a|a b|a-b|ab|b|\xC3\xA9|");
}

TEST_CASE("the terms of chunks are returned in the requested order") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  const ChunkRecord one[] = {make_chunk("one", 0, {{"zebra", 2}, {"none", 0}, {"ant", 1}})};
  const ChunkRecord two[] = {make_chunk("two", 0, {})};
  REQUIRE((*writer)->put_document(make_document("one"), one));
  REQUIRE((*writer)->put_document(make_document("two"), two));
  const ChunkId id = only_id(*store, "one");
  const ChunkId ids[] = {only_id(*store, "two"), id, 999999, id};
  const auto found = store->chunk_terms(ids);
  REQUIRE(found);
  REQUIRE(found->size() == 4);
  for (const size_t bare : {0U, 2U}) CHECK((*found)[bare].empty());
  for (const size_t full : {1U, 3U}) {
    const std::vector<TermCount>& terms = (*found)[full];
    REQUIRE(terms.size() == 2);
    CHECK(terms[0].term == "ant");
    CHECK(terms[0].count == 1);
    CHECK(terms[1].term == "zebra");
    CHECK(terms[1].count == 2);
  }
  CHECK(store->chunk_terms({})->empty());
}

// It is up to the callers that search and index to refuse another identity.
TEST_CASE("setting another identity on a filled index only records it") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(7);
  REQUIRE((*writer)->set_identity({"one", 4, "v1", ""}));
  corpus.put(**writer, "a");
  REQUIRE((*writer)->set_identity({"other", 9, "v2", "q"}));
  CHECK((*store->identity() == IndexIdentity{"other", 9, "v2", "q"}));
  corpus.check(*store);
}

}  // namespace contract_index_test
