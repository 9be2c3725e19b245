// Measures the latency that stoka adds to a chat turn when embedder, reranker and generator are
// servers: the total minus the time of the requests to them. The fake upstream responds at once;
// the index has 1,000 chunks with 1,024 dimensions in SQLite. The target is a p50 under 2 ms.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "embed/builtin.h"
#include "embed/tei.h"
#include "generate/openai_generator.h"
#include "ingest/chunker.h"
#include "net/http_client.h"
#include "pipeline/turn.h"
#include "rerank/remote.h"
#include "store/open.h"
#include "support/upstream/fake_upstream.h"

using namespace stoka;
using SteadyClock = std::chrono::steady_clock;

namespace {

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}. {}\n", result.error().message, result.error().hint);
  exit(1);
}

double ms_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

// Measures the time of the requests without that of their listeners, which belong to stoka.
class Stopwatch final : public net::Transport, net::BodySink {
 public:
  explicit Stopwatch(net::Transport& carrier) : carrier_(carrier) {}

  double ms = 0;
  int exchanges = 0;

  std::unique_ptr<net::Transfer> start(net::EventLoop& loop, const net::HttpRequest& request,
                                       net::BodySink& listener,
                                       net::CompletionCallback done) override {
    listener_ = &listener;
    ++exchanges;
    const auto began = SteadyClock::now();
    return carrier_.start(loop, request, *this,
                          [this, began, done](std::optional<net::TransferFailure> failure) {
                            ms += ms_since(began);
                            done(std::move(failure));
                          });
  }

 private:
  Result<> head(const net::ResponseHead& head) override {
    auto start = SteadyClock::now();
    auto out = listener_->head(head);
    ms -= ms_since(start);
    return out;
  }
  Result<net::BodyProgress> body(std::string_view bytes) override {
    auto start = SteadyClock::now();
    auto out = listener_->body(bytes);
    ms -= ms_since(start);
    return out;
  }

  net::Transport& carrier_;
  net::BodySink* listener_ = nullptr;
};

struct Samples {
  std::vector<double> values;
  double at(double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

// 250 documents of four chunks each, of synthetic words that follow Zipf's law.
void fill(store::Store& store, embed::Embedder& model, const store::IndexIdentity& identity) {
  std::mt19937 random(7);
  std::vector<double> weights;
  for (int i = 1; i <= 5000; ++i) weights.push_back(1.0 / i);
  std::discrete_distribution<int> pick(weights.begin(), weights.end());
  auto words = [&](int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += fmt::format("w{}{}", pick(random), i % 12 == 11 ? ". " : " ");
    return out + "end.";
  };
  auto writer = must(store.begin_index());
  must(writer->set_identity(identity).map([] { return true; }));
  for (int d = 0; d < 250; ++d) {
    Document document;
    document.slug = fmt::format("page-{}", d);
    document.title = "Page " + words(3);
    document.type = "blog";
    document.url = "/" + document.slug;
    std::vector<store::ChunkRecord> records;
    std::vector<std::string> texts;
    for (int c = 0; c < 4; ++c) {
      store::ChunkRecord record;
      record.chunk.slug = document.slug;
      record.chunk.title = document.title;
      record.chunk.type = document.type;
      record.chunk.index = c;
      record.chunk.content = words(120 + static_cast<int>(random() % 160));
      record.terms = embed::count_terms(record.chunk.title + "\n" + record.chunk.content);
      texts.push_back(record.chunk.content);
      records.push_back(std::move(record));
    }
    auto embedded = must(model.embed_documents(texts, {}, {}));
    for (size_t i = 0; i < records.size(); ++i) records[i].embedding = embedded.vectors[i];
    must(writer->put_document(document, records).map([] { return true; }));
  }
  must(writer->finish(Instant()).map([] { return true; }));
}

net::UpstreamOptions options(const std::string& role, const testing::FakeUpstream& server,
                             net::ApiRoot root) {
  return {role, must(net::BaseUrl::parse(server.url(), root)), {}, {}};
}

}  // namespace

int main() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoka-bench-XXXXXX").string();
  std::filesystem::path folder = ::mkdtemp(pattern.data());
  testing::FakeOptions big;
  big.dim = 1024;
  testing::FakeOptions cross;
  cross.reranker = true;
  testing::FakeUpstream embed_server(big), rerank_server(cross), chat_server;
  NullLog log;
  SystemClock clock;
  SeededUuidSource ids(1);
  net::HttpClient client;
  Stopwatch network(client);
  net::Upstream embed_upstream(options("embedder", embed_server, net::ApiRoot::plain), network,
                               log);
  net::Upstream rerank_upstream(options("reranker", rerank_server, net::ApiRoot::plain), network,
                                log);
  net::Upstream chat_upstream(options("generator", chat_server, net::ApiRoot::versioned), network,
                              log);
  embed::TeiEmbedder embedder(embed_upstream, clock);
  rerank::TeiReranker reranker(rerank_upstream, {});
  generate::OpenAiOptions chat;
  chat.model = "fake-model";
  generate::OpenAiGenerator generator(chat_upstream, chat, log);

  auto store =
      must(store::open("sqlite:" + (folder / "stoka.db").string(), store::OpenMode::read_write));
  pipeline::Settings settings;
  settings.retrieve.fusion.fusion = retrieve::Fusion::rrf;
  settings.thresholds = {0, 0, 0};  // so that every question is answered
  settings.identity.chunker = "bench";
  store::IndexIdentity identity = settings.identity;
  identity.embedder = must(embedder.identity(embed::InputType::document, {})).name;
  identity.dim = big.dim;
  fill(*store, embedder, identity);

  golden::Golden golden = must(golden::load());
  route::Router router = must(route::Router::make(golden.router));
  cite::GuardRules guard = must(cite::read_guard_rules(golden.guard));
  pipeline::Engine engine(
      {*store, *store, embedder, reranker, generator, golden, router, guard, clock, ids, log},
      settings);
  std::mt19937 random(11);
  Samples total, upstream, own;
  std::map<std::string, Samples> stages;  // including the servers
  double events = 0;
  constexpr int kTurns = 300;
  for (int i = 0; i < kTurns + 20; ++i) {
    network.ms = 0;
    auto start = SteadyClock::now();
    size_t heard = 0;
    auto outcome =
        must(pipeline::run_turn(engine,
                                {fmt::format("tell me about w{} and w{} in w{}", random() % 300,
                                             random() % 300, random() % 300),
                                 "",
                                 "",
                                 "",
                                 {}},
                                [&](const Event&) { ++heard; }));
    double ms = ms_since(start);
    if (outcome.stream_result.error) {
      fmt::print(stderr, "{}\n", outcome.stream_result.error->message);
      return 1;
    }
    if (i < 20) continue;  // warm-up
    total.values.push_back(ms);
    upstream.values.push_back(network.ms);
    own.values.push_back(ms - network.ms);
    events += static_cast<double>(heard);
    double prepared = 0;
    for (const pipeline::StageTiming& stage : outcome.turn.stages) {
      stages[stage.name].values.push_back(stage.ms);
      prepared += stage.ms;
    }
    stages["stream and commit"].values.push_back(ms - prepared);
  }
  fmt::print("{} turns, {} upstream requests, {:.1f} events a turn\n", kTurns, network.exchanges,
             events / kTurns);
  fmt::print("{:<22} {:>8} {:>8} {:>8}\n", "ms", "p50", "p95", "p99");
  auto row = [](const char* what, Samples& samples) {
    fmt::print("{:<22} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, samples.at(0.5), samples.at(0.95),
               samples.at(0.99));
  };
  row("turn", total);
  row("exchanges with servers", upstream);
  row("stoka itself", own);
  fmt::print("\nstages, including the servers\n");
  for (auto& [name, samples] : stages) row(name.c_str(), samples);
  fmt::print("\nstoka itself is {:.2f} of a turn\n", own.at(0.5) / total.at(0.5));
  std::filesystem::remove_all(folder);
  return 0;
}
