#include "embed/openai.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "embed/rows.h"
#include "net/model_list.h"
#include "net/too_long.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

constexpr const char* kSetModel = "set embedder.model (STOKA_EMBED_MODEL)";
constexpr const char* kNoList =
    "check embedder.url (STOKA_EMBED_URL); for text-embeddings-inference set embedder.kind = tei "
    "(STOKA_EMBEDDER); if the server has no list of models, set embedder.model "
    "(STOKA_EMBED_MODEL)";

}  // namespace

Result<RemoteEmbedder::Server> OpenAiEmbedder::meet(const net::TimeLeft& time,
                                                    std::stop_token stop) {
  Server out;
  out.model = options_.model;
  if (out.model.empty()) {
    STOKA_ASSIGN(out.model, only_model(time, stop));
  }
  out.identity = {"openai:" + shown_name(out.model), options_.dimensions};
  out.limits.texts = std::max<size_t>(1, options_.batch);
  return out;
}

Result<std::string> OpenAiEmbedder::only_model(const net::TimeLeft& time, std::stop_token stop) {
  STOKA_ASSIGN(const net::Answer answer, send({"models", ""}, time, stop));
  STOKA_ASSIGN(const auto listed, net::read_models(upstream_, answer));
  if (!listed)
    return fail(ErrorKind::config,
                fmt::format("{} does not list its models ({})", where(), answer.status), kNoList);
  if (listed->empty()) return fail(ErrorKind::config, where() + " lists no model", kSetModel);
  if (listed->size() == 1) return listed->front();
  return fail(ErrorKind::config, where() + " serves several models: " + net::enumerate(*listed),
              kSetModel);
}

net::Call OpenAiEmbedder::request(std::span<const std::string> texts, Use,
                                  const Server& server) const {
  Json body = {{"model", server.model},
               {"input", Json(std::vector<std::string>(texts.begin(), texts.end()))},
               {"encoding_format", "float"}};
  if (options_.dimensions > 0) body["dimensions"] = options_.dimensions;
  return {"embeddings", body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

tl::expected<Rows, std::string> OpenAiEmbedder::read(std::string_view body) const {
  return read_indexed_rows(body);
}

Error OpenAiEmbedder::refusal(const net::Answer& answer, const Server& server,
                              const net::TimeLeft& time, std::stop_token stop) const {
  if (net::too_long(answer)) return upstream_.refusal(answer);  // a text's fault, not the model's
  return net::model_refusal(upstream_, answer, server.model, stop, time.left());
}

}  // namespace stoka::embed
