#include "embed/openai.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "net/model_list.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

}  // namespace

Result<RemoteEmbedder::ServerInfo> OpenAiEmbedder::fetch_info(const net::Deadline& deadline,
                                                              std::stop_token stop) {
  ServerInfo out;
  out.model = options_.model;
  if (out.model.empty()) {
    STOKA_ASSIGN(out.model, fetch_only_model(deadline, stop));
  }
  out.identity = {"openai:" + clean_model_name(out.model), options_.dimensions};
  out.limits.max_texts = std::max<size_t>(1, options_.batch);
  return out;
}

Result<std::string> OpenAiEmbedder::fetch_only_model(const net::Deadline& deadline,
                                                     std::stop_token stop) {
  STOKA_ASSIGN(const net::HttpResponse answer, send({"models", ""}, deadline, stop));
  STOKA_ASSIGN(const auto listed, net::read_models(upstream_, answer));
  const std::string set_model = "set " + upstream_.setting_name("model");
  if (!listed)
    return fail(
        ErrorKind::config,
        fmt::format("{} does not list its models ({})", upstream_.description(), answer.status),
        fmt::format("check {}; for text-embeddings-inference set {}; if the server has no "
                    "list of models, {}",
                    upstream_.setting_name("url"), upstream_.setting_name("kind", "tei"),
                    set_model));
  if (listed->empty())
    return fail(ErrorKind::config, upstream_.description() + " lists no model", set_model);
  if (listed->size() == 1) return listed->front();
  return fail(ErrorKind::config,
              upstream_.description() + " serves several models: " + net::join_models(*listed),
              set_model);
}

net::Call OpenAiEmbedder::make_request(std::span<const std::string> texts, InputType,
                                       const ServerInfo& server) const {
  Json body = {{"model", server.model},
               {"input", Json(std::vector<std::string>(texts.begin(), texts.end()))},
               {"encoding_format", "float"}};
  if (options_.dimensions > 0) body["dimensions"] = options_.dimensions;
  return {"embeddings", to_json_text(body)};
}

tl::expected<RawVectors, std::string> OpenAiEmbedder::parse_response(std::string_view body) const {
  return parse_openai_vectors(body);
}

Error OpenAiEmbedder::refusal_error(const net::HttpResponse& answer, const ServerInfo& server,
                                    const net::Deadline& deadline, std::stop_token stop) const {
  // The server refuses the text and not the model, even if its message mentions the model.
  if (net::is_input_too_long(answer)) return upstream_.status_error(answer);
  return net::model_error(upstream_, answer, server.model, stop, deadline.remaining());
}

}  // namespace stoka::embed
