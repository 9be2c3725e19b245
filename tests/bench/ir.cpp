// Retrieval on public test collections: bench_ir [DIR...]. Each DIR holds corpus.jsonl
// {id,title,text}, queries.jsonl {id,text} and qrels.tsv (query id, document id, gain). A document
// is one chunk, title and text in one field. Without arguments: ../shared/ir/{cranfield,cacm}
// beside the sources, if present.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "embed/builtin.h"
#include "retrieve/retriever.h"
#include "store/open.h"

namespace {

using namespace stoka;
namespace fs = std::filesystem;
using Gains = std::map<std::string, double>;

struct Collection {
  std::vector<std::array<std::string, 3>> documents;  // id, title, text
  std::vector<std::pair<std::string, std::string>> queries;
  std::map<std::string, Gains> gains;
};

Collection read(const fs::path& dir) {
  Collection collection;
  std::string line;
  for (std::ifstream in(dir / "corpus.jsonl"); std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    collection.documents.push_back({json.at("id").get<std::string>(),
                                    json.at("title").get<std::string>(),
                                    json.at("text").get<std::string>()});
  }
  for (std::ifstream in(dir / "queries.jsonl"); std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    collection.queries.emplace_back(json.at("id").get<std::string>(),
                                    json.at("text").get<std::string>());
  }
  std::ifstream in(dir / "qrels.tsv");
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string query;
    std::string document;
    double gain = 0;
    if (fields >> query >> document >> gain && gain > 0) collection.gains[query][document] = gain;
  }
  return collection;
}

// Stops the benchmark with the error's text.
template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "bench_ir: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void index(store::Store& store, const Collection& collection) {
  const auto writer = must(store.begin_index());
  must(writer->set_identity({std::string(embed::kBuiltinName), 0, "bench", ""}));
  for (const auto& [id, title, text] : collection.documents) {
    Document document;
    document.slug = document.title = id;
    store::ChunkRecord record;
    record.chunk.slug = record.chunk.title = id;
    record.chunk.content = text;
    record.terms = embed::count_terms(title + "\n" + text);
    must(writer->put_document(document, std::span(&record, 1)));
  }
  const auto before = std::chrono::steady_clock::now();
  must(embed::refit_if_needed(store, *writer, {}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  fmt::print("  {} documents, {} dimensions, fitted and folded in {:.1f} s\n",
             collection.documents.size(), must(store.stats()).dim, took.count());
  must(writer->finish(Instant{}));
}

struct Figures {
  double ndcg = 0, recall = 0, mrr = 0;
};

Figures measure(const std::vector<std::string>& ranked, const Gains& gains) {
  Figures figures;
  double dcg = 0;
  size_t found = 0;
  for (size_t i = 0; i < ranked.size() && i < 20; ++i) {
    const auto gain = gains.find(ranked[i]);
    if (gain == gains.end()) continue;
    ++found;
    if (i < 10) dcg += gain->second / std::log2(static_cast<double>(i) + 2);
    if (i < 10 && figures.mrr == 0) figures.mrr = 1.0 / static_cast<double>(i + 1);
  }
  std::vector<double> ideal;
  for (const auto& [id, gain] : gains) ideal.push_back(gain);
  std::sort(ideal.rbegin(), ideal.rend());
  double best = 0;
  for (size_t i = 0; i < ideal.size() && i < 10; ++i)
    best += ideal[i] / std::log2(static_cast<double>(i) + 2);
  figures.ndcg = dcg / best;
  figures.recall = static_cast<double>(found) / static_cast<double>(gains.size());
  return figures;
}

Figures run(store::Store& store, const Collection& collection,
            const retrieve::RetrieveOptions& options) {
  embed::BuiltinEmbedder embedder(store);
  Figures total;
  size_t judged = 0;
  for (const auto& [id, text] : collection.queries) {
    const auto gains = collection.gains.find(id);
    if (gains == collection.gains.end()) continue;
    ++judged;
    retrieve::Query query;
    query.text = text;
    query.vector = must(embedder.embed_query(text, {}));
    std::vector<std::string> ranked;
    for (const Hit& hit : must(retrieve::retrieve(store, query, options)))
      ranked.push_back(hit.chunk.slug);
    const Figures one = measure(ranked, gains->second);
    total.ndcg += one.ndcg;
    total.recall += one.recall;
    total.mrr += one.mrr;
  }
  const auto n = static_cast<double>(judged);
  return {total.ndcg / n, total.recall / n, total.mrr / n};
}

void report(const fs::path& dir) {
  using retrieve::Fusion;
  using retrieve::Mode;
  struct Published {
    std::string name;
    double bm25, weighted;
  };
  const Published references[] = {{"cranfield", .518, .536}, {"cacm", .483, .488}};

  fmt::print("{}\n", dir.filename().string());
  const Collection collection = read(dir);
  const fs::path path =
      fs::temp_directory_path() / fmt::format("stoka-bench-ir-{}", getpid()) / "index.db";
  {
    const auto store = must(store::open(path.string(), store::OpenMode::read_write));
    index(*store, collection);
    fmt::print("  {:<10} {:>8} {:>10} {:>7} {:>10}\n", "", "nDCG@10", "Recall@20", "MRR@10",
               "reference");
    struct Row {
      const char* name;
      Mode mode;
      Fusion fusion;
    };
    for (const Row& row :
         {Row{"lexical", Mode::lexical, Fusion::weighted},
          Row{"dense", Mode::dense, Fusion::weighted},
          Row{"weighted", Mode::hybrid, Fusion::weighted}, Row{"rrf", Mode::hybrid, Fusion::rrf}}) {
      retrieve::RetrieveOptions options;
      options.mode = row.mode;
      options.fusion.fusion = row.fusion;
      const Figures figures = run(*store, collection, options);
      std::string reference;
      for (const Published& known : references) {
        if (known.name != dir.filename()) continue;
        if (row.mode == Mode::lexical) reference = fmt::format("{:.3f}", known.bm25);
        if (row.mode == Mode::hybrid && row.fusion == Fusion::weighted)
          reference = fmt::format("{:.3f}", known.weighted);
      }
      fmt::print("  {:<10} {:>8.3f} {:>10.3f} {:>7.3f} {:>10}\n", row.name, figures.ndcg,
                 figures.recall, figures.mrr, reference);
    }
  }
  fs::remove_all(path.parent_path());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> dirs(argv + 1, argv + argc);
  if (dirs.empty()) {
    const fs::path root = fs::path(STOKA_SOURCE_DIR) / ".." / "shared" / "ir";
    dirs = {root / "cranfield", root / "cacm"};
  }
  for (const fs::path& dir : dirs) {
    if (fs::exists(dir / "corpus.jsonl"))
      report(dir);
    else
      fmt::print("{}: no corpus.jsonl here, skipped\n", dir.string());
  }
  return 0;
}
