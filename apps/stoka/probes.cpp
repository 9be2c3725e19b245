#include "probes.h"

#include <fmt/format.h>

#include "embed/builtin.h"
#include "generate/alarm.h"
#include "ingest/chunker.h"
#include "search/vectors.h"

namespace stoka::app {
namespace {

// For one part. Longer than a model that is loaded takes, shorter than a person waits.
constexpr std::chrono::seconds kPatience{10};

// A question, what answers it, and what has nothing to do with it.
constexpr std::string_view kQuestion = "what budget of steps does an agent have";
constexpr std::string_view kMatch =
    "Every agent runs inside a fixed budget of steps, and stops when it is spent.";
constexpr std::string_view kOther = "The library opens at nine and closes at six on weekdays.";

// The built-in embedder is told by its vectors in the index; a model is asked for some.
Result<> probe_embedder(App& app, Providers& providers, const store::IndexStats& stats, Part& part,
                        std::stop_token stop) {
  part.name = providers.embedder() ? providers.embedder()->name() : embed::kBuiltinName;
  if (stats.chunks > 0 && stats.vectors < stats.chunks)
    part.detail = fmt::format("{} of {} chunks have a vector", stats.vectors, stats.chunks);
  if (embedder_kind(app.config()) == "builtin") {
    part.dim = stats.dim;
    if (stats.chunks > 0 && stats.vectors == 0)
      return fail(ErrorKind::data, part.detail, "run: stoka index PATH");
    return {};
  }
  embed::Embedder& embedder = *providers.embedder();
  STOKA_ASSIGN(embed::Identity identity, embedder.identity(embed::Use::query, stop));
  part.model = identity.name.substr(identity.name.find(':') + 1);  // without the kind
  const std::string prefix = app.config().text("embedder.query_prefix");
  STOKA_ASSIGN(embed::Vector asked, embedder.embed_query(prefix + std::string(kQuestion), stop));
  part.dim = static_cast<int>(asked.size());
  const std::string& form = app.config().text("embedder.document_template");
  std::vector<std::string> texts;
  for (std::string_view content : {kMatch, kOther}) {
    Chunk chunk;
    chunk.content = content;
    texts.push_back(ingest::fill_document_template(form, chunk, ingest::PrefixMode::none));
  }
  STOKA_ASSIGN(embed::Embedded pair, embedder.embed_documents(texts, {}, stop));
  if (!pair.notes.empty())
    return fail(ErrorKind::protocol, part.name + ": " + pair.notes.front().what,
                "see the log of the server");
  for (const embed::Vector& vector : pair.vectors)
    if (vector.size() != asked.size())
      return fail(ErrorKind::protocol,
                  fmt::format("{} gives vectors of {} and of {} dimensions", part.name,
                              asked.size(), vector.size()),
                  "has its model just been changed? try again");
  const float match = search::dot(asked.data(), pair.vectors[0].data(), asked.size());
  const float other = search::dot(asked.data(), pair.vectors[1].data(), asked.size());
  if (!(match > other))
    return fail(ErrorKind::config,
                fmt::format("{} does not tell a match from a mismatch ({:.2f}, {:.2f})", part.name,
                            match, other),
                "is it an embedding model? some need embedder.query_prefix");
  return {};
}

Result<> probe_reranker(rerank::Reranker& reranker, Part& part, std::stop_token stop) {
  part.name = reranker.name();
  Hit match, other;
  match.chunk.content = kMatch;
  other.chunk.content = kOther;
  std::vector<Hit> pair = {other, match};
  STOKA_ASSIGN(rerank::Scores scores, reranker.score(kQuestion, pair, stop));
  // Retrieval order has nothing to tell apart here.
  if (part.name == "none") return {};
  if (scores[0] && scores[1] && *scores[1] > *scores[0]) return {};
  return fail(ErrorKind::config, part.name + " does not tell a match from a mismatch",
              "is it a reranker? see reranker.kind and reranker.model");
}

Result<> probe_generator(generate::Generator& generator, Part& part, std::stop_token stop) {
  part.name = generator.name();
  STOKA_ASSIGN(generate::Probe probe, generator.probe(stop));
  part.model = probe.model;
  return {};
}

template <class Work>
Part timed(const Clock& clock, std::string role, Work work) {
  Part part{std::move(role)};
  auto start = clock.monotonic();
  generate::Alarm alarm{std::stop_token()};
  alarm.set(kPatience);
  Result<> done = work(part, alarm.token());
  if (!done && done.error().kind == ErrorKind::cancelled)
    done = fail(ErrorKind::timeout,
                fmt::format("{} did not answer within {} s", part.name, kPatience.count()),
                "it may be busy or still loading its model: try again, or look at its log");
  if (!done) part.error = done.error();
  part.ms = std::chrono::duration<double, std::milli>(clock.monotonic() - start).count();
  return part;
}

}  // namespace

std::vector<Part> probe(App& app, Providers& providers, const store::IndexStats& stats) {
  return {timed(app.clock, "embedder",
                [&](Part& part, std::stop_token stop) {
                  return probe_embedder(app, providers, stats, part, stop);
                }),
          timed(app.clock, "reranker",
                [&](Part& part, std::stop_token stop) {
                  return probe_reranker(providers.reranker(), part, stop);
                }),
          timed(app.clock, "generator", [&](Part& part, std::stop_token stop) {
            return probe_generator(providers.generator(), part, stop);
          })};
}

}  // namespace stoka::app
