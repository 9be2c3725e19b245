#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "generate/timed_stop_source.h"
#include "ingest/chunker.h"
#include "providers.h"
#include "runtime.h"
#include "search/vectors.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

using Json = nlohmann::ordered_json;

// The result of probing the embedder, the reranker or the generator.
struct PartStatus {
  std::string role;  // "embedder", "reranker", "generator"
  std::string name = {};
  std::string model = {};  // the server's name for the model; may be empty
  int dim = 0;
  std::string detail = {};
  std::optional<Error> error = {};
  double ms = 0;  // duration of the probe
};

// The time limit for probing one server. A loaded model answers within this time.
constexpr std::chrono::seconds kProbeTimeout{10};

// The texts of a probe: a question, a text that answers it, and an unrelated text.
constexpr std::string_view kQuestion = "what budget of steps does an agent have";
constexpr std::string_view kMatch =
    "Every agent runs inside a fixed budget of steps, and stops when it is spent.";
constexpr std::string_view kOther = "The library opens at nine and closes at six on weekdays.";

// Checks the embedder. If it is fitted to the index, the index must have vectors. A model is asked
// for vectors of the probe texts, in which the question must be more similar to its answer.
Result<> probe_embedder(App& app, Providers& providers, const store::IndexStats& stats,
                        PartStatus& part, std::stop_token stop) {
  embed::Embedder& embedder = providers.embedder();
  part.name = embedder.name();
  if (stats.chunks > 0 && stats.vectors < stats.chunks)
    part.detail = fmt::format("{} of {} chunks have a vector", stats.vectors, stats.chunks);
  if (embedder.is_fitted_to_index()) {
    part.dim = stats.dim;
    if (stats.chunks > 0 && stats.vectors == 0)
      return fail(ErrorKind::data, part.detail, "run: stoka index PATH");
    return {};
  }
  STOKA_ASSIGN(embed::Identity identity, embedder.identity(embed::InputType::query, stop));
  part.model = identity.name.substr(identity.name.find(':') + 1);  // the name without the kind
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
  STOKA_ASSIGN(embed::Embeddings pair, embedder.embed_documents(texts, {}, stop));
  if (!pair.warnings.empty())
    return fail(ErrorKind::protocol, part.name + ": " + pair.warnings.front().message,
                "see the log of the server");
  for (const embed::Vector& vector : pair.vectors)
    if (vector.size() != asked.size())
      return fail(ErrorKind::protocol,
                  fmt::format("{} returns vectors of {} and of {} dimensions", part.name,
                              asked.size(), vector.size()),
                  "its model may have just been changed: try again");
  const float match = search::dot(asked.data(), pair.vectors[0].data(), asked.size());
  const float other = search::dot(asked.data(), pair.vectors[1].data(), asked.size());
  if (!(match > other))
    return fail(ErrorKind::config,
                fmt::format("{} does not tell a match from a mismatch ({:.2f}, {:.2f})", part.name,
                            match, other),
                "check that it is an embedding model; some models need embedder.query_prefix");
  return {};
}

Result<> probe_reranker(rerank::Reranker& reranker, PartStatus& part, std::stop_token stop) {
  part.name = reranker.name();
  Hit match, other;
  match.chunk.content = kMatch;
  other.chunk.content = kOther;
  std::vector<Hit> pair = {other, match};
  STOKA_ASSIGN(rerank::Scores scores, reranker.score(kQuestion, pair, stop));
  // If no reranker is configured, there are no scores to compare.
  if (part.name == "none") return {};
  if (scores[0] && scores[1] && *scores[1] > *scores[0]) return {};
  return fail(ErrorKind::config, part.name + " does not tell a match from a mismatch",
              "check that it is a reranker; see reranker.kind and reranker.model");
}

Result<> probe_generator(generate::Generator& generator, PartStatus& part, std::stop_token stop) {
  part.name = generator.name();
  STOKA_ASSIGN(part.model, generator.probe(stop));
  return {};
}

template <class Work>
PartStatus timed(const Clock& clock, std::string role, Work work) {
  PartStatus part{std::move(role)};
  auto start = clock.monotonic();
  generate::TimedStopSource alarm{std::stop_token()};
  alarm.stop_after(kProbeTimeout);
  Result<> done = work(part, alarm.token());
  if (!done && done.error().kind == ErrorKind::cancelled)
    done = fail(ErrorKind::timeout,
                fmt::format("{} did not answer within {} s", part.name, kProbeTimeout.count()),
                "it may be busy or still loading its model: try again, or look at its log");
  if (!done) part.error = done.error();
  part.ms = std::chrono::duration<double, std::milli>(clock.monotonic() - start).count();
  return part;
}

// Probes each part: the embedder and the reranker must prefer the matching text, and the generator
// must list its models.
std::vector<PartStatus> probe(App& app, Providers& providers, const store::IndexStats& stats) {
  return {timed(app.clock, "embedder",
                [&](PartStatus& part, std::stop_token stop) {
                  return probe_embedder(app, providers, stats, part, stop);
                }),
          timed(app.clock, "reranker",
                [&](PartStatus& part, std::stop_token stop) {
                  return probe_reranker(providers.reranker(), part, stop);
                }),
          timed(app.clock, "generator", [&](PartStatus& part, std::stop_token stop) {
            return probe_generator(providers.generator(), part, stop);
          })};
}

struct Report {
  std::string store;
  store::IndexStats stats;
  std::vector<PartStatus> parts;
  // The slugs that examples of the golden data cite and the index lacks. Such examples are not put
  // into prompts.
  std::vector<std::string> missing_slugs;
  std::optional<Error> problem;  // the problem to fix first
};

// Probes the servers even without an index, because they are usually set up first.
Result<Report> inspect(App& app) {
  Report out;
  out.store = store::describe(app.store_url());
  auto runtime = make_runtime(app, store::OpenMode::read);
  if (!runtime && runtime.error().kind != ErrorKind::not_found) return fail(runtime.error());
  if (runtime) {
    out.store = (*runtime)->store().describe();
    STOKA_ASSIGN(out.stats, (*runtime)->store().stats());
    out.parts = probe(app, (*runtime)->providers(), out.stats);
    STOKA_ASSIGN(const auto catalog, (*runtime)->engine().catalog());
    if (out.stats.documents > 0)
      out.missing_slugs = (*runtime)->golden().missing_slugs(
          [&](std::string_view slug) { return catalog->find(slug) != nullptr; });
  } else {
    STOKA_ASSIGN(std::unique_ptr<Providers> parts, make_providers(app, nullptr));
    out.parts = probe(app, *parts, out.stats);
  }
  for (const PartStatus& part : out.parts)
    if (part.error && !out.problem) out.problem = part.error;
  if (!out.problem && out.stats.unfinished)
    out.problem = Error(ErrorKind::data, "an index run is in progress, or was interrupted",
                        "wait for it, or run: stoka index PATH");
  if (out.problem) return out;
  Result<> index = runtime ? (*runtime)->engine().check_index() : fail(runtime.error());
  if (!index) out.problem = index.error();
  return out;
}

// The number of chunks that changed since the built-in embedder was fitted. Vectors of a model do
// not become stale.
uint64_t changed_since_fit(const store::IndexStats& stats) {
  return stats.fitted_chunks > 0 ? stats.changed_since_fit : 0;
}

std::string report_json(const Report& report) {
  const store::IndexStats& stats = report.stats;
  Json out = {{"store", report.store}, {"documents", stats.documents}, {"chunks", stats.chunks}};
  for (const PartStatus& part : report.parts) {
    Json body = {{"name", part.name}};
    if (!part.model.empty()) body["model"] = part.model;
    if (part.role == "embedder") body["dim"] = part.dim;
    body["ok"] = !part.error;
    body["ms"] = std::round(part.ms * 10) / 10;
    if (!part.detail.empty()) body["detail"] = part.detail;
    if (part.error) body["error"] = part.error->message;
    if (part.error && !part.error->hint.empty()) body["hint"] = part.error->hint;
    out[part.role] = std::move(body);
  }
  out["missing_examples"] = report.missing_slugs;
  out["indexed_at"] = stats.indexed_at ? Json(rfc3339(*stats.indexed_at)) : Json(nullptr);
  out["stale"] = changed_since_fit(stats);
  return to_json_text(out);
}

std::string report_text(const Report& report) {
  const store::IndexStats& stats = report.stats;
  std::string out = fmt::format("store      {}\nindexed    {} documents, {} chunks{}\n",
                                report.store, stats.documents, stats.chunks,
                                stats.indexed_at ? ", " + rfc3339(*stats.indexed_at) : "");
  if (changed_since_fit(stats) > 0)
    out += fmt::format("           {} chunks changed since the vectors were fitted on {}\n",
                       stats.changed_since_fit, stats.fitted_chunks);
  if (!report.missing_slugs.empty())
    out += fmt::format(
        "golden     examples in exchanges.txt cite pages that are not indexed, and are "
        "left out of prompts: {}\n",
        text::one_line(fmt::format("{}", fmt::join(report.missing_slugs, ", "))));
  for (const PartStatus& part : report.parts)
    out += fmt::format("{:<10} {}{}{}  {}{}\n", part.role, text::one_line(part.name),
                       part.model.empty() || part.name.starts_with(part.model + " ")
                           ? ""
                           : ", " + text::one_line(part.model),
                       part.dim ? fmt::format(", {} dimensions", part.dim) : "",
                       part.error ? "NOT OK: " + text::one_line(part.error->message) : "ok",
                       part.detail.empty() ? "" : ", " + part.detail) +
           (part.error && !part.error->hint.empty()
                ? fmt::format("           {}\n", text::one_line(part.error->hint))
                : "");
  return out;
}

// The value of a setting for display. Hides keys and everything that may contain one: commands,
// and the user and the query of a URL. A kind is shown as it is in effect.
std::string shown(const Config& config, const Setting& setting) {
  std::string text = config.text(setting.key);
  if (setting.key.ends_with(".kind"))
    text = kind_in_effect(config, setting.key.substr(0, setting.key.find('.')));
  if (setting.key == "store") text = store::describe(text);
  if (setting.is_secret && !text.empty()) return "***";
  if (setting.key.ends_with(".url") && text.find('@') != std::string::npos) return "***";
  if (setting.key.ends_with(".url")) text.resize(std::min(text.find('?'), text.size()));
  return text::one_line(text);
}

// The output of -v: every document, and every setting with the origin of its value.
std::string details(App& app) {
  std::string out = "\ndocuments\n";
  auto store = app.open_store(store::OpenMode::read);
  if (auto documents = store ? (*store)->documents() : fail(store.error()))
    for (const store::DocumentInfo& info : *documents)
      out += fmt::format("  {}  {}  {} chunks\n", text::one_line(info.document.slug),
                         info.document.type, info.chunks);
  out += "\nsettings\n";
  for (const Setting& setting : app.config().settings())
    out += fmt::format("  {:<30} {:<32} {:<24} {:<12} {}\n", setting.key, setting.env,
                       shown(app.config(), setting), to_string(app.config().origin(setting.key)),
                       setting.help);
  return out;
}

int run_status(App& app) {
  auto report = inspect(app);
  if (!report) return app.report(report.error());
  print(app.common.json ? report_json(*report) + "\n" : report_text(*report));
  if (app.common.verbose && !app.common.json) print(sanitize_lines(details(app)));
  return report->problem ? app.report(*report->problem) : 0;
}

}  // namespace

Run declare_status(FlagList&) {
  return [](App& app) { return run_status(app); };
}

}  // namespace stoka::app
