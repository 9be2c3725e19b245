// Calibrates the built-in reranker: bench_calibrate [--fit] [--list] [SITE [QUESTIONS]].
// SITE is a folder of pages. QUESTIONS is a folder with answerable.jsonl {query, slugs, held_out}
// and unanswerable.jsonl {query, held_out}. The default is the sample site with its questions.
// Prints the share of questions with the right outcome, separately for the training questions and
// the held-out ones. --fit fits new coefficients to the training questions and prints them; --list
// prints every question with its best hit.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "embed/builtin.h"
#include "ingest/chunker.h"
#include "ingest/loader.h"
#include "rerank/builtin.h"
#include "rerank/policy.h"
#include "retrieve/retriever.h"
#include "store/open.h"

namespace {

using namespace stoka;
namespace fs = std::filesystem;

// Returns the value, or prints the error and exits.
template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "bench_calibrate: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Case {
  std::string query;
  std::set<std::string> slugs;  // empty if the site has no answer
  bool held_out = false;
  std::vector<Hit> hits;  // candidates
  rerank::Question question;
  std::vector<rerank::Features> features;
};

Date index(store::Store& store, const fs::path& site) {
  const std::vector<fs::path> paths = {site};
  const ingest::WalkResult walk = must(ingest::walk(paths));
  const ingest::ChunkOptions options;
  std::vector<ingest::Page> pages;
  for (const ingest::SourceFile& file : walk.files)
    for (ingest::Page& page : ingest::load(file, options.describe()).pages)
      pages.push_back(std::move(page));
  ingest::assign_slugs(pages);

  const auto writer = must(store.begin_index());
  must(writer->set_identity({std::string(embed::kBuiltinName), 0, options.describe(), ""}));
  Date newest{};
  for (const ingest::Page& page : pages) {
    std::vector<store::ChunkRecord> records;
    for (Chunk& chunk : ingest::chunk(page.document, page.blocks, options)) {
      store::ChunkRecord record;
      record.terms = embed::count_terms(chunk.title + "\n" + chunk.section + "\n" + chunk.content);
      record.chunk = std::move(chunk);
      records.push_back(std::move(record));
    }
    must(writer->put_document(page.document, records));
    newest = std::max(newest, page.document.date.value_or(newest));
  }
  must(embed::refit_if_needed(store, *writer, {}));
  must(writer->finish(Instant{}));
  return newest;
}

void read(const fs::path& path, std::vector<Case>& cases) {
  std::string line;
  for (std::ifstream in(path); std::getline(in, line);) {
    if (line.empty()) continue;
    const auto json = nlohmann::json::parse(line);
    Case one;
    one.query = json.at("query").get<std::string>();
    one.held_out = json.value("held_out", false);
    for (const auto& slug : json.value("slugs", nlohmann::json::array()))
      one.slugs.insert(slug.get<std::string>());
    cases.push_back(std::move(one));
  }
}

void find_candidates(store::Store& store, std::vector<Case>& cases) {
  embed::BuiltinEmbedder embedder(store);
  const rerank::BuiltinReranker reranker(store);
  for (Case& one : cases) {
    retrieve::Query query;
    query.text = one.query;
    query.vector = must(embedder.embed_query(one.query, {}));
    one.hits = must(retrieve::retrieve(store, query, {}));
    one.question = must(reranker.question(one.query));
    one.features = rerank::compute_features(one.question, one.hits);
  }
}

std::vector<Hit> rank(const Case& one, const rerank::Calibration& calibration, Date today) {
  std::vector<Hit> hits = one.hits;
  const std::vector<double> scores =
      rerank::score_hits(one.question, hits, one.features, calibration);
  for (size_t i = 0; i < hits.size(); ++i) hits[i].raw_score = scores[i];
  return rerank::apply_policy(std::move(hits), {one.query, {}, 0, today}, {});
}

struct Sample {
  const rerank::Features* features;
  double label;
  double weight;
};

// A missed answer weighs slightly more than a far-fetched one, because the voice introduces a
// far-fetched answer as such.
constexpr double kRightWeight = 1.4;

// Training examples for the next coefficients, chosen with the present ones: the best right chunk
// of each question, and the highest-scored wrong chunks.
std::vector<Sample> samples(const std::vector<Case>& cases,
                            const rerank::Calibration& calibration) {
  std::vector<Sample> out;
  for (const Case& one : cases) {
    if (one.held_out || one.hits.empty()) continue;
    const rerank::Features* right = nullptr;
    const rerank::Features* wrong = nullptr;
    double best_right = -1;
    double best_wrong = -1;
    for (size_t i = 0; i < one.hits.size(); ++i) {
      const double score = calibration.score(one.features[i]);
      const bool is_right = one.slugs.contains(one.hits[i].chunk.slug);
      double& best = is_right ? best_right : best_wrong;
      if (score <= best) continue;
      best = score;
      (is_right ? right : wrong) = &one.features[i];
    }
    if (right != nullptr) out.push_back({right, 1.0, kRightWeight});
    if (wrong != nullptr) out.push_back({wrong, 0.0, one.slugs.empty() ? 1.0 : 0.1});
  }
  return out;
}

// Logistic regression by gradient descent with non-negative weights and a small L2 penalty.
rerank::Calibration fit(const std::vector<Case>& cases) {
  constexpr int kRounds = 12;
  constexpr int kSteps = 20000;
  constexpr double kRate = 0.5;
  constexpr double kRidge = 0.002;
  rerank::Calibration fitted{-3.0, {2.0, 2.0, 2.0, 1.0, 1.0}};
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Sample> chosen = samples(cases, fitted);
    double total = 0;
    for (const Sample& sample : chosen) total += sample.weight;
    for (int step = 0; step < kSteps; ++step) {
      rerank::Features slope{};
      double bias_slope = 0;
      for (const Sample& sample : chosen) {
        const double error =
            sample.weight * (fitted.score(*sample.features) - sample.label) / total;
        bias_slope += error;
        for (size_t i = 0; i < rerank::kFeatureCount; ++i)
          slope[i] += error * (*sample.features)[i];
      }
      fitted.bias -= kRate * bias_slope;
      for (size_t i = 0; i < rerank::kFeatureCount; ++i)
        fitted.weights[i] =
            std::max(0.0, fitted.weights[i] - kRate * (slope[i] + kRidge * fitted.weights[i]));
    }
  }
  return fitted;
}

void report(const char* name, const std::vector<Case>& cases, bool held_out,
            const rerank::Calibration& calibration, Date today) {
  double answerable = 0, direct = 0, adjacent = 0, low = 0, first = 0, first_five = 0, served = 0;
  double unanswerable = 0, refused = 0, wrong_direct = 0;
  for (const Case& one : cases) {
    if (one.held_out != held_out) continue;
    const std::vector<Hit> ranked = rank(one, calibration, today);
    const rerank::ConfidenceResult verdict = rerank::classify_confidence(ranked, {});
    const bool nothing = verdict.confidence == Confidence::nothing;
    if (one.slugs.empty()) {
      ++unanswerable;
      refused += nothing ? 1 : 0;
      wrong_direct += verdict.confidence == Confidence::direct ? 1 : 0;
      continue;
    }
    ++answerable;
    direct += verdict.confidence == Confidence::direct ? 1 : 0;
    adjacent += verdict.confidence == Confidence::adjacent && !verdict.low_confidence ? 1 : 0;
    low += verdict.low_confidence ? 1 : 0;
    const auto right = [&](const Hit& hit) { return one.slugs.contains(hit.chunk.slug); };
    const bool in_five = std::any_of(ranked.begin(), ranked.end(), right);
    first += !ranked.empty() && right(ranked.front()) ? 1 : 0;
    first_five += in_five ? 1 : 0;
    served += in_five && !nothing ? 1 : 0;
  }
  const auto share = [](double part, double all) { return all > 0 ? 100 * part / all : 0; };
  fmt::print("{}: {} answerable, {} unanswerable\n", name, answerable, unanswerable);
  fmt::print("  answerable    direct {:.0f} %, adjacent {:.0f} %, low {:.0f} %, nothing {:.0f} %\n",
             share(direct, answerable), share(adjacent, answerable), share(low, answerable),
             share(answerable - direct - adjacent - low, answerable));
  fmt::print("  right slug    first {:.0f} %, in five {:.0f} %, in five and not refused {:.0f} %\n",
             share(first, answerable), share(first_five, answerable), share(served, answerable));
  fmt::print("  unanswerable  refused {:.0f} %, answered as direct {:.0f} %\n",
             share(refused, unanswerable), share(wrong_direct, unanswerable));
}

void list(const std::vector<Case>& cases, const rerank::Calibration& calibration, Date today) {
  for (const Case& one : cases) {
    const std::vector<Hit> ranked = rank(one, calibration, today);
    const auto right = [&](const Hit& hit) { return one.slugs.contains(hit.chunk.slug); };
    const auto at = std::find_if(ranked.begin(), ranked.end(), right) - ranked.begin();
    fmt::print("{:<5} {:<4} ", one.slugs.empty() ? "-" : fmt::format("@{}", at + 1),
               one.held_out ? "held" : "");
    if (ranked.empty()) {
      fmt::print("0.00 {}\n", one.query);
      continue;
    }
    const auto same = std::find_if(one.hits.begin(), one.hits.end(),
                                   [&](const Hit& hit) { return hit.id == ranked.front().id; });
    const auto& f = one.features[static_cast<size_t>(same - one.hits.begin())];
    fmt::print(
        "{:.2f} {}  [{}#{} coverage {:.2f} heading {:.2f} close {:.2f} evidence {:.2f} sense "
        "{:.2f}]\n",
        ranked.front().score, one.query, ranked.front().chunk.slug, ranked.front().chunk.index,
        f[rerank::kCoverage], f[rerank::kHeading], f[rerank::kProximity], f[rerank::kEvidence],
        f[rerank::kSimilarity]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool fitting = false;
  bool listing = false;
  std::vector<fs::path> paths;
  for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (argument == "--fit")
      fitting = true;
    else if (argument == "--list")
      listing = true;
    else
      paths.emplace_back(argument);
  }
  const fs::path evals = fs::path(STOKA_SOURCE_DIR) / "evals";
  const fs::path site = !paths.empty() ? paths[0] : evals / "site";
  const fs::path questions = paths.size() > 1 ? paths[1] : evals / "calibration";

  const fs::path scratch =
      fs::temp_directory_path() / fmt::format("stoka-bench-calibrate-{}", getpid());
  {
    const auto store =
        must(store::open((scratch / "index.db").string(), store::OpenMode::read_write));
    // The clock stands on the date of the newest page, so that this page counts as recent.
    const Date today = index(*store, site);
    std::vector<Case> cases;
    read(questions / "answerable.jsonl", cases);
    read(questions / "unanswerable.jsonl", cases);
    find_candidates(*store, cases);

    rerank::Calibration calibration = rerank::calibration();
    if (fitting) {
      calibration = fit(cases);
      fmt::print("bias {:.2f}, weights {{", calibration.bias);
      for (const double weight : calibration.weights) fmt::print(" {:.2f}", weight);
      fmt::print(" }}\n");
    }
    if (listing) list(cases, calibration, today);
    report("fitted on", cases, false, calibration, today);
    report("held out", cases, true, calibration, today);
  }
  fs::remove_all(scratch);
  return 0;
}
