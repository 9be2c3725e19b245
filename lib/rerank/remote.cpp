#include "rerank/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "net/json_text.h"
#include "net/too_long.h"
#include "rerank/scores.h"
#include "text/utf8.h"

namespace stoka::rerank {
namespace {

using Json = nlohmann::json;
using std::chrono::steady_clock;

constexpr size_t kMostTexts = 32;  // a request: what text-embeddings-inference takes unless told
constexpr int kMostHalvings = 2;
constexpr std::string_view kServeAnother =
    "serve a cross-encoder there, or set reranker.url (STOKA_RERANK_URL) to one";

std::string text_of(const Chunk& chunk, size_t most) {
  std::string out = chunk.title;
  for (const std::string_view part :
       {std::string_view(chunk.section), std::string_view(chunk.content)}) {
    if (!out.empty() && !part.empty()) out += '\n';
    out += part;
  }
  if (out.size() > most) out.resize(text::floor_border(out, most));
  return out;
}

std::vector<std::string> texts_of(std::span<const Hit> hits, size_t most) {
  std::vector<std::string> out;
  for (const Hit& hit : hits) out.push_back(text_of(hit.chunk, most));
  return out;
}

bool too_many(const net::Answer& answer) {
  return (answer.status == 413 || answer.status == 422) &&
         net::error_message(answer.body).find("batch size") != std::string::npos;
}

// What servers say that run, but run another kind of model.
bool ranks_nothing(const net::Answer& answer, std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != message.npos; };
  return answer.status == 501 || says("not a re-ranker") ||
         (answer.status == 400 && says("does not support"));
}

// "you must provide a model parameter", "The model `x` does not exist". Not "this model's maximum
// context length".
bool wants_model(const net::Answer& answer, std::string_view message) {
  const bool may = answer.status == 400 || answer.status == 404 || answer.status == 422;
  return may && !net::too_long(answer) &&
         (message.find("model") != message.npos || message.find("Model") != message.npos);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string RemoteReranker::name() const {
  return fmt::format("{} at {}", kind_, upstream_.options().url.shown());
}

Result<Scores> RemoteReranker::score(std::string_view query, std::span<const Hit> hits,
                                     std::stop_token stop) {
  Scores out(hits.size());
  if (hits.empty()) return out;
  const steady_clock::time_point end = steady_clock::now() + options_.budget;
  const size_t count = std::min(hits.size(), options_.most_hits);
  size_t batch = kMostTexts, most_text = options_.most_text;
  int halvings = 0;
  for (size_t at = 0; at < count;) {
    const auto left = std::chrono::duration_cast<net::Milliseconds>(end - steady_clock::now());
    if (left.count() <= 0)
      return fail(ErrorKind::timeout,
                  fmt::format("{}: scored {} of {} texts within {} ms", where(), at, count,
                              options_.budget.count()),
                  "it may be busy: try again, or raise reranker.timeout (STOKA_RERANK_TIMEOUT)");
    const size_t here = std::min(batch, count - at);
    net::Call call{"rerank", body(query, texts_of(hits.subspan(at, here), most_text))};
    call.total = left;
    STOKA_ASSIGN(const net::Answer answer, upstream_.call(call, stop));
    if (answer.ok()) {
      const tl::expected<Scores, std::string> scores = read_scores(answer.body, here);
      if (!scores) return fail(upstream_.nonsense(scores.error()));
      std::copy(scores->begin(), scores->end(), out.begin() + static_cast<long>(at));
      at += here;
    } else if (too_many(answer) && here > 1) {
      batch = here / 2;
    } else if (net::too_long(answer) && halvings < kMostHalvings) {
      ++halvings;
      most_text /= 2;
    } else {
      return fail(meaning(answer));
    }
  }
  if (std::none_of(out.begin(), out.end(), [](const auto& score) { return score.has_value(); }))
    return fail(upstream_.nonsense(fmt::format("scored none of {} texts", count)));
  squash_logits(out);
  return out;
}

Error RemoteReranker::meaning(const net::Answer& answer) const {
  std::string said = net::error_message(answer.body, upstream_.options().key);
  const bool other_model = ranks_nothing(answer, said);
  if (!other_model && wants_model(answer, said))
    return Error(ErrorKind::config,
                 fmt::format("{} wants a model that it knows: {}", where(), said), set_model());
  const bool no_endpoint = answer.status == 404 || answer.status == 405;
  if (!other_model && !no_endpoint) return upstream_.refusal(answer);
  if (said.empty()) said = fmt::format("status {}", answer.status);
  return Error(ErrorKind::config, fmt::format("{} is no reranker: {}", where(), said),
               other_model ? std::string(kServeAnother) : set_kind());
}

std::string TeiReranker::body(std::string_view query, std::span<const std::string> texts) const {
  return dumped({{"query", query},
                 {"texts", std::vector<std::string>(texts.begin(), texts.end())},
                 {"raw_scores", false},
                 {"truncate", true}});
}

// What it sends names no model.
std::string TeiReranker::set_model() const {
  return "for a server with /v1/rerank set reranker.kind = jina (STOKA_RERANKER), and "
         "reranker.model (STOKA_RERANK_MODEL)";
}

std::string TeiReranker::set_kind() const {
  return "leave /v1 out of reranker.url (STOKA_RERANK_URL), or for a server with /v1/rerank set "
         "reranker.kind = jina (STOKA_RERANKER)";
}

std::string JinaReranker::body(std::string_view query, std::span<const std::string> texts) const {
  Json json = {{"query", query},
               {"documents", std::vector<std::string>(texts.begin(), texts.end())},
               {"top_n", texts.size()}};
  if (!options_.model.empty()) json["model"] = options_.model;
  return dumped(json);
}

std::string JinaReranker::set_model() const { return "set reranker.model (STOKA_RERANK_MODEL)"; }

std::string JinaReranker::set_kind() const {
  return "for text-embeddings-inference set reranker.kind = tei (STOKA_RERANKER); else serve a "
         "reranker there, or set reranker.url (STOKA_RERANK_URL)";
}

}  // namespace stoka::rerank
