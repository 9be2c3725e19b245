#include "ingest/source_format.h"

#include <doctest/doctest.h>

#include <set>

#include "ingest/loader.h"

namespace source_format_test {

using namespace stoka::ingest;

TEST_CASE("the extension of a file determines its format") {
  struct {
    const char *path, *format;
    bool in_folder;  // whether it is a source if it is found in a folder
  } cases[] = {
      {"a.md", "markdown", true},
      {"site/b.markdown", "markdown", true},
      {"site/C.MDX", "markdown", true},
      {"site/products.json", "products.json", true},
      {"site/Products.json", "products.json", false},
      {"site/list.JSON", "products.json", false},
      {"corpus.jsonl", "corpus.jsonl", false},
      {"old.NDJSON", "corpus.jsonl", false},
      {"notes.txt", nullptr, false},
      {"products.json/x", nullptr, false},
      {".md", nullptr, false},
      {"md", nullptr, false},
      {"", nullptr, false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.path);
    const SourceFormat* format = find_format(c.path);
    CHECK((format != nullptr) == (c.format != nullptr));
    if (format != nullptr) CHECK(format->name == c.format);
    CHECK(is_source_in_folder(c.path) == c.in_folder);
  }
}

TEST_CASE("every row of the table of formats is complete") {
  std::set<std::string_view> extensions;
  for (const SourceFormat& format : source_formats()) {
    CAPTURE(format.name);
    CHECK(!format.name.empty());
    CHECK(!format.syntax.empty());
    CHECK(format.max_bytes > 0);
    CHECK((format.read != nullptr));
    CHECK(!format.extensions.empty());
    for (const std::string_view extension : format.extensions) {
      CHECK(extension.starts_with('.'));
      CHECK(extensions.insert(extension).second);
    }
    if (format.in_folder == InFolder::named) CHECK(is_source_in_folder(format.name));
  }
}

TEST_CASE("messages list all source formats") {
  CHECK(format_names() == "markdown, products.json, corpus.jsonl");
  CHECK(unsupported_reason() == "not markdown, json or jsonl");
  CHECK(unsupported_in_folder_reason("x.png") == "neither markdown nor products.json");
  CHECK(unsupported_in_folder_reason("x.jsonl") ==
        "JSON data of the site; give the file itself to index it");
}

TEST_CASE("a file without a known format is skipped as unsupported") {
  for (const LoadedFile& out :
       {load({"x.txt", "x.txt", ""}, "v1"), load_bytes({"x", "x", ""}, "# Text", "v1")}) {
    CHECK(out.pages.empty());
    REQUIRE(out.skipped.size() == 1);
    CHECK(out.skipped[0].kind == SkipKind::unsupported);
    CHECK(out.skipped[0].reason == "not markdown, json or jsonl");
  }
}

}  // namespace source_format_test
