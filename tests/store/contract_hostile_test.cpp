// Texts that break unescaped SQL, arrays or JSON, in every field.
#include <doctest/doctest.h>

#include <algorithm>

#include "store/contract.h"
#include "store/corpus.h"
#include "store/json_columns.h"

namespace contract_hostile_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using Texts = std::vector<std::string>;

// Sanitized, they are distinct and not empty.
const Texts& hostile() {
  static const Texts texts = {
      "'; DROP TABLE stoka_documents; DROP TABLE stoka_sessions; --",
      "x' OR '1'='1",
      "\"quoted\", \\\\ and \\' and \\u0000 and \\x41",
      "$1 $2::text $$ :name ?1 %s {0}",
      "E'\\'' || pg_sleep(9) /* ",
      "{\"a\",NULL,b}",
      "NULL",
      "[\"json\", null]",
      "line\r\nbreak\ttab\x01\x1B[31m\x7F",
      " spaces ",
      "\xEF\xBB\xBF"
      "byte order mark",
      "\xF0\x9F\xA6\x80 \xF0\x9D\x94\xB8 \xC3\xA9 e\xCC\x81 \xE2\x80\xAE",
      std::string("nul\0inside\0", 11),
      "broken \xC3\x28 \xFF \xED\xA0\x80 \xE2\x82",
      "\xFF\xFEu\xFE",
      std::string(500, 'k'),
  };
  return texts;
}

std::string lengthened(const std::string& text) {
  std::string out;
  while (out.size() < 70000) out += text + "\n";
  return out;
}

Texts sanitized(const Texts& texts) {
  Texts out;
  for (const std::string& text : texts) out.push_back(sanitize_text(text));
  return out;
}

Document document_of(const std::string& text) {
  Document document;
  document.slug = text;
  document.title = text + "1";
  document.type = text + "2";
  document.path = text + "3";
  document.url = text + "4";
  document.description = lengthened(text);
  document.author = text + "6";
  document.tags = {text, "plain", text, ""};
  document.content_hash = text + "7";
  return document;
}

ChunkRecord chunk_of(const std::string& text) {
  ChunkRecord record = make_chunk(text, 0, {{text, 2}, {"t1", 1}}, {0, 1, 0, 0});
  record.chunk.type = text + "2";
  record.chunk.title = text + "1";
  record.chunk.section = text + "8";
  record.chunk.tags = {text, "", "plain"};
  record.chunk.url = text + "4";
  record.chunk.content = lengthened(text);
  return record;
}

void check_stored(Store& store, const std::string& text) {
  const auto documents = store.documents();
  REQUIRE(documents);
  const auto at = std::find_if(documents->begin(), documents->end(), [&](const DocumentInfo& info) {
    return info.document.slug == sanitize_text(text);
  });
  REQUIRE(at != documents->end());
  const Document expected = document_of(sanitize_text(text));
  CHECK(at->document.title == expected.title);
  CHECK(at->document.type == expected.type);
  CHECK(at->document.path == expected.path);
  CHECK(at->document.url == expected.url);
  CHECK((at->document.description == sanitize_text(lengthened(text))));
  CHECK(at->document.author == expected.author);
  CHECK(at->document.tags == expected.tags);
  CHECK(at->document.content_hash == expected.content_hash);

  const auto chunks = store.document_chunks(text);
  REQUIRE(chunks);
  REQUIRE(chunks->size() == 1);
  const Chunk& chunk = chunks->front().chunk;
  const Chunk wanted = chunk_of(sanitize_text(text)).chunk;
  CHECK(chunk.slug == wanted.slug);
  CHECK(chunk.type == wanted.type);
  CHECK(chunk.title == wanted.title);
  CHECK(chunk.section == wanted.section);
  CHECK(chunk.tags == wanted.tags);
  CHECK(chunk.url == wanted.url);
  CHECK((chunk.content == sanitize_text(lengthened(text))));

  const ChunkId ids[] = {chunks->front().id};
  const auto terms = store.chunk_terms(ids);
  REQUIRE(terms);
  REQUIRE(terms->front().size() == 2);
  const TermCount& term = terms->front()[terms->front()[0].term == "t1" ? 1 : 0];
  CHECK(term.term == sanitize_text(text));
  CHECK(term.count == 2);
  const Texts asked = {text};
  CHECK(*store.document_frequencies(asked) == std::vector<uint64_t>{1});
  const QueryTerm query[] = {{text, 1}};
  const auto found = store.search_lexical(query, 9, {});
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().id == ids[0]);
  SearchFilter filter;
  filter.exclude_slugs = {text};
  const float vector[] = {0, 1, 0, 0};
  CHECK(store.search_lexical(query, 9, filter)->empty());
  CHECK(store.search_dense(vector, 99, filter)->size() == hostile().size());
}

}  // namespace

TEST_CASE("hostile texts in documents, chunks and terms are stored and returned as plain text") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  Corpus corpus(8);
  corpus.put(**writer, "plain", {make_chunk("plain", 0, {{"t1", 1}}, {1, 0, 0, 0})});
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    const ChunkRecord chunks[] = {chunk_of(text)};
    for (int time = 0; time < 2; ++time) {
      const auto put = (*writer)->put_document(document_of(text), chunks);
      REQUIRE_MESSAGE(put, (put ? "" : put.error().message));
    }
  }
  CHECK(store->stats()->documents == hostile().size() + 1);
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    check_stored(*store, text);
  }
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    REQUIRE((*writer)->remove_document(text));
    CHECK(store->document_chunks(text)->empty());
  }
  corpus.check(*store);
}

TEST_CASE("hostile texts in an identity and a basis are stored and returned as plain text") {
  const ContractStore store;
  auto writer = store->begin_index();
  REQUIRE(writer);
  std::vector<BasisRow> rows;
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    const IndexIdentity identity{text, 2, text + "1", text + "2", text + "3"};
    REQUIRE((*writer)->set_identity(identity));
    const std::string kept = sanitize_text(text);
    CHECK(
        (*store.open()->identity() == IndexIdentity{kept, 2, kept + "1", kept + "2", kept + "3"}));
    rows.push_back({text, 1, {1, 2}});
  }
  REQUIRE((*writer)->replace_basis(rows, 2, 1, [](ChunkId) { return std::vector<float>(); }));
  const auto found = store->basis_rows(hostile());
  REQUIRE(found);
  REQUIRE(found->size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) CHECK((*found)[i].term == sanitize_text(rows[i].term));
  CHECK(store->basis()->size() == rows.size());
}

TEST_CASE("hostile texts in turns, visitors and readings are stored and returned as plain text") {
  const ContractStore store;
  TurnRecord turn;
  turn.session_id = uuid("s");
  turn.visitor_id = uuid("v");
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    turn.cited_slugs = {text, "plain", text};
    turn.topic = text;
    turn.exchange = {text + "1", lengthened(text), {{text, text, text, text}, {""}}};
    const auto session = store->commit_turn(turn);
    REQUIRE_MESSAGE(session, (session ? "" : session.error().message));
    const auto found = store.open()->session(turn.session_id);
    REQUIRE(found);
    REQUIRE(found->has_value());
    for (const Session& now : {*session, **found}) {
      CHECK(now.current_topic() == sanitize_text(text));
      CHECK(now.has_shown(sanitize_text(text)));
      REQUIRE_FALSE(now.exchanges.empty());
      CHECK(now.exchanges.back().user == sanitize_text(text + "1"));
      CHECK((now.exchanges.back().assistant == sanitize_text(lengthened(text))));
      const std::string kept = sanitize_text(text);
      CHECK(now.exchanges.back().citations ==
            std::vector<CitationRecord>{{kept, kept, kept, kept}, {""}});
    }
  }
  const Session session = store->session(turn.session_id)->value();
  CHECK(session.shown_slugs.size() == hostile().size() + 1);
  CHECK(session.explored_topics == sanitized(hostile()));
  CHECK(session.turns == static_cast<int>(hostile().size()));
  Texts shown = sanitized(hostile());
  shown.push_back("plain");
  std::sort(shown.begin(), shown.end());
  CHECK(*store->all_shown_slugs() == shown);

  std::vector<HistoryEntry> readings;
  for (const std::string& text : hostile()) readings.push_back({text, Instant(), 10});
  for (int time = 0; time < 2; ++time) {
    const auto visitor = store->update_visitor(turn.visitor_id, hostile(), readings, Instant());
    REQUIRE_MESSAGE(visitor, (visitor ? "" : visitor.error().message));
    const auto found = store->visitor(turn.visitor_id);
    REQUIRE(found);
    REQUIRE(found->has_value());
    for (const Visitor& now : {*visitor, **found}) {
      CHECK(now.interests == sanitized(hostile()));
      CHECK(now.history.size() == hostile().size());
      for (const HistoryEntry& reading : now.history) CHECK(is_valid_text(reading.slug));
    }
  }
}

TEST_CASE("a hostile subject is stored unchanged or refused") {
  const ContractStore store;
  int kept = 0;
  for (const std::string& text : hostile()) {
    CAPTURE(text);
    TurnRecord turn;
    turn.session_id = uuid("s" + std::to_string(kept));
    turn.visitor_id = uuid("v" + std::to_string(kept));
    turn.subject = text;
    const auto session = store->commit_turn(turn);
    Visitor copied;
    copied.id = uuid("c" + std::to_string(kept));
    copied.subject = text;
    const auto ids = store->put_visitors(std::span(&copied, 1));
    if (!is_valid_text(text)) {
      REQUIRE_FALSE(session);
      CHECK(session.error().kind == ErrorKind::usage);
      REQUIRE_FALSE(ids);
      CHECK(ids.error().kind == ErrorKind::usage);
      continue;
    }
    ++kept;
    REQUIRE_MESSAGE(session, (session ? "" : session.error().message));
    CHECK(store->visitor(turn.visitor_id)->value().subject == text);
    REQUIRE(ids);
    CHECK(*ids == Texts{turn.visitor_id});
  }
  CHECK(store->visitors_after("", 100)->size() == static_cast<size_t>(kept));
}

TEST_CASE("hostile texts in copied rows are stored and returned as plain text") {
  const ContractStore store;
  std::vector<Visitor> visitors;
  std::vector<Session> sessions;
  for (const std::string& text : hostile()) {
    const std::string number = std::to_string(10 + visitors.size());
    Visitor& visitor = visitors.emplace_back();
    visitor.id = uuid("v" + number);
    visitor.interests = {text, text, ""};
    visitor.history = {{text, Instant(), 1}};
    Session& session = sessions.emplace_back();
    session.id = uuid("s" + number);
    session.visitor_id = visitor.id;
    session.shown_slugs = {text, text};
    session.explored_topics = {text, text};
    session.exchanges = {{text, lengthened(text), {{text}}}};
  }
  const auto ids = store->put_visitors(visitors);
  REQUIRE_MESSAGE(ids, (ids ? "" : ids.error().message));
  const auto put = store->put_sessions(sessions);
  REQUIRE_MESSAGE(put, (put ? "" : put.error().message));
  const auto found_visitors = store->visitors_after("", 100);
  const auto found_sessions = store->sessions_after("", 100);
  REQUIRE(found_visitors);
  REQUIRE(found_sessions);
  REQUIRE(found_visitors->size() == visitors.size());
  REQUIRE(found_sessions->size() == sessions.size());
  for (size_t i = 0; i < hostile().size(); ++i) {
    const std::string text = sanitize_text(hostile()[i]);
    CAPTURE(text);
    const Visitor& visitor = (*found_visitors)[i];
    CHECK(visitor.interests == Texts{text, text, ""});
    REQUIRE(visitor.history.size() == 1);
    CHECK(visitor.history[0].slug == text);
    const Session& session = (*found_sessions)[i];
    CHECK(session.shown_slugs == Texts{text});
    CHECK(session.explored_topics == Texts{text, text});
    REQUIRE(session.exchanges.size() == 1);
    CHECK(session.exchanges[0].user == text);
    CHECK((session.exchanges[0].assistant == sanitize_text(lengthened(hostile()[i]))));
    CHECK(session.exchanges[0].citations == std::vector<CitationRecord>{{text}});
  }
}

}  // namespace contract_hostile_test
