#include "store/json_columns.h"

#include <doctest/doctest.h>

#include "store/index_totals.h"

namespace json_columns_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using Texts = std::vector<std::string>;

Instant at(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("valid UTF-8 without NUL stays as it is, and other text is sanitized") {
  struct {
    std::string text, stored;
  } const cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"\xEF\xBB\xBFmark\r\n \xF0\x9F\xA6\x80\x01", "\xEF\xBB\xBFmark\r\n \xF0\x9F\xA6\x80\x01"},
      {std::string("x\0y\0", 4), "x\xEF\xBF\xBDy\xEF\xBF\xBD"},
      {std::string(1, '\0'), "\xEF\xBF\xBD"},
      {"\xFF\xFEx", "\xEF\xBF\xBD\xEF\xBF\xBDx"},
      {"cut \xE2\x82", "cut \xEF\xBF\xBD"},
      {"\xED\xA0\x80\r\n", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\r\n"},
      {std::string("\0\xC3", 2), "\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(sanitize_text(c.text) == c.stored);
    CHECK(is_valid_text(c.text) == (c.text == c.stored));
    CHECK(is_valid_text(c.stored));
  }
}

TEST_CASE("lists of strings are sanitized and read back from JSON unchanged") {
  const Texts texts = {"", "a \"quoted\" one", "line\nbreak", "\xE6\xBC\xA2", "{null}"};
  CHECK(strings_from_json(strings_to_json(texts)) == texts);
  CHECK(strings_to_json({}) == "[]");
  const Texts broken = {std::string("x\0y", 3), "\xFF"};
  CHECK(strings_to_json(broken) == "[\"x\xEF\xBF\xBDy\",\"\xEF\xBF\xBD\"]");
}

TEST_CASE("exchanges and readings are sanitized and read back from JSON unchanged") {
  const std::vector<CitationRecord> cited = {{"a", "A \"title\"", "a quote", "https://a.test/a#x"},
                                             {"b"}};
  const std::string broken("c\0", 2), mended = "c\xEF\xBF\xBD";
  const Exchange exchanges[] = {{"user", "said \"this\"", cited},
                                {std::string("\0\xFF", 2), "", {{broken, broken, broken, broken}}}};
  const auto found = exchanges_from_json(exchanges_to_json(exchanges));
  REQUIRE(found.size() == 2);
  CHECK(found[0].user == "user");
  CHECK(found[0].assistant == "said \"this\"");
  CHECK(found[0].citations == cited);
  CHECK(found[1].user == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(found[1].citations == std::vector<CitationRecord>{{mended, mended, mended, mended}});

  const HistoryEntry readings[] = {{"a", at(1775988000123), 70}, {"b\xFF", at(-1), 0}};
  const auto history = history_from_json(history_to_json(readings));
  REQUIRE(history.size() == 2);
  CHECK(history[0].slug == "a");
  CHECK((history[0].at == at(1775988000123)));
  CHECK(history[0].scroll_pct == 70);
  CHECK(history[1].slug == "b\xEF\xBF\xBD");
  CHECK((history[1].at == at(-1)));
}

TEST_CASE("citations stored as slugs only are read") {
  const auto found = exchanges_from_json(
      R"([{"user": "q", "assistant": "a", "cited": ["old", 5, {"slug": "new", "title": 7}, {}]}])");
  REQUIRE(found.size() == 1);
  CHECK(found[0].citations == std::vector<CitationRecord>{{"old"}, {"new"}});
}

TEST_CASE("list elements of the wrong type are ignored") {
  for (const char* json : {"", "x", "null", "7", "{}", "\"text\"", "[", "\xFF", "[[[[[["}) {
    CAPTURE(json);
    CHECK(strings_from_json(json).empty());
    CHECK(exchanges_from_json(json).empty());
    CHECK(history_from_json(json).empty());
  }
  CHECK(strings_from_json(R"(["a", 1, null, ["b"], "c"])") == Texts{"a", "c"});
  CHECK(exchanges_from_json(R"([1, "a", {"user": 5, "cited": "x", "more": 1}])").size() == 1);
  const auto history = history_from_json(
      R"([{"slug": 1}, {"timestamp": 5}, {"slug": "a", "timestamp": "x", "scroll_pct": 1.5}])");
  REQUIRE(history.size() == 1);
  CHECK(history[0].slug == "a");
  CHECK(history[0].scroll_pct == 100);
}

TEST_CASE("chunk metadata is read back from JSON unchanged") {
  Document document;
  document.author = "someone\xFF";
  Chunk chunk;
  chunk.tags = {"a", "b, c", std::string("d\0", 2)};
  chunk.url = "/blog/a";
  chunk.date = parse_date("2026-04-12");
  chunk.reading_minutes = 8;
  const std::string json = metadata_to_json(document, chunk);
  CHECK(json.find("\"author\":\"someone\xEF\xBF\xBD\"") != std::string::npos);
  CHECK(json.find("\"pubDate\":\"2026-04-12\"") != std::string::npos);
  Chunk found;
  REQUIRE(read_metadata(json, found));
  CHECK(found.tags == Texts{"a", "b, c", "d\xEF\xBF\xBD"});
  CHECK(found.url == "/blog/a");
  CHECK((found.date == chunk.date));
  CHECK(found.reading_minutes == 8);

  Chunk kept;
  REQUIRE(read_metadata(R"({"tags": 1, "url": [], "pubDate": "never", "readingTime": "x"})", kept));
  CHECK(kept.tags.empty());
  CHECK(kept.url.empty());
  CHECK_FALSE(kept.date.has_value());
  CHECK(kept.reading_minutes == 1);
  for (const char* bad : {"", "[]", "null", "{"}) CHECK_FALSE(read_metadata(bad, kept));
}

TEST_CASE(
    "an index identity is read back from JSON, and one without a template gets the default one") {
  const IndexIdentity identity{"tei:model@sha", 1024, "v1 max=512", "q: ", "passage: {text}"};
  CHECK((identity_from_json(identity_to_json(identity)) == identity));
  const auto older = identity_from_json(R"({"embedder": "builtin-lsa", "dim": 0, "chunker": 7})");
  REQUIRE(older);
  CHECK((*older == IndexIdentity{"builtin-lsa", 0, "", "", "{text}"}));
  for (const char* bad : {"", "[]", "null", "{", "\"x\""}) CHECK_FALSE(identity_from_json(bad));
}

TEST_CASE(
    "stats report changes since the fit only with a basis, and indexed_at only after a finished "
    "run") {
  IndexTotals totals;
  totals.documents = 2;
  totals.chunks = 5;
  totals.vectors = 4;
  totals.dim = 3;
  totals.changed_since_fit = 7;
  totals.unfinished = 1;
  IndexStats stats = totals.stats();
  CHECK(stats.documents == 2);
  CHECK(stats.chunks == 5);
  CHECK(stats.vectors == 4);
  CHECK(stats.dim == 3);
  CHECK(stats.changed_since_fit == 0);
  CHECK(stats.unfinished);
  CHECK_FALSE(stats.indexed_at.has_value());
  totals.fitted_chunks = 5;
  totals.indexed_at = 1775988000123;
  totals.generation = 9;
  totals.unfinished = 0;
  stats = totals.stats();
  CHECK(stats.fitted_chunks == 5);
  CHECK(stats.changed_since_fit == 7);
  CHECK(stats.generation == 9);
  CHECK_FALSE(stats.unfinished);
  CHECK((stats.indexed_at == at(1775988000123)));
}

}  // namespace json_columns_test
