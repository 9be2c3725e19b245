// Scores retrieval on public test collections: bench_ir [DIR...]. Each DIR has corpus.jsonl
// {id,title,text}, queries.jsonl {id,text} and qrels.tsv (query id, document id, gain). A document
// is one chunk with title and text in one field. The default is ../shared/ir/{cranfield,cacm}
// beside the sources, if present.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "embed/builtin.h"
#include "eval/ranking.h"
#include "eval/trec.h"
#include "ingest/slug.h"
#include "retrieve/retriever.h"
#include "store/open.h"

namespace {

using namespace stoka;
namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 1ULL << 30;

struct Collection {
  std::vector<std::array<std::string, 3>> documents;  // slug, title, text
  std::vector<eval::Query> queries;
};

// Returns the value, or prints the error and exits.
template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "bench_ir: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Collection read(const fs::path& dir) {
  Collection collection;
  std::string line;
  for (std::ifstream in(dir / "corpus.jsonl"); std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    collection.documents.push_back({ingest::slugify(json.at("id").get<std::string>(), "._~"),
                                    json.at("title").get<std::string>(),
                                    json.at("text").get<std::string>()});
  }
  const fs::path queries = dir / "queries.jsonl";
  const fs::path qrels = dir / "qrels.tsv";
  collection.queries =
      must(eval::read_collection(must(read_file(queries, kMostBytes)), queries.string(),
                                 must(read_file(qrels, kMostBytes)), qrels.string()));
  return collection;
}

void index(store::Store& store, const Collection& collection) {
  const auto writer = must(store.begin_index());
  must(writer->set_identity({std::string(embed::kBuiltinName), 0, "bench", ""}));
  for (const auto& [slug, title, text] : collection.documents) {
    Document document;
    document.slug = document.title = slug;
    store::ChunkRecord record;
    record.chunk.slug = record.chunk.title = slug;
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

Figures run(store::Store& store, const Collection& collection,
            const retrieve::RetrieveOptions& options) {
  embed::BuiltinEmbedder embedder(store);
  std::vector<eval::RankingScores> all;
  std::vector<eval::RankingScores> first_ten;
  for (const eval::Query& asked : collection.queries) {
    retrieve::Query query;
    query.text = asked.text;
    query.vector = must(embedder.embed_query(asked.text, {}));
    std::vector<std::string> ranked;
    for (const Hit& hit : must(retrieve::retrieve(store, query, options)))
      ranked.push_back(hit.chunk.slug);
    all.push_back(eval::score_ranking(ranked, asked.relevant));
    ranked.resize(std::min<size_t>(ranked.size(), 10));
    first_ten.push_back(eval::score_ranking(ranked, asked.relevant));
  }
  const eval::RankingScores scores = eval::mean(all);
  return {scores.ndcg_10, scores.recall_20, eval::mean(first_ten).mrr};
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
