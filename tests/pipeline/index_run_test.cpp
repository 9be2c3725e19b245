#include "pipeline/index_run.h"

#include <doctest/doctest.h>

#include "site.h"

namespace index_run_test {

using namespace stoka;
using namespace stoka::test;

TEST_CASE("a run writes what is new or changed and leaves the rest alone") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.page("b.md", "Ferries carry people.");
  CHECK(counts(site.run()) == "+2 ~0 =0 -0");
  CHECK(counts(site.run()) == "+0 ~0 =2 -0");
  site.page("a.md", "Lighthouses warn sailors.");
  CHECK(counts(site.run()) == "+0 ~1 =1 -0");
  CHECK(site.found("ships") == 0);
  CHECK(site.found("sailors") == 1);
}

TEST_CASE("what is gone stays until it is pruned, and then is gone from every search") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.page("b.md", "Ferries carry people.");
  REQUIRE(site.run());
  fs::remove(site.root / "a.md");
  auto kept = site.run();
  CHECK(counts(kept) == "+0 ~0 =1 -0");
  CHECK(kept->gone == 1);
  CHECK(site.found("lighthouses") == 1);
  CHECK(counts(site.run(true)) == "+0 ~0 =1 -1");
  CHECK(site.found("lighthouses") == 0);
  auto vector = site.house.embedder->embed_query("ferries carry people", {}).value();
  auto hits = site.house.store->search_dense(vector, 10, {}).value();
  for (const auto& hit : hits)
    CHECK(site.house.store->chunks(std::vector{hit.id}).value().front().chunk.slug == "b");
}

TEST_CASE("pruning leaves exactly what the paths hold") {
  Site site;
  site.page("one/a.md", "First.");
  site.page("two/b.md", "Second.");
  REQUIRE(site.run());
  // Seen from another root the page has another address.
  CHECK(counts(site.run(true, false, {site.root / "one"})) == "+0 ~1 =0 -1");
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a dry run says the same and writes nothing") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  REQUIRE(site.run());
  site.page("a.md", "Changed words.");
  site.page("b.md", "Ferries carry people.");
  auto dry = site.run(true, true);
  CHECK(counts(dry) == "+1 ~1 =0 -0");
  CHECK(site.slugs() == std::set<std::string>{"a"});
  auto wet = site.run(true);
  CHECK(counts(wet) == counts(dry));
  CHECK(wet->chunks == dry->chunks);
  auto nothing = pipeline::run_index(
      nullptr,
      [&] {
        auto request = index_request({site.root});
        request.dry_run = true;
        return request;
      }(),
      site.house.clock, site.house.log);
  CHECK(counts(nothing) == "+2 ~0 =0 -0");
}

TEST_CASE("a page that becomes a draft leaves the index") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.page("b.md", "Ferries carry people.");
  REQUIRE(site.run());
  site.write("a.md", "---\ntitle: A\ndraft: true\n---\nLighthouses warn ships.\n");
  auto report = site.run();
  CHECK(counts(report) == "+0 ~0 =1 -1");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "draft");
  CHECK(site.slugs() == std::set<std::string>{"b"});
}

TEST_CASE("a page that is renamed is not left behind under its old name") {
  Site site;
  site.write("a.md", "---\nslug: old-name\n---\n# A\n\nLighthouses warn ships.\n");
  REQUIRE(site.run());
  site.write("a.md", "---\nslug: new-name\n---\n# A\n\nLighthouses warn ships.\n");
  CHECK(counts(site.run()) == "+1 ~0 =0 -1");
  CHECK(site.slugs() == std::set<std::string>{"new-name"});
}

TEST_CASE("a moved file takes its slug along") {
  Site site;
  site.page("one/a.md", "Lighthouses warn ships.");
  REQUIRE(site.run());
  fs::create_directory(site.root / "two");
  fs::rename(site.root / "one/a.md", site.root / "two/a.md");
  CHECK(counts(site.run()) == "+0 ~1 =0 -0");
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a slug that another folder's run has taken stays there") {
  Site site;
  site.page("one/intro.md", "Lighthouses warn ships.");
  site.page("two/intro.md", "Ferries carry people.");
  REQUIRE(site.run(false, false, {site.root / "one"}));
  REQUIRE(site.run(false, false, {site.root / "two"}));
  CHECK(site.slugs().size() == 2);
  CHECK(site.slugs().contains("intro"));
  CHECK(counts(site.run(false, false, {site.root / "two"})) == "+0 ~0 =1 -0");
  CHECK(site.found("lighthouses") == 1);
  CHECK(site.found("ferries") == 1);
}

TEST_CASE("secrets stay out of the index and are reported") {
  Site site;
  site.write("a.md",
             "# A\n\nLighthouses warn ships.\n\n## Setup\n\nUse the key AKIAABCDEFGHIJKLMNOP for "
             "the bucket.\n");
  site.write("b.md",
             "---\ntitle: The key ghp_abcdefghijklmnopqrstuvwxyz0123456789\n---\nFerries.\n");
  auto report = site.run();
  REQUIRE(report);
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].path == (site.root / "b.md").string());
  REQUIRE(report->left_out.size() == 1);
  CHECK(report->left_out[0].path == (site.root / "a.md").string());
  CHECK(report->left_out[0].reason ==
        "a passage of 'Setup' was left out: it holds an AWS access key");
  CHECK(site.found("bucket") == 0);
  CHECK(site.found("lighthouses") == 1);
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a page of which a secret leaves nothing is skipped, and leaves the index") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.page("b.md", "Ferries carry people.");
  REQUIRE(site.run());
  site.page("b.md", "Ferries need AKIAABCDEFGHIJKLMNOP.");
  auto report = site.run();
  CHECK(counts(report) == "+0 ~0 =1 -1");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "it holds an AWS access key");
  CHECK(report->left_out.empty());
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("what its author keeps from readers leaves the index, whatever it was indexed from") {
  struct {
    std::string file, open, hidden;
  } cases[] = {
      {"b.md", "---\ntitle: B\n---\nFerries.", "---\ntitle: B\nnoindex: true\n---\nFerries."},
      {"b.md", "+++\ntitle = \"B\"\n+++\nFerries.",
       "+++\ntitle = \"B\"\n[_build]\nlist = \"never\"\n+++\nFerries."},
      {"products.json", R"([{"slug":"b","name":"B"},{"slug":"c","name":"C"}])",
       R"([{"slug":"b","name":"B","private":true},{"slug":"c","name":"C"}])"},
      {"c.jsonl", "{\"id\":\"b\",\"text\":\"B.\"}\n{\"id\":\"c\",\"text\":\"C.\"}\n",
       "{\"id\":\"b\",\"text\":\"B.\",\"secret\":1}\n{\"id\":\"c\",\"text\":\"C.\"}\n"},
      // Another line cannot be read, but this one can.
      {"c.jsonl", "{\"id\":\"b\",\"text\":\"B.\"}\n{\"id\":\"c\",\"text\":\"C.\"}\n",
       "{\"id\":\"b\",\"text\":\"B.\",\"secret\":1}\n{\"id\":\"c\" torn}\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.hidden);
    Site site;
    site.page("a.md", "Lighthouses warn ships.");
    const std::vector<fs::path> paths = {site.root, site.root / c.file};
    site.write(c.file, c.open);
    REQUIRE(site.run(false, false, paths));
    CHECK(site.slugs().contains("b"));
    site.write(c.file, c.hidden);
    auto report = site.run(false, false, paths);
    REQUIRE(report);
    CHECK(report->removed == 1);
    CHECK_FALSE(site.slugs().contains("b"));
    CHECK(site.slugs().contains("a"));
    bool told = false;
    for (const ingest::Skipped& item : report->skipped)
      told = told || item.reason.find("keeps it from readers") != std::string::npos;
    CHECK(told);
  }
}

TEST_CASE("a document that holds its slug keeps it when another file wants the same name") {
  Site site;
  site.page("two/intro.md", "Ferries carry people.");
  REQUIRE(site.run());
  site.page("one/intro.md", "Lighthouses warn ships.");
  CHECK(counts(site.run()) == "+1 ~0 =1 -0");
  CHECK(site.slugs() == std::set<std::string>{"intro", "one-intro"});
  CHECK(counts(site.run()) == "+0 ~0 =2 -0");
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
    Site site;
    site.write(c.file, c.text);
    const std::vector<fs::path> paths = {site.root, site.root / c.file};
    REQUIRE(site.run(false, false, paths));
    site.page("b/x.md", "Ferries carry people.");
    REQUIRE(site.run(false, false, paths));
    const std::set<std::string> slugs = site.slugs();
    CHECK(slugs.contains("b-x"));
    site.write(c.file, c.unreadable);
    auto report = site.run(false, false, paths);
    REQUIRE(report);
    CHECK(report->added + report->changed + report->removed == 0);
    CHECK(site.slugs() == slugs);
    CHECK(site.found("lighthouses") == 1);
  }
}

TEST_CASE("documents keep their slugs when the index is made again") {
  Site site;
  site.page("two/intro.md", "Ferries carry people.");
  REQUIRE(site.run());
  site.page("one/intro.md", "Lighthouses warn ships.");
  REQUIRE(site.run());
  auto request = index_request({site.root});
  request.rebuild = true;
  CHECK(counts(pipeline::run_index(site.house.store.get(), request, site.house.clock,
                                   site.house.log)) == "+2 ~0 =0 -0");
  CHECK(site.slugs() == std::set<std::string>{"intro", "one-intro"});
  CHECK(counts(site.run()) == "+0 ~0 =2 -0");
}

TEST_CASE("an index made with other chunks is made again, aloud") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  REQUIRE(site.run());
  auto request = index_request({site.root});
  request.chunks.max_tokens = 256;
  request.identity.chunker = request.chunks.describe();
  auto report =
      pipeline::run_index(site.house.store.get(), request, site.house.clock, site.house.log);
  CHECK(counts(report) == "+1 ~0 =0 -0");
  CHECK(site.house.log.warnings.size() == 1);
  CHECK(site.house.store->identity().value()->chunker == request.chunks.describe());
}

TEST_CASE("a second run while one is writing is refused") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  auto writer = site.house.store->begin_index();
  REQUIRE(writer);
  auto report = site.run();
  REQUIRE(!report);
  CHECK(report.error().kind == ErrorKind::busy);
}

TEST_CASE("a stop between documents keeps what was written") {
  Site site;
  for (int i = 0; i < 5; ++i) site.page("p" + std::to_string(i) + ".md", "Words.");
  std::stop_source stop;
  auto report = pipeline::run_index(
      site.house.store.get(), index_request({site.root}), site.house.clock, site.house.log,
      [&](std::string_view what, size_t done, size_t) {
        if (what == "writing" && done == 2) stop.request_stop();
      },
      stop.get_token());
  REQUIRE(!report);
  CHECK(report.error().kind == ErrorKind::cancelled);
  CHECK(site.slugs().size() == 3);
  CHECK(counts(site.run()) == "+2 ~0 =3 -0");
}

TEST_CASE("a source that cannot be read now keeps its document") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.write("products.json",
             R"([{"slug":"lamp","name":"Lamp","description":"A lamp for ships."}])");
  REQUIRE(site.run());
  site.write("products.json", R"([{"slug":"lamp","na)");
  for (bool prune : {false, true}) {
    auto report = site.run(prune);
    CHECK(counts(report) == "+0 ~0 =1 -0");
    CHECK(report->skipped.size() == 1);
    CHECK(site.slugs() == std::set<std::string>{"a", "lamp"});
  }
}

TEST_CASE("a corpus of which a part is torn keeps what that part may have been") {
  Site site;
  site.write("c.jsonl", "{\"id\":\"a\",\"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  const std::vector<fs::path> corpus = {site.root / "c.jsonl"};
  REQUIRE(site.run(false, false, corpus));
  site.write("c.jsonl", "{\"id\":\"a\" \"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  auto report = site.run(false, false, corpus);
  CHECK(counts(report) == "+0 ~0 =1 -0");
  CHECK(report->gone == 1);
  CHECK(site.slugs() == std::set<std::string>{"a", "b"});
  CHECK(counts(site.run(true, false, corpus)) == "+0 ~0 =1 -1");  // asked to

  site.write("c.jsonl", "{\"id\":\"a\",\"text\":\"Ships.\"}\n{\"id\":\"b\",\"text\":\"Lamps.\"}\n");
  REQUIRE(site.run(false, false, corpus));
  site.write("c.jsonl", "{\"id\":\"b\",\"text\":\"Lamps.\"}\n");  // a line that is gone is gone
  CHECK(counts(site.run(false, false, corpus)) == "+0 ~0 =1 -1");
}

TEST_CASE("pruning to nothing is refused before anything is forgotten") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  REQUIRE(site.run());
  fs::create_directory(site.house.folder.path / "empty");
  auto report = site.run(true, false, {site.house.folder.path / "empty"});
  REQUIRE(!report);
  CHECK(report.error().message == "nothing to index was found");
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("making an index again does not lose what is not under the paths") {
  Site site;
  site.page("one/a.md", "Lighthouses warn ships.");
  site.page("two/b.md", "Ferries carry people.");
  REQUIRE(site.run());
  auto request = index_request({site.root / "one"});
  request.chunks.max_tokens = 256;
  request.identity.chunker = request.chunks.describe();
  auto again = [&] {
    return pipeline::run_index(site.house.store.get(), request, site.house.clock, site.house.log);
  };
  CHECK(again().error().kind == ErrorKind::config);
  CHECK(site.slugs() == std::set<std::string>{"a", "b"});
  request.prune = true;
  CHECK(counts(again()) == "+1 ~0 =0 -1");
  CHECK(site.slugs() == std::set<std::string>{"a"});
}

TEST_CASE("a page dated in the future waits for its day") {
  Site site;
  site.page("a.md", "Lighthouses warn ships.");
  site.write("b.md", "---\ntitle: B\ndate: 2026-11-22\n---\nFerries carry people.\n");
  auto report = site.run();
  CHECK(counts(report) == "+1 ~0 =0 -0");
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].reason == "dated in the future, 2026-11-22");
  site.house.clock.advance(std::chrono::hours(24));
  CHECK(counts(site.run()) == "+1 ~0 =1 -0");
}

TEST_CASE("a path that does not exist is named") {
  Site site;
  auto report = site.run(false, false, {site.root / "missing"});
  REQUIRE(!report);
  CHECK(report.error().message.find("missing") != std::string::npos);
}

TEST_CASE("the report is written with its fields in order") {
  pipeline::IndexReport report;
  report.added = 1;
  report.skipped = {{"x.md", "draft"}};
  CHECK(pipeline::to_json(report).starts_with(
      R"({"added":1,"changed":0,"unchanged":0,"removed":0,"chunks":0,"skipped":[{"path":"x.md","reason":"draft"}])"));
}

}  // namespace index_run_test
