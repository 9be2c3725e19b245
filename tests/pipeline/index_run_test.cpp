#include "pipeline/index_run.h"

#include <doctest/doctest.h>

#include "pipeline/index_fixture.h"

namespace index_run_test {

using namespace stoka;
using namespace stoka::testing;

TEST_CASE("a run writes new and changed documents and leaves the others alone") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.page("b.md", "Ferries carry people.");
  CHECK(counts(index.run()) == "+2 ~0 =0 -0");
  CHECK(counts(index.run()) == "+0 ~0 =2 -0");
  index.page("a.md", "Lighthouses warn sailors.");
  CHECK(counts(index.run()) == "+0 ~1 =1 -0");
  CHECK(index.found("ships") == 0);
  CHECK(index.found("sailors") == 1);
}

TEST_CASE(
    "a document whose file is gone stays until it is removed with --prune, then no search finds "
    "it") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.page("b.md", "Ferries carry people.");
  REQUIRE(index.run());
  fs::remove(index.root / "a.md");
  auto kept = index.run();
  CHECK(counts(kept) == "+0 ~0 =1 -0");
  CHECK(kept->missing == 1);
  CHECK(index.found("lighthouses") == 1);
  CHECK(counts(index.run(true)) == "+0 ~0 =1 -1");
  CHECK(index.found("lighthouses") == 0);
  auto vector = index.fixture.embedder->embed_query("ferries carry people", {}).value();
  auto hits = index.fixture.store->search_dense(vector, 10, {}).value();
  for (const auto& hit : hits)
    CHECK(index.fixture.store->chunks(std::vector{hit.id}).value().front().chunk.slug == "b");
}

TEST_CASE("--prune removes all documents that are not under the paths") {
  IndexFixture index;
  index.page("one/a.md", "First.");
  index.page("two/b.md", "Second.");
  REQUIRE(index.run());
  // Relative to another root the page has another address, so it counts as changed.
  CHECK(counts(index.run(true, false, {index.root / "one"})) == "+0 ~1 =0 -1");
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a dry run reports the same changes and writes nothing") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  REQUIRE(index.run());
  index.page("a.md", "Changed words.");
  index.page("b.md", "Ferries carry people.");
  auto dry = index.run(true, true);
  CHECK(counts(dry) == "+1 ~1 =0 -0");
  CHECK(index.slugs() == std::set<std::string>{"a"});
  auto real = index.run(true);
  CHECK(counts(real) == counts(dry));
  CHECK(real->chunks == dry->chunks);
  embed::BuiltinEmbedder without_store;
  auto nothing = pipeline::run_index(
      nullptr, without_store,
      [&] {
        auto request = index_request({index.root});
        request.dry_run = true;
        return request;
      }(),
      index.fixture.clock, index.fixture.log);
  CHECK(counts(nothing) == "+2 ~0 =0 -0");
}

TEST_CASE("a page that becomes a draft is removed from the index") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.page("b.md", "Ferries carry people.");
  REQUIRE(index.run());
  index.write("a.md", "---\ntitle: A\ndraft: true\n---\nLighthouses warn ships.\n");
  auto report = index.run();
  CHECK(counts(report) == "+0 ~0 =1 -1");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "draft");
  CHECK(index.slugs() == std::set<std::string>{"b"});
}

TEST_CASE("a page that gets another slug is removed under its old slug") {
  IndexFixture index;
  index.write("a.md", "---\nslug: old-name\n---\n# A\n\nLighthouses warn ships.\n");
  REQUIRE(index.run());
  index.write("a.md", "---\nslug: new-name\n---\n# A\n\nLighthouses warn ships.\n");
  CHECK(counts(index.run()) == "+1 ~0 =0 -1");
  CHECK(index.slugs() == std::set<std::string>{"new-name"});
}

TEST_CASE("a file that is moved keeps its slug") {
  IndexFixture index;
  index.page("one/a.md", "Lighthouses warn ships.");
  REQUIRE(index.run());
  fs::create_directory(index.root / "two");
  fs::rename(index.root / "one/a.md", index.root / "two/a.md");
  CHECK(counts(index.run()) == "+0 ~1 =0 -0");
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a slug that a run of another folder has assigned is not taken away") {
  IndexFixture index;
  index.page("one/intro.md", "Lighthouses warn ships.");
  index.page("two/intro.md", "Ferries carry people.");
  REQUIRE(index.run(false, false, {index.root / "one"}));
  REQUIRE(index.run(false, false, {index.root / "two"}));
  CHECK(index.slugs().size() == 2);
  CHECK(index.slugs().contains("intro"));
  CHECK(counts(index.run(false, false, {index.root / "two"})) == "+0 ~0 =1 -0");
  CHECK(index.found("lighthouses") == 1);
  CHECK(index.found("ferries") == 1);
}

TEST_CASE("passages with secrets are not indexed and are reported") {
  IndexFixture index;
  index.write("a.md",
              "# A\n\nLighthouses warn ships.\n\n## Setup\n\nUse the key AKIAABCDEFGHIJKLMNOP for "
              "the bucket.\n");
  index.write("b.md",
              "---\ntitle: The key ghp_abcdefghijklmnopqrstuvwxyz0123456789\n---\nFerries.\n");
  auto report = index.run();
  REQUIRE(report);
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].path == (index.root / "b.md").string());
  REQUIRE(report->left_out.size() == 1);
  CHECK(report->left_out[0].path == (index.root / "a.md").string());
  CHECK(report->left_out[0].reason ==
        "a passage of 'Setup' was left out: it holds an AWS access key");
  CHECK(index.found("bucket") == 0);
  CHECK(index.found("lighthouses") == 1);
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a page that has only passages with secrets is skipped and removed from the index") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.page("b.md", "Ferries carry people.");
  REQUIRE(index.run());
  index.page("b.md", "Ferries need AKIAABCDEFGHIJKLMNOP.");
  auto report = index.run();
  CHECK(counts(report) == "+0 ~0 =1 -1");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "it holds an AWS access key");
  CHECK(report->left_out.empty());
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a document that becomes private is removed from the index, in every format") {
  struct {
    std::string file, published, unpublished;
  } cases[] = {
      {"b.md", "---\ntitle: B\n---\nFerries.", "---\ntitle: B\nnoindex: true\n---\nFerries."},
      {"b.md", "+++\ntitle = \"B\"\n+++\nFerries.",
       "+++\ntitle = \"B\"\n[_build]\nlist = \"never\"\n+++\nFerries."},
      {"products.json", R"([{"slug":"b","name":"B"},{"slug":"c","name":"C"}])",
       R"([{"slug":"b","name":"B","private":true},{"slug":"c","name":"C"}])"},
      {"c.jsonl", "{\"id\":\"b\",\"text\":\"B.\"}\n{\"id\":\"c\",\"text\":\"C.\"}\n",
       "{\"id\":\"b\",\"text\":\"B.\",\"secret\":1}\n{\"id\":\"c\",\"text\":\"C.\"}\n"},
      // Another line of the file cannot be read.
      {"c.jsonl", "{\"id\":\"b\",\"text\":\"B.\"}\n{\"id\":\"c\",\"text\":\"C.\"}\n",
       "{\"id\":\"b\",\"text\":\"B.\",\"secret\":1}\n{\"id\":\"c\" torn}\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.unpublished);
    IndexFixture index;
    index.page("a.md", "Lighthouses warn ships.");
    const std::vector<fs::path> paths = {index.root, index.root / c.file};
    index.write(c.file, c.published);
    REQUIRE(index.run(false, false, paths));
    CHECK(index.slugs().contains("b"));
    index.write(c.file, c.unpublished);
    auto report = index.run(false, false, paths);
    REQUIRE(report);
    CHECK(report->removed == 1);
    CHECK_FALSE(index.slugs().contains("b"));
    CHECK(index.slugs().contains("a"));
    bool is_reported = false;
    for (const ingest::SkippedSource& item : report->skipped)
      is_reported = is_reported || item.reason.find("keeps it from readers") != std::string::npos;
    CHECK(is_reported);
  }
}

TEST_CASE("a document keeps its slug when another file prefers the same one") {
  IndexFixture index;
  index.page("two/intro.md", "Ferries carry people.");
  REQUIRE(index.run());
  index.page("one/intro.md", "Lighthouses warn ships.");
  CHECK(counts(index.run()) == "+1 ~0 =1 -0");
  CHECK(index.slugs() == std::set<std::string>{"intro", "one-intro"});
  CHECK(counts(index.run()) == "+0 ~0 =2 -0");
}

TEST_CASE("a document whose file cannot be read keeps its slug") {
  struct {
    std::string file, text, unreadable;
  } cases[] = {
      {"x.md", "# X\n\nLighthouses warn ships.\n", std::string("\0\x01\0\x02", 4)},
      {"c.jsonl", "{\"id\":\"x\",\"text\":\"Lighthouses.\"}\n{\"id\":\"y\",\"text\":\"Y.\"}\n",
       "{\"id\":\"x\" torn\n{\"id\":\"y\",\"text\":\"Y.\"}\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.file);
    IndexFixture index;
    index.write(c.file, c.text);
    const std::vector<fs::path> paths = {index.root, index.root / c.file};
    REQUIRE(index.run(false, false, paths));
    index.page("b/x.md", "Ferries carry people.");
    REQUIRE(index.run(false, false, paths));
    const std::set<std::string> slugs = index.slugs();
    CHECK(slugs.contains("b-x"));
    index.write(c.file, c.unreadable);
    auto report = index.run(false, false, paths);
    REQUIRE(report);
    CHECK(report->added + report->changed + report->removed == 0);
    CHECK(index.slugs() == slugs);
    CHECK(index.found("lighthouses") == 1);
  }
}

TEST_CASE("documents keep their slugs when the index is rebuilt") {
  IndexFixture index;
  index.page("two/intro.md", "Ferries carry people.");
  REQUIRE(index.run());
  index.page("one/intro.md", "Lighthouses warn ships.");
  REQUIRE(index.run());
  auto request = index_request({index.root});
  request.rebuild = true;
  CHECK(counts(pipeline::run_index(index.fixture.store.get(), *index.fixture.embedder, request,
                                   index.fixture.clock, index.fixture.log)) == "+2 ~0 =0 -0");
  CHECK(index.slugs() == std::set<std::string>{"intro", "one-intro"});
  CHECK(counts(index.run()) == "+0 ~0 =2 -0");
}

TEST_CASE("an index made with another chunker is rebuilt with a warning") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  REQUIRE(index.run());
  auto request = index_request({index.root});
  request.chunks.max_tokens = 256;
  request.identity.chunker = request.chunks.describe();
  auto report = pipeline::run_index(index.fixture.store.get(), *index.fixture.embedder, request,
                                    index.fixture.clock, index.fixture.log);
  CHECK(counts(report) == "+1 ~0 =0 -0");
  CHECK(index.fixture.log.warnings.size() == 1);
  CHECK(index.fixture.store->identity().value()->chunker == request.chunks.describe());
}

TEST_CASE("a run fails with a busy error while another run is writing") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  auto writer = index.fixture.store->begin_index();
  REQUIRE(writer);
  auto report = index.run();
  REQUIRE(!report);
  CHECK(report.error().kind == ErrorKind::busy);
}

TEST_CASE("a run that is cancelled between documents keeps what was written") {
  IndexFixture index;
  for (int i = 0; i < 5; ++i) index.page("p" + std::to_string(i) + ".md", "Words.");
  std::stop_source stop;
  auto report = pipeline::run_index(
      index.fixture.store.get(), *index.fixture.embedder, index_request({index.root}),
      index.fixture.clock, index.fixture.log,
      [&](std::string_view what, size_t done, size_t) {
        if (what == "writing" && done == 2) stop.request_stop();
      },
      stop.get_token());
  REQUIRE(!report);
  CHECK(report.error().kind == ErrorKind::cancelled);
  CHECK(index.slugs().size() == 3);
  CHECK(counts(index.run()) == "+2 ~0 =3 -0");
}

TEST_CASE("a document stays while its source cannot be read, even with --prune") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.write("products.json",
              R"([{"slug":"lamp","name":"Lamp","description":"A lamp for ships."}])");
  REQUIRE(index.run());
  index.write("products.json", R"([{"slug":"lamp","na)");
  for (bool prune : {false, true}) {
    auto report = index.run(prune);
    CHECK(counts(report) == "+0 ~0 =1 -0");
    CHECK(report->skipped.size() == 1);
    CHECK(index.slugs() == std::set<std::string>{"a", "lamp"});
  }
}

TEST_CASE("documents that may be in an unreadable line of a corpus stay") {
  IndexFixture index;
  index.write("c.jsonl",
              "{\"id\":\"a\",\"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  const std::vector<fs::path> corpus = {index.root / "c.jsonl"};
  REQUIRE(index.run(false, false, corpus));
  index.write("c.jsonl",
              "{\"id\":\"a\" \"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  auto report = index.run(false, false, corpus);
  CHECK(counts(report) == "+0 ~0 =1 -0");
  CHECK(report->missing == 1);
  CHECK(index.slugs() == std::set<std::string>{"a", "b"});
  CHECK(counts(index.run(true, false, corpus)) == "+0 ~0 =1 -1");  // --prune removes it

  index.write("c.jsonl",
              "{\"id\":\"a\",\"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  REQUIRE(index.run(false, false, corpus));
  index.write(
      "c.jsonl",
      "{\"id\":\"b\",\"text\":\"Lamps.\"}\n");  // every line can be read, so the document is gone
  CHECK(counts(index.run(false, false, corpus)) == "+0 ~0 =1 -1");
}

TEST_CASE("--prune with nothing to index gives an error, and nothing is removed") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  REQUIRE(index.run());
  fs::create_directory(index.fixture.folder.path / "empty");
  auto report = index.run(true, false, {index.fixture.folder.path / "empty"});
  REQUIRE(!report);
  CHECK(report.error().message == "found nothing to index");
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a rebuild fails if documents are not under the paths, unless --prune is given") {
  IndexFixture index;
  index.page("one/a.md", "Lighthouses warn ships.");
  index.page("two/b.md", "Ferries carry people.");
  REQUIRE(index.run());
  auto request = index_request({index.root / "one"});
  request.chunks.max_tokens = 256;
  request.identity.chunker = request.chunks.describe();
  auto again = [&] {
    return pipeline::run_index(index.fixture.store.get(), *index.fixture.embedder, request,
                               index.fixture.clock, index.fixture.log);
  };
  CHECK(again().error().kind == ErrorKind::config);
  CHECK(index.slugs() == std::set<std::string>{"a", "b"});
  request.prune = true;
  CHECK(counts(again()) == "+1 ~0 =0 -1");
  CHECK(index.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a page dated in the future is not indexed before that day") {
  IndexFixture index;
  index.page("a.md", "Lighthouses warn ships.");
  index.write("b.md", "---\ntitle: B\ndate: 2026-11-22\n---\nFerries carry people.\n");
  auto report = index.run();
  CHECK(counts(report) == "+1 ~0 =0 -0");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "dated in the future, 2026-11-22");
  index.fixture.clock.advance(std::chrono::hours(24));
  CHECK(counts(index.run()) == "+1 ~0 =1 -0");
}

TEST_CASE("a path that does not exist gives an error that names it") {
  IndexFixture index;
  auto report = index.run(false, false, {index.root / "missing"});
  REQUIRE(!report);
  CHECK(report.error().message.find("missing") != std::string::npos);
}

TEST_CASE("the JSON of a report has its fields in order") {
  pipeline::IndexReport report;
  report.added = 1;
  report.skipped = {{"x.md", "draft"}};
  CHECK(pipeline::to_json(report).starts_with(
      R"({"added":1,"changed":0,"unchanged":0,"removed":0,"chunks":0,"skipped":[{"path":"x.md","reason":"draft"}])"));
}

}  // namespace index_run_test
