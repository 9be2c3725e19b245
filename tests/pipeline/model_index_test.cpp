// Index runs with an embedding server.
#include <doctest/doctest.h>

#include <thread>

#include "embed/tei.h"
#include "net/http_client.h"
#include "support/site_fixture.h"
#include "support/upstream/fake_upstream.h"

namespace model_index_test {

using namespace stoka;
using namespace stoka::testing;
using testing::FakeUpstream;

namespace {

struct ModelFixture {
  FakeUpstream server;
  TempFolder folder;
  RecordingLog log;
  FixedClock clock{kNow};
  net::HttpClient client;
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
    out.identity.embedder.clear();
    return out;
  }

  Result<pipeline::IndexReport> index() {
    return pipeline::run_index(store.get(), model, request(), clock, log);
  }

  // The number of requests to /embed.
  size_t embed_requests() const {
    size_t out = 0;
    for (const auto& seen : server.requests()) out += seen.path == "/embed";
    return out;
  }
};

}  // namespace

TEST_CASE("the vectors of a model are stored with its name and dimension") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  index.write("caches.md", "a cache is a promise to forget.");
  auto report = index.index();
  REQUIRE(report);
  CHECK(report->added == 2);
  CHECK_FALSE(report->refitted);
  auto identity = index.store->identity().value().value();
  CHECK(identity.embedder.starts_with("tei:fake-model"));
  CHECK(identity.dim == 64);
  CHECK(index.store->stats().value().vectors == 2);
  auto query = index.model.embed_query("promise to forget", {}).value();
  auto found = index.store->search_dense(query, 1, {}).value();
  REQUIRE(found.size() == 1);
  CHECK(index.store->chunks(std::vector<ChunkId>{found[0].id}).value()[0].chunk.slug == "caches");
}

TEST_CASE("unchanged documents are not embedded again") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  index.write("caches.md", "a cache is a promise to forget.");
  REQUIRE(index.index());
  size_t before = index.embed_requests();
  index.write("caches.md", "a cache is a promise that is kept.");
  auto report = index.index();
  REQUIRE(report);
  CHECK(report->changed == 1);
  CHECK(index.embed_requests() == before + 1);
}

TEST_CASE("a chunk that the model refuses is reported, and lexical search finds it") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  index.write("venom.md", "this one is poison for the model.");
  index.write("caches.md", "a cache is a promise to forget.");
  index.server.queue_behaviour(R"({"times":0,"path":"/embed","fault":"poison"})");
  auto report = index.index();
  REQUIRE(report);
  CHECK(report->added == 3);
  CHECK(report->skipped.empty());
  REQUIRE(report->left_out.size() == 1);
  CHECK(report->left_out[0].path.ends_with("venom.md"));
  CHECK(index.store->stats().value().chunks == 3);
  CHECK(index.store->stats().value().vectors == 2);
  auto found = index.store->search_lexical(retrieve::query_terms("poison"), 5, {}).value();
  CHECK(found.size() == 1);
}

TEST_CASE("if the model does not answer, the index is not changed") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  embed::BuiltinEmbedder builtin(*index.store);
  REQUIRE(pipeline::run_index(index.store.get(), builtin,
                              index_request({index.folder.path / "content"}), index.clock,
                              index.log));
  auto before = index.store->stats().value();
  index.server.queue_behaviour(R"({"times":0,"status":503})");
  auto report = index.index();
  REQUIRE_FALSE(report);
  CHECK(exit_code(report.error().kind) == 4);
  CHECK(index.store->identity().value()->embedder == embed::kBuiltinName);
  CHECK(index.store->stats().value().generation == before.generation);
}

TEST_CASE("a dry run embeds nothing and works without the server") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  index.server.queue_behaviour(R"({"times":0,"status":503})");
  auto request = index.request();
  request.dry_run = true;
  auto report =
      pipeline::run_index(index.store.get(), index.model, request, index.clock, index.log);
  REQUIRE(report);
  CHECK(report->added == 1);
  CHECK(index.embed_requests() == 0);
}

TEST_CASE("a run that is cancelled during embedding keeps what was written") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  REQUIRE(index.index());
  index.write("caches.md", "a cache is a promise to forget.");
  std::stop_source stop;
  auto request = index.request();
  index.server.queue_behaviour(R"({"path":"/embed","fault":"hang"})");
  size_t before = index.embed_requests();
  std::jthread user([&] {
    for (int i = 0; i < 500 && index.embed_requests() < before + 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop.request_stop();
  });
  auto report = pipeline::run_index(index.store.get(), index.model, request, index.clock, index.log,
                                    {}, stop.get_token());
  REQUIRE_FALSE(report);
  CHECK(report.error().kind == ErrorKind::cancelled);
  CHECK(index.store->stats().value().documents == 1);
  index.server.reset();
  CHECK(index.index()->added == 1);
}

TEST_CASE("the document template is applied to the embedded texts and recorded in the index") {
  ModelFixture index;
  index.write("limits.md", "limits keep an agent honest.");
  auto request = index.request();
  request.identity.document_template = "title: {title} | text: {content}";
  REQUIRE(pipeline::run_index(index.store.get(), index.model, request, index.clock, index.log));
  CHECK(index.store->identity().value()->document_template == request.identity.document_template);
  bool seen = false;
  for (const auto& asked : index.server.requests())
    seen = seen || asked.body.find("title: limits.md | text: limits keep") != std::string::npos;
  CHECK(seen);
}

}  // namespace model_index_test
