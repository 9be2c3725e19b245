#include "eval/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rerank/policy.h"
#include "retrieve/retriever.h"

namespace stoka::eval {
namespace {

enum Stage : size_t { kLexical, kDense, kFused, kReranked, kPolicy };

// Makes a ranking of documents, each at the rank of its best chunk.
class DocumentRanking {
 public:
  void add(const std::string& slug, double score) {
    if (seen_.insert(slug).second) out_.push_back({slug, score});
  }
  std::vector<RankedDocument> take() { return std::move(out_); }

 private:
  std::set<std::string> seen_;
  std::vector<RankedDocument> out_;
};

Result<std::vector<RankedDocument>> documents_of(store::IndexReader& index,
                                                 std::span<const store::ScoredChunk> found) {
  std::vector<ChunkId> ids;
  for (const store::ScoredChunk& one : found) ids.push_back(one.id);
  STOKA_ASSIGN(const std::vector<store::StoredChunk> chunks, index.chunks(ids));
  std::map<ChunkId, const std::string*> slugs;
  for (const store::StoredChunk& chunk : chunks) slugs.emplace(chunk.id, &chunk.chunk.slug);
  DocumentRanking out;
  for (const store::ScoredChunk& one : found)
    if (const auto slug = slugs.find(one.id); slug != slugs.end())
      out.add(*slug->second, one.score);
  return out.take();
}

std::vector<RankedDocument> documents_of(std::span<const Hit> hits, double Hit::*score) {
  DocumentRanking out;
  for (const Hit& hit : hits) out.add(hit.chunk.slug, hit.*score);
  return out.take();
}

class QueryRunner {
 public:
  QueryRunner(pipeline::Engine& engine, std::stop_token stop)
      : engine_(engine), stop_(std::move(stop)) {}

  bool uses_dense() const { return engine_.settings().retrieve.mode != retrieve::Mode::lexical; }

  Result<QueryRun> run(const Query& query) {
    QueryRun out;
    STOKA_TRY(run_lexical(query, out.stages[kLexical]));
    if (uses_dense()) STOKA_TRY(run_dense(query, out.stages[kDense]));
    STOKA_TRY(run_fusion(query, out.stages[kFused]));
    STOKA_TRY(run_reranking(query, out));
    for (size_t stage = 0; stage < kStages.size(); ++stage) {
      std::vector<std::string> documents;
      for (const RankedDocument& one : out.stages[stage].documents)
        documents.push_back(one.document);
      out.scores[stage] = score_ranking(documents, query.relevant);
    }
    return out;
  }

 private:
  void start() { start_ = clock().monotonic(); }
  double elapsed() const {
    return std::chrono::duration<double, std::milli>(clock().monotonic() - start_).count();
  }
  const Clock& clock() const { return engine_.parts().clock; }
  store::IndexReader& index() { return engine_.parts().index; }

  Result<> run_lexical(const Query& query, StageRun& out) {
    start();
    STOKA_ASSIGN(const auto found,
                 index().search_lexical(retrieve::query_terms(query.text), kStageDepth, {}));
    out.ms = elapsed();
    STOKA_ASSIGN(out.documents, documents_of(index(), found));
    return {};
  }

  Result<> run_dense(const Query& query, StageRun& out) {
    start();
    STOKA_ASSIGN(vector_, engine_.parts().embedder.embed_query(
                              engine_.settings().identity.query_prefix + query.text, stop_));
    embed_ms_ = elapsed();
    if (vector_.empty()) return {};
    STOKA_ASSIGN(const auto found, index().search_dense(vector_, kStageDepth, {}));
    out.ms = elapsed();
    STOKA_ASSIGN(out.documents, documents_of(index(), found));
    return {};
  }

  Result<> run_fusion(const Query& query, StageRun& out) {
    retrieve::Query search;
    search.text = query.text;
    search.vector = std::exchange(vector_, {});
    retrieve::RetrieveOptions options = engine_.settings().retrieve;
    start();
    STOKA_TRY(retrieve::retrieve(index(), search, options, stop_));
    out.ms = std::exchange(embed_ms_, 0) + elapsed();
    // A turn uses fewer candidates, so the time of the deeper ranking is not part of the latency.
    options.candidates = std::max(options.candidates, kStageDepth);
    STOKA_ASSIGN(const std::vector<Hit> hits, retrieve::retrieve(index(), search, options, stop_));
    out.documents = documents_of(hits, &Hit::fused);
    return {};
  }

  // Runs reranking and policy as in a turn.
  Result<> run_reranking(const Query& query, QueryRun& out) {
    start();
    retrieve::Query search;
    search.text = query.text;
    STOKA_ASSIGN(pipeline::Candidates found, engine_.candidates(std::move(search), stop_));
    if (!found.reranker_error.empty()) return fail(reranker_failure(found.reranker_error));
    out.stages[kReranked].ms = elapsed();
    std::vector<Hit> by_raw = found.hits;
    std::stable_sort(by_raw.begin(), by_raw.end(),
                     [](const Hit& a, const Hit& b) { return a.raw_score > b.raw_score; });
    out.stages[kReranked].documents = documents_of(by_raw, &Hit::raw_score);

    std::vector<Hit> dropped;
    const std::vector<Hit> kept =
        rerank::apply_policy(std::move(found.hits), {query.text, {}, 0, clock().today()},
                             engine_.settings().policy, &dropped);
    out.stages[kPolicy].ms = elapsed();
    out.verdict = rerank::classify_confidence(kept, engine_.settings().thresholds);
    if (!kept.empty()) out.best_score = kept.front().score;
    // The hits that a turn shows come first, then those that the policy dropped, in the order of
    // the policy.
    std::stable_sort(dropped.begin(), dropped.end(),
                     [](const Hit& a, const Hit& b) { return a.score > b.score; });
    std::vector<Hit> all = kept;
    std::move(dropped.begin(), dropped.end(), std::back_inserter(all));
    out.stages[kPolicy].documents = documents_of(all, &Hit::score);
    return {};
  }

  pipeline::Engine& engine_;
  const std::stop_token stop_;
  std::vector<float> vector_;
  double embed_ms_ = 0;
  std::chrono::nanoseconds start_{};
};

std::string first_five(std::span<const RankedDocument> documents) {
  std::string out;
  for (const RankedDocument& one : documents.first(std::min<size_t>(documents.size(), 5)))
    out += (out.empty() ? "" : ", ") + one.document;
  return out.empty() ? "nothing" : out;
}

std::string describe_relevant(const Query& query) {
  std::string out;
  for (const auto& [slug, gain] : query.relevant)
    out += fmt::format("{}{} ({:g})", out.empty() ? "" : ", ", slug, gain);
  return out;
}

}  // namespace

Result<QueryRuns> run_queries(pipeline::Engine& engine, std::span<const Query> queries,
                              const Progress& progress, std::stop_token stop) {
  QueryRunner runner(engine, stop);
  QueryRuns out;
  out.dense = runner.uses_dense();
  OutageDetector outage;
  for (const Query& query : queries) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "interrupted");
    Result<QueryRun> run = outage.detected()
                               ? fail(ErrorKind::unavailable, "not tried: no server answered")
                               : runner.run(query);
    if (!run && run.error().kind == ErrorKind::cancelled) return fail(run.error());
    outage.record(run ? std::nullopt : std::optional(run.error()));
    if (!run) {
      QueryRun failed;
      failed.error = run.error();
      run = std::move(failed);
    }
    out.runs.push_back(std::move(*run));
    if (progress) progress(out.runs.size(), queries.size());
  }
  return out;
}

RankingScores stage_mean(const QueryRuns& runs, std::span<const Query> queries, size_t stage) {
  std::vector<RankingScores> all;
  for (size_t i = 0; i < queries.size(); ++i)
    if (!queries[i].relevant.empty() && !runs.runs[i].error)
      all.push_back(runs.runs[i].scores[stage]);
  return mean(all);
}

std::vector<CaseResult> query_results(const QueryRuns& runs, std::span<const Query> queries) {
  std::vector<CaseResult> out;
  for (size_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i];
    const QueryRun& run = runs.runs[i];
    if (query.relevant.empty()) continue;
    CaseResult one;
    one.suite = "retrieval";
    one.id = query.id;
    one.query = query.text;
    one.note = query.note;
    one.hash = query.hash;
    one.ideal = describe_relevant(query);
    if (run.error) {
      one.errors = 1;
      one.error = run.error->message;
    } else {
      const RankingScores& scores = run.scores[kPolicy];
      one.trials = 1;
      one.passes = scores.hit_5 > 0 ? 1 : 0;
      for (const auto& [name, value] : named(scores)) one.scores[name] = value;
      one.confidence = confidence_name(run.verdict.confidence, run.verdict.low_confidence);
      one.best_score = run.best_score;
      one.answer = first_five(run.stages[kPolicy].documents);
      if (one.passes == 0)
        one.why.push_back(fmt::format("hit@5: found {}; relevant are {}", one.answer, one.ideal));
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace stoka::eval
