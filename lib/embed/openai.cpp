#include "embed/openai.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "embed/rows.h"
#include "net/model_list.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

constexpr const char* kSetModel = "set embedder.model (STOKA_EMBED_MODEL)";

}  // namespace

Result<RemoteEmbedder::Server> OpenAiEmbedder::meet(std::stop_token stop) {
  Server out;
  out.model = options_.model;
  if (out.model.empty()) {
    STOKA_ASSIGN(out.model, only_model(stop));
  }
  out.identity = {"openai:" + shown_name(out.model), options_.dimensions};
  out.limits.texts = std::max<size_t>(1, options_.batch);
  return out;
}

Result<std::string> OpenAiEmbedder::only_model(std::stop_token stop) {
  STOKA_ASSIGN(const auto listed, net::list_models(upstream_, stop));
  if (!listed) return fail(ErrorKind::config, where() + " does not list its models", kSetModel);
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

}  // namespace stoka::embed
