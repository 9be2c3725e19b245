// Index runs whose vectors come from a server.
#include <doctest/doctest.h>

#include <thread>

#include "embed/tei.h"
#include "house.h"
#include "net/client.h"
#include "support/upstream/fake_upstream.h"

namespace model_index_test {

using namespace stoka;
using namespace stoka::test;
using testing::FakeUpstream;

namespace {

struct Site {
  FakeUpstream server;
  TempFolder folder;
  RecordingLog log;
  FixedClock clock{kNow};
  net::Client client;
  net::Upstream upstream{options(), client, log};
  embed::TeiEmbedder model{upstream, clock};
  std::unique_ptr<store::Store> store =
      store::open("sqlite:" + (folder.path / "stoka.db").string(), store::OpenMode::read_write)
          .value();

  net::UpstreamOptions options() const {
    net::UpstreamOptions out{
        "embedder", net::BaseUrl::parse(server.url(), net::ApiRoot::plain).value(), {}, {}};
    out.retries = 0;
    return out;
  }

  void write(const std::string& name, const std::string& text) const {
    folder.write("content/" + name, "---\ntitle: " + name + "\ndate: 2026-01-01\n---\n\n" + text);
  }

  pipeline::IndexRequest request() {
    pipeline::IndexRequest out = index_request({folder.path / "content"});
    out.model = &model;
    out.identity.embedder.clear();
    return out;
  }

  Result<pipeline::IndexReport> index() {
    return pipeline::run_index(store.get(), request(), clock, log);
  }

  size_t embedded() const {
    size_t out = 0;
    for (const auto& seen : server.seen()) out += seen.path == "/embed";
    return out;
  }
};

}  // namespace

TEST_CASE("a model's vectors are stored with its name and dimension") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  site.write("caches.md", "a cache is a promise to forget.");
  auto report = site.index();
  REQUIRE(report);
  CHECK(report->added == 2);
  CHECK_FALSE(report->refitted);
  auto identity = site.store->identity().value().value();
  CHECK(identity.embedder.starts_with("tei:fake-model"));
  CHECK(identity.dim == 64);
  CHECK(site.store->stats().value().vectors == 2);
  auto query = site.model.embed_query("promise to forget", {}).value();
  auto found = site.store->search_dense(query, 1, {}).value();
  REQUIRE(found.size() == 1);
  CHECK(site.store->chunks(std::vector<ChunkId>{found[0].id}).value()[0].chunk.slug == "caches");
}

TEST_CASE("what did not change is not embedded again") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  site.write("caches.md", "a cache is a promise to forget.");
  REQUIRE(site.index());
  size_t before = site.embedded();
  site.write("caches.md", "a cache is a promise that is kept.");
  auto report = site.index();
  REQUIRE(report);
  CHECK(report->changed == 1);
  CHECK(site.embedded() == before + 1);
}

TEST_CASE("a text that the model refuses is listed, and found by its words") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  site.write("venom.md", "this one is poison for the model.");
  site.write("caches.md", "a cache is a promise to forget.");
  site.server.behave(R"({"times":0,"path":"/embed","fault":"poison"})");
  auto report = site.index();
  REQUIRE(report);
  CHECK(report->added == 3);
  CHECK(report->skipped.empty());
  REQUIRE(report->left_out.size() == 1);
  CHECK(report->left_out[0].path.ends_with("venom.md"));
  CHECK(site.store->stats().value().chunks == 3);
  CHECK(site.store->stats().value().vectors == 2);
  auto found = site.store->search_lexical(retrieve::query_terms("poison"), 5, {}).value();
  CHECK(found.size() == 1);
}

TEST_CASE("a model that does not answer leaves the index as it was") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  REQUIRE(pipeline::run_index(site.store.get(), index_request({site.folder.path / "content"}),
                              site.clock, site.log));
  auto before = site.store->stats().value();
  site.server.behave(R"({"times":0,"status":503})");
  auto report = site.index();
  REQUIRE_FALSE(report);
  CHECK(exit_code(report.error().kind) == 4);
  CHECK(site.store->identity().value()->embedder == embed::kBuiltinName);
  CHECK(site.store->stats().value().generation == before.generation);
}

TEST_CASE("a dry run asks for no vector, and needs no server") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  site.server.behave(R"({"times":0,"status":503})");
  auto request = site.request();
  request.dry_run = true;
  auto report = pipeline::run_index(site.store.get(), request, site.clock, site.log);
  REQUIRE(report);
  CHECK(report->added == 1);
  CHECK(site.embedded() == 0);
}

TEST_CASE("a stop while the model works keeps what was written") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  REQUIRE(site.index());
  site.write("caches.md", "a cache is a promise to forget.");
  std::stop_source stop;
  auto request = site.request();
  site.server.behave(R"({"path":"/embed","fault":"hang"})");
  size_t before = site.embedded();
  std::jthread user([&] {
    for (int i = 0; i < 500 && site.embedded() < before + 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop.request_stop();
  });
  auto report =
      pipeline::run_index(site.store.get(), request, site.clock, site.log, {}, stop.get_token());
  REQUIRE_FALSE(report);
  CHECK(report.error().kind == ErrorKind::cancelled);
  CHECK(site.store->stats().value().documents == 1);
  site.server.reset();
  CHECK(site.index()->added == 1);
}

TEST_CASE("a document template shapes what is embedded, and is recorded") {
  Site site;
  site.write("limits.md", "limits keep an agent honest.");
  auto request = site.request();
  request.identity.document_template = "title: {title} | text: {content}";
  REQUIRE(pipeline::run_index(site.store.get(), request, site.clock, site.log));
  CHECK(site.store->identity().value()->document_template == request.identity.document_template);
  bool seen = false;
  for (const auto& asked : site.server.seen())
    seen = seen || asked.body.find("title: limits.md | text: limits keep") != std::string::npos;
  CHECK(seen);
}

}  // namespace model_index_test
