// Compares both stores: turns a second, latency of searches, and the recall of the HNSW index.
// Arguments: chunk counts (default 10000 100000); --keep URL uses that database instead of a
// temporary server (its index is replaced).
//
// The vectors are synthetic, of 1,024 dimensions. Real embeddings lie in clusters near a manifold
// of a few dozen dimensions; "text-like" vectors do the same (400 clusters in 64 dimensions, with
// some noise in all 1,024). "random" vectors have no structure, which is the worst case for an
// index and does not occur with a model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "search/vectors.h"
#include "store/open.h"
#include "support/postgres.h"
#include "support/temp_folder.h"

namespace {

using namespace stoka;
using namespace stoka::store;
using Steady = std::chrono::steady_clock;

constexpr size_t kDim = 1024;
constexpr size_t kInner = 64;
constexpr int kClusters = 400;
constexpr int kPerDocument = 20;
constexpr int kWordsPerChunk = 60;
constexpr size_t kVocabulary = 30000;
constexpr int kQueries = 200;

double ms_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s (%s)\n", result.error().message.c_str(), result.error().hint.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Times {
  double p50 = 0;
  double p95 = 0;
};

Times times(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all[all.size() * 95 / 100]};
}

enum class Kind { text_like, smooth, random };

const char* name(Kind kind) {
  return kind == Kind::text_like ? "text-like" : kind == Kind::smooth ? "smooth" : "random";
}

class Data {
 public:
  explicit Data(Kind kind) : kind_(kind) {
    if (kind == Kind::random) return;
    map_.resize(kInner * kDim);
    for (float& value : map_) value = normal_(random_) / std::sqrt(static_cast<float>(kInner));
    centres_.resize(kClusters * kInner);
    if (kind == Kind::text_like)
      for (float& value : centres_) value = normal_(random_);
  }

  std::vector<float> vector() {
    std::vector<float> out(kDim);
    for (float& value : out) value = (kind_ == Kind::random ? 1.0F : 0.3F) * normal_(random_);
    if (kind_ != Kind::random) {
      const size_t cluster = random_() % kClusters;
      for (size_t i = 0; i < kInner; ++i) {
        const float inner = centres_[cluster * kInner + i] + 0.7F * normal_(random_);
        for (size_t j = 0; j < kDim; ++j) out[j] += inner * map_[i * kDim + j];
      }
    }
    search::normalize(out);
    return out;
  }

  // Approximates Zipf's law by drawing the rank from 1/x.
  std::string word() {
    const double share = static_cast<double>(random_()) / 4294967296.0;
    return "w" + std::to_string(static_cast<size_t>(std::pow(double{kVocabulary}, share)));
  }

  std::vector<QueryTerm> question() {
    std::vector<QueryTerm> out;
    while (out.size() < 4) out.push_back({word(), 1});
    return out;
  }

 private:
  Kind kind_;
  std::mt19937 random_{7};
  std::normal_distribution<float> normal_;
  std::vector<float> map_;
  std::vector<float> centres_;
};

double fill(const std::vector<Store*>& stores, int chunks, Kind kind,
            std::vector<double>& seconds) {
  Data data(kind);
  std::vector<std::unique_ptr<IndexWriter>> writers;
  for (Store* store : stores) writers.push_back(must(store->begin_index()));
  seconds.assign(stores.size(), 0);
  const auto each = [&](const std::function<void(IndexWriter&)>& work) {
    for (size_t i = 0; i < writers.size(); ++i) {
      const auto start = Steady::now();
      work(*writers[i]);
      seconds[i] += ms_since(start) / 1000;
    }
  };
  each([](IndexWriter& writer) { must(writer.clear()); });
  for (int first = 0; first < chunks; first += kPerDocument) {
    Document document;
    document.slug = "doc-" + std::to_string(first);
    std::vector<ChunkRecord> records(kPerDocument);
    for (int index = 0; index < kPerDocument; ++index) {
      ChunkRecord& record = records[static_cast<size_t>(index)];
      record.chunk.slug = document.slug;
      record.chunk.index = index;
      record.chunk.content = std::string(800, 'x');
      std::map<std::string, uint32_t> counts;
      for (int word = 0; word < kWordsPerChunk; ++word) ++counts[data.word()];
      for (const auto& [word, count] : counts) record.terms.push_back({word, count});
      record.embedding = data.vector();
    }
    each([&](IndexWriter& writer) { must(writer.put_document(document, records)); });
  }
  const std::vector<double> before = seconds;
  each([](IndexWriter& writer) { must(writer.finish(Instant())); });
  return seconds.back() - before.back();
}

Times timed(int runs, const std::function<void(int)>& work) {
  std::vector<double> all;
  for (int i = 0; i < runs; ++i) {
    const auto start = Steady::now();
    work(i);
    all.push_back(ms_since(start));
  }
  return times(std::move(all));
}

void row(const char* what, const std::function<Times(Store&)>& measure, Store& a, Store& b) {
  const Times first = measure(a);
  const Times second = measure(b);
  std::printf("  %-34s %8.2f %8.2f   %8.2f %8.2f   %6.1f\n", what, first.p50, first.p95, second.p50,
              second.p95, second.p50 / first.p50);
}

void searches(Store& sqlite, Store& postgres, int chunks) {
  Data data(Kind::text_like);
  std::vector<std::vector<float>> vectors;
  std::vector<std::vector<QueryTerm>> questions;
  for (int i = 0; i < kQueries; ++i) {
    vectors.push_back(data.vector());
    questions.push_back(data.question());
  }
  const auto at = [](int i) { return static_cast<size_t>(i); };
  std::printf("\n%-36s %17s   %17s\n  %-34s %8s %8s   %8s %8s   %6s\n",
              (std::to_string(chunks) + " chunks, ms").c_str(), "SQLite", "PostgreSQL", "", "p50",
              "p95", "p50", "p95", "ratio");
  const auto lexical = [&](Store& store) {
    return timed(kQueries, [&](int i) { must(store.search_lexical(questions[at(i)], 100, {})); });
  };
  row("lexical, 4 words, best 100", lexical, sqlite, postgres);
  row("the same again", lexical, sqlite, postgres);
  row(
      "dense, best 100",
      [&](Store& store) {
        must(store.search_dense(vectors[0], 100, {}));
        return timed(kQueries, [&](int i) { must(store.search_dense(vectors[at(i)], 100, {})); });
      },
      sqlite, postgres);
  SearchFilter filter;
  for (int i = 0; i < 20; ++i) filter.exclude_slugs.insert("doc-" + std::to_string(i * 20));
  row(
      "dense, 20 documents left out",
      [&](Store& store) {
        return timed(kQueries,
                     [&](int i) { must(store.search_dense(vectors[at(i)], 100, filter)); });
      },
      sqlite, postgres);
  row(
      "20 chunks by id",
      [&](Store& store) {
        std::vector<ChunkId> ids;
        for (const ScoredChunk& found : must(store.search_dense(vectors[0], 20, {})))
          ids.push_back(found.id);
        return timed(kQueries, [&](int) { must(store.chunks(ids)); });
      },
      sqlite, postgres);
}

double recall(Store& exact, Store& approximate, Kind kind, size_t k, size_t asked) {
  Data data(kind);
  for (int i = 0; i < 1000; ++i) data.vector();  // so that the queries differ from those above
  size_t right = 0;
  for (int i = 0; i < kQueries; ++i) {
    const std::vector<float> query = data.vector();
    // Compares scores, because ids differ between stores and equal scores are equally right.
    const auto best = must(exact.search_dense(query, k, {}));
    const auto found = must(approximate.search_dense(query, asked, {}));
    for (size_t j = 0; j < std::min(k, found.size()); ++j)
      right += found[j].score >= best.back().score;
  }
  return static_cast<double>(right) / static_cast<double>(kQueries * k);
}

TurnRecord turn(const std::string& session, const std::string& visitor, int n) {
  TurnRecord out;
  out.session_id = session;
  out.visitor_id = visitor;
  out.cited_slugs = {"slug-" + std::to_string(n % 50)};
  out.topic = "topic-" + std::to_string(n % 7);
  out.exchange = {"a question of a visitor", std::string(200, 'a'), {}};
  for (const std::string& slug : out.cited_slugs)
    out.exchange.citations.push_back({slug, "A title", std::string(80, 'q'), "/blog/" + slug});
  out.at = Instant(std::chrono::milliseconds(n));
  return out;
}

double turns_per_second(Store& store, int threads, int turns) {
  RandomUuidSource ids;
  std::vector<std::thread> workers;
  std::vector<std::pair<std::string, std::string>> who;
  for (int i = 0; i < threads; ++i) who.emplace_back(ids.uuid(), ids.uuid());
  const auto start = Steady::now();
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      const auto& [session, visitor] = who[static_cast<size_t>(i)];
      for (int n = 0; n < turns; ++n) must(store.commit_turn(turn(session, visitor, n)));
    });
  for (std::thread& worker : workers) worker.join();
  return threads * turns / (ms_since(start) / 1000);
}

void turns(Store& sqlite, Store& postgres) {
  std::printf("%-36s %17s   %17s   %6s\n", "turns a second", "SQLite", "PostgreSQL", "ratio");
  for (const int threads : {1, 4, 16}) {
    const double first = turns_per_second(sqlite, threads, 2000 / threads);
    const double second = turns_per_second(postgres, threads, 2000 / threads);
    std::printf(
        "  %-34s %17.0f   %17.0f   %6.2f\n",
        (std::to_string(threads) + (threads == 1 ? " session" : " sessions at once")).c_str(),
        first, second, second / first);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<int> sizes;
  std::string url;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--keep") == 0 && i + 1 < argc) {
      url = argv[++i];
    } else {
      sizes.push_back(std::atoi(argv[i]));
    }
  }
  if (sizes.empty()) sizes = {10000, 100000};

  // The durability of a production server: each commit waits for the disk.
  std::unique_ptr<stoka::testing::PostgresServer> server;
  if (url.empty()) {
    server = std::make_unique<stoka::testing::PostgresServer>(
        std::vector<std::string>{"fsync = on", "shared_buffers = 512MB"});
    url = server->url();
  }
  const stoka::testing::TempFolder folder;
  const auto sqlite = must(open((folder / "stoka.db").string(), OpenMode::read_write));
  const auto postgres = must(open(url, OpenMode::read_write));
  turns(*sqlite, *postgres);
  for (const int chunks : sizes) {
    for (const Kind kind : {Kind::text_like, Kind::smooth, Kind::random}) {
      if (kind != Kind::text_like && chunks > 10000) continue;
      std::vector<double> seconds;
      const double finish = fill({sqlite.get(), postgres.get()}, chunks, kind, seconds);
      std::printf(
          "\n%d chunks of %zu dimensions, %s: written in %.0f s and %.0f s, of these %.0f s "
          "for the HNSW index\n",
          chunks, kDim, name(kind), seconds[0], seconds[1], finish);
      if (kind == Kind::text_like) searches(*sqlite, *postgres, chunks);
      for (const size_t k : {size_t{20}, size_t{100}})
        std::printf("  recall@20 of the best %-4zu asked for   %.4f\n", k,
                    recall(*sqlite, *postgres, kind, 20, k));
    }
  }
}
