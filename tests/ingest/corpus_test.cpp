#include "ingest/corpus.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "ingest/loader.h"
#include "text/utf8.h"

namespace corpus_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

using List = std::vector<std::string>;

const SourceFile kFile = {"site/corpus.jsonl", "corpus.jsonl", "site"};

LoadedFile read(std::string_view lines, std::string_view chunk_options = "v1") {
  return load_bytes(kFile, lines, chunk_options);
}

Page read_one(std::string_view line) {
  LoadedFile out = read(line);
  CAPTURE(line);
  CHECK(out.skipped.empty());
  REQUIRE(out.pages.size() == 1);
  return std::move(out.pages[0]);
}

List reasons(const LoadedFile& pages) {
  List out;
  for (const SkippedSource& skipped : pages.skipped) {
    CHECK(skipped.path == "site/corpus.jsonl");
    out.push_back(skipped.reason);
  }
  return out;
}

List slugs(LoadedFile pages) {
  assign_slugs(pages.pages);
  List out;
  for (const Page& page : pages.pages) out.push_back(page.document.slug);
  return out;
}

List paragraphs(const Page& page) {
  List out;
  for (const Block& block : page.blocks) {
    CHECK(block.kind == BlockKind::paragraph);
    out.push_back(block.text);
  }
  return out;
}

}  // namespace

TEST_CASE("a line with all keys becomes a document") {
  const Page page = read_one(
      R"({"_id": "MED-10", "title": "Statin  use", "date": "2024-02-03", "tags": ["Heart Care"], )"
      R"("text": "One\ntwo.\n \n# no *markup*\r\n\r\nThree.", "url": "https://a.example/x", )"
      R"("type": "Abstract", "author": ["A", "B"], "description": "On statins.", "other": 3, )"
      R"("readingTime": 7, "metadata": {"title": "no", "text": "no", "deep": [[1, {"a": null}]]}})");
  const Document& document = page.document;
  CHECK(document.slug == "med-10");
  CHECK(document.title == "Statin use");
  CHECK(document.type == "abstract");
  CHECK(document.path == "site/corpus.jsonl");
  CHECK(document.url == "https://a.example/x");
  CHECK(document.description == "On statins.");
  CHECK(document.author == "A, B");
  CHECK(document.tags == List{"heart-care"});
  CHECK(document.date == parse_date("2024-02-03"));
  CHECK(document.reading_minutes == 7);
  CHECK(page.has_explicit_slug);
  CHECK(paragraphs(page) == List{"One two.", "# no *markup*", "Three."});
}

TEST_CASE("missing keys have defaults") {
  const Page page = read_one(R"({"_id": 12, "text": ["First part.", "", "Second\n\nand third."]})");
  CHECK(page.document.slug == "12");
  CHECK(page.document.title == "First part.");
  CHECK(page.document.type == "page");
  CHECK(page.document.url.empty());
  CHECK_FALSE(page.document.date.has_value());
  CHECK(page.document.reading_minutes == 1);
  CHECK(paragraphs(page) == List{"First part.", "Second", "and third."});
}

TEST_CASE("the slug is the slug, the id or the title of the document") {
  const struct {
    std::string_view line, slug;
    bool is_explicit;
  } cases[] = {
      {R"({"slug": "My.Slug", "id": "1", "title": "T"})", "my.slug", true},
      {R"({"id": "A", "_id": "B", "title": "T"})", "a", true},
      {R"({"_id": "B", "title": "T"})", "b", true},
      {R"({"id": "", "_id": "B", "title": "T"})", "b", true},
      {R"({"id": null, "_id": "B", "title": "T"})", "b", true},
      {R"({"id": 0, "title": "T"})", "0", true},
      {R"({"id": -7, "title": "T"})", "7", true},
      {R"({"id": 18446744073709551616, "title": "T"})", "18446744073709551616", true},
      {R"({"id": 1.50, "title": "T"})", "1.50", true},
      {R"({"id": "<dbpedia:Foo_(bar)>", "title": "T"})", "dbpedia-foo_-bar", true},
      {R"({"id": "文書 1", "title": "T"})", "文書-1", true},
      {R"({"id": {"$oid": "1f"}, "title": "Of Mongo v1.2"})", "of-mongo-v1-2", false},
      {R"({"id": "!!!", "title": "Loud"})", "loud", false},
      {R"({"title": "Only a Title"})", "only-a-title", false},
  };
  for (const auto& c : cases) {
    const Page page = read_one(c.line);
    CAPTURE(c.line);
    CHECK(page.document.slug == c.slug);
    CHECK(page.has_explicit_slug == c.is_explicit);
  }
}

TEST_CASE("a missing title is replaced by the first sentence or by the id") {
  const std::string sentence = "This sentence goes on and on, as those of abstracts like to do";
  const struct {
    std::string text, title;
  } cases[] = {
      {"Short v1.2 one. And more.", "Short v1.2 one."},
      {"  \\n\\n A heading\\n\\nText.", "A heading"},
      {sentence + ", until nobody knows how it began.", sentence + ", until nobody\u2026"},
      {std::string(5000, 'x') + " y", std::string(80, 'x') + "\u2026"},
      {[] {
         std::string out;
         for (int i = 0; i < 200; ++i) out += "\u00E9\u6587";
         return out;
       }(),
       [] {
         std::string out;
         for (int i = 0; i < 16; ++i) out += "\u00E9\u6587";
         return out + "\u2026";
       }()},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const Page page = read_one(fmt::format(R"({{"id": "X 1", "text": "{}"}})", c.text));
    CHECK(page.document.title == c.title);
    CHECK(text::is_valid_utf8(page.document.title));
  }
  CHECK(read_one(R"({"id": "X 1", "description": "d"})").document.title == "X 1");
}

TEST_CASE("a document may consist of a title alone") {
  const Page page = read_one(R"({"id": "1", "title": "Report", "text": " \n"})");
  CHECK(page.blocks.empty());
  CHECK(page.document.title == "Report");
}

TEST_CASE("lines that cannot be used are skipped and reported with their number") {
  const std::string deep = std::string(17, '[') + std::string(17, ']');
  const LoadedFile out =
      read("{\"id\": 1, \"title\": \"a\"}\n\n{\n3\n\"text\"\n[{\"id\": 2}]\n{\"id\": 3} x\n" +
           ("{\"id\": 4, \"text\": \"t\", \"metadata\": " + deep + "}\n") +
           ("{\"id\": 5, \"text\": \"t\", \"metadata\": " + std::string(100'000, '[') + "\n") +
           "{}\n{\"text\": \"t\"}\n{\"id\": \"!\", \"text\": \"t\"}\n{\"id\": 6}\n" +
           "{\"id\": 7, \"title\": \"t\", \"draft\": true}\n" + "{\"id\": 8, \"title\": \"b\"}");
  CHECK(slugs(out) == List{"1", "8"});
  const std::string object = "not a well-formed JSON object";
  const std::string levels = "JSON is nested more than 16 levels";
  const std::string name = "has neither an id nor a title with letters or digits";
  CHECK(reasons(out) == List{"line 3: " + object, "line 4: " + object, "line 5: " + object,
                             "line 6: " + object, "line 7: " + object, "line 8: " + levels,
                             "line 9: " + levels, "line 10: " + name, "line 11: " + name,
                             "line 12: " + name, "line 13: has neither title nor text",
                             "line 14: draft"});
}

TEST_CASE("unpublished lines and code marked secret are skipped") {
  const LoadedFile out = read(
      R"({"id": 1, "title": "a", "secret": "no", "text": "Run:\n```\nmake\n```\n```{.secret}\nx\n```"})"
      "\n"
      R"({"id": 2, "title": "b", "noindex": true})"
      "\n"
      R"({"id": 3, "title": "c", "metadata": {"is_secret": "true"}})");
  CHECK(slugs(out) == List{"1"});
  REQUIRE(out.pages[0].blocks.size() == 2);
  CHECK(out.pages[0].blocks[1] == Block{BlockKind::code, 0, "make"});
  CHECK(reasons(out) == List{"line 2: its field 'noindex' keeps it from readers",
                             "line 3: its field 'metadata.is_secret' keeps it from readers"});
  CHECK(out.skipped[1].kind == SkipKind::unpublished);
  REQUIRE(out.unpublished.size() == 2);
  CHECK(out.unpublished[0].slug == "2");
  CHECK(out.unpublished[1].slug == "3");
  REQUIRE(out.left_out.size() == 1);
  CHECK(out.left_out[0].reason == "line 1: a code block was left out: it is marked secret");
}

TEST_CASE("only the first messages of a kind are listed, and the others are counted") {
  for (const size_t bad : {kMaxListedLines, kMaxListedLines + 1, kMaxListedLines + 1234}) {
    CAPTURE(bad);
    std::string lines = "{\"id\": \"good\", \"title\": \"t\"}\n";
    for (size_t i = 0; i < bad; ++i) lines += "bad\n";
    for (size_t i = 0; i < bad; ++i)
      lines += R"({"id": "good", "title": "t", "date": "soon"})"
               "\n";
    const LoadedFile out = read(lines);
    CHECK(out.pages.size() == 1 + bad);
    REQUIRE(out.skipped.size() == kMaxListedLines + (bad > kMaxListedLines));
    CHECK(out.skipped[kMaxListedLines - 1].reason.starts_with("line 21: "));
    CHECK(out.warnings.size() == kMaxListedLines + 1);
    if (bad == kMaxListedLines + 1) CHECK(out.skipped.back().reason == "and 1 more line");
    if (bad > kMaxListedLines + 1) CHECK(out.skipped.back().reason == "and 1234 more lines");
    if (bad > kMaxListedLines + 1)
      CHECK(out.warnings.back() ==
            fmt::format("site/corpus.jsonl: and {} more lines", 2 * bad - 20));
  }
}

TEST_CASE("line ends, byte order marks and blank lines do not change the hashes") {
  const std::string a = R"({"id": "a", "title": "A"})", b = R"({"id": "b", "title": "B"})";
  const auto hashes = [](std::string_view lines) {
    const LoadedFile out = read(lines);
    CHECK(out.skipped.empty());
    CHECK(out.warnings.empty());
    List list;
    for (const Page& page : out.pages) list.push_back(page.document.content_hash);
    return list;
  };
  const List plain = hashes(a + "\n" + b + "\n");
  REQUIRE(plain.size() == 2);
  CHECK(hashes(a + "\n" + b) == plain);
  CHECK(hashes(a + "\r\n" + b + "\r\n") == plain);
  CHECK(hashes("\xEF\xBB\xBF" + a + "\n\n \t\n\n  " + b + " \n\n") == plain);
  CHECK(hashes("\xEF\xBB\xBF\n" + a + "\n" + b) == plain);
  for (std::string_view nothing : {"", "\n", "\r\n \n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"})
    CHECK(reasons(read(nothing)) == List{"empty"});
}

TEST_CASE("the content hash depends on the line and on the chunk options") {
  const std::string a = R"({"id": "a", "title": "A"})", b = R"({"id": "b", "title": "B"})";
  const auto hash = [](const LoadedFile& pages, size_t at) {
    return pages.pages.at(at).document.content_hash;
  };
  const LoadedFile before = read(a + "\n" + b);
  const LoadedFile after = read(R"({"id": "b", "title": "C"})"
                                "\n" +
                                a);
  CHECK(hash(before, 0) == hash(after, 1));
  CHECK(hash(before, 1) != hash(after, 0));
  CHECK(hash(before, 0) != hash(before, 1));
  CHECK(hash(before, 0) != hash(read(a, "v2"), 0));
}

TEST_CASE("documents with the same id get different slugs and a warning") {
  const LoadedFile out = read(
      "{\"id\": \"A\", \"title\": \"1\"}\n{\"id\": \"a\", \"title\": \"2\"}\n"
      "{\"id\": \"a-2\", \"title\": \"3\"}\n{\"id\": \"a\", \"title\": \"4\"}\n");
  CHECK(out.warnings == List{"site/corpus.jsonl: line 2: another line has the id 'a'",
                             "site/corpus.jsonl: line 4: another line has the id 'a'"});
  CHECK(slugs(out) == List{"a", "a-3", "a-2", "a-4"});

  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "{\"id\": \"same\", \"title\": \"t\"}\n";
  const List all = slugs(read(many));
  CHECK(all.size() == 20'000);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  CHECK(all[0] == "same");
}

TEST_CASE("documents of several corpora with the same id are prefixed with the corpus name") {
  const std::string line = R"({"id": 1, "title": "t"})";
  LoadedFile all;
  for (const SourceFile& file : {SourceFile{"a/corpus.jsonl", "corpus.jsonl", "a"},
                                 SourceFile{"b/corpus.jsonl", "corpus.jsonl", "b"},
                                 SourceFile{"b/notes.jsonl", "notes.jsonl", "b"}})
    for (Page& page : load_bytes(file, line, "v1").pages) all.pages.push_back(std::move(page));
  CHECK(slugs(all) == List{"1", "b-1", "notes-1"});
}

TEST_CASE("damaged lines are repaired or skipped, and the others are read") {
  const std::string good = R"({"id": "good", "title": "Gut \u00fc über größte Maße"})"
                           "\n";
  std::string nul = R"({"id": "nul", "title": "A_B)" + std::string(200, 'x') + "\"}\n";
  nul[nul.find('_')] = '\0';
  LoadedFile out =
      read(good + nul + "{\"id\": \"torn\", \"title\": \"caf\xC3 and more words\"}\n" +
           "{\"id\": \"esc\", \"title\": \"a\x1B[1mb\xC2\x85"
           "c\\u0085d\\u202e\"}\n" +
           "{\"id\": \"tab\", \"title\": \"a\tb\"}\n" +
           "{\"id\": \"half\", \"title\": \"\\ud800\"}\n" + std::string(64, '\xFF') + "\n" +
           std::string(64, '\0') + "\n" + "{\"id\": \"large\", \"title\": \"t\", \"text\": \"" +
           std::string(kMaxLineBytes, 'x') + "\"}\n{\"id\": \"cut\", \"title\": \"t");
  List titles;
  for (const Page& page : out.pages) titles.push_back(page.document.title);
  CHECK(titles == List{"Gut ü über größte Maße", "AB" + std::string(200, 'x'),
                       "caf\uFFFD and more words", "a [1mb c d"});
  CHECK(reasons(out) == List{"line 5: not a well-formed JSON object",
                             "line 6: not a well-formed JSON object", "line 7: binary, not text",
                             "line 8: binary, not text", "line 9: larger than 16 MB",
                             "line 10: not a well-formed JSON object"});
  CHECK(out.warnings.size() == 3);

  CHECK(reasons(read(std::string(64, '\xFF') + "\n" + std::string(64, '\x80'))) ==
        List{"binary, not text"});
}

TEST_CASE("a file may be in Windows-1252 or UTF-16") {
  const std::string line = R"({"id": "a", "title": "Caf_ au lait, and some more words of it"})";
  std::string western = line + "\n", wide = "\xFF\xFE";
  western[western.find('_')] = '\xE9';
  for (char c : line) wide += {c == '_' ? '\xE9' : c, '\0'};
  for (const std::string& bytes : {western, wide}) {
    const LoadedFile out = read(bytes);
    REQUIRE(out.pages.size() == 1);
    CHECK(out.pages[0].document.title.starts_with("Café au lait"));
    REQUIRE(out.warnings.size() == 1);
    CHECK(out.warnings[0].starts_with("site/corpus.jsonl: converted from "));
  }
}

}  // namespace corpus_test
