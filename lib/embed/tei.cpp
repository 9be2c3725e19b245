#include "embed/tei.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "net/json_text.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

size_t number_field(const Json& info, std::string_view key, size_t fallback) {
  const auto found = info.find(key);
  if (found == info.end() || !found->is_number_unsigned()) return fallback;
  return std::clamp<size_t>(found->get<size_t>(), 1, 1u << 20);
}

std::string name_field(const Json& info, std::string_view key) {
  const auto found = info.find(key);
  if (found == info.end() || !found->is_string()) return {};
  return clean_model_name(found->get_ref<const std::string&>());
}

}  // namespace

Result<RemoteEmbedder::ServerInfo> TeiEmbedder::fetch_info(const net::Deadline& deadline,
                                                           std::stop_token stop) {
  STOKA_ASSIGN(const net::HttpResponse answer, send({"info", ""}, deadline, stop));
  const bool is_absent = answer.status >= 400 && answer.status < 500 && answer.status != 401 &&
                         answer.status != 403 && answer.status != 429;
  if (!answer.ok() && !is_absent) return fail(upstream_.status_error(answer));
  Json info;
  if (answer.ok()) {
    if (const Result<std::string> mended = net::repair_json(answer.body))
      info = Json::parse(*mended, nullptr, false);
  }
  const std::string model = info.is_object() ? name_field(info, "model_id") : std::string();
  if (model.empty())
    return fail(
        is_absent ? ErrorKind::config : ErrorKind::protocol,
        upstream_.description() + " does not look like text-embeddings-inference: it has no /info",
        "for a server with an OpenAI-style /v1/embeddings set " +
            upstream_.setting_name("kind", "openai"));

  ServerInfo out;
  out.model = model;
  out.identity.name = "tei:" + model;
  if (const std::string sha = name_field(info, "model_sha"); !sha.empty())
    out.identity.name += "@" + clean_model_name(sha.substr(0, 8));
  // The server's limit of concurrent requests counts each text as one request. All requests of this
  // process together use at most a quarter of it.
  const size_t concurrency = std::max<size_t>(1, upstream_.options().semaphore.permits);
  const size_t share = number_field(info, "max_concurrent_requests", 512) / 4 / concurrency;
  out.limits.max_texts =
      std::clamp<size_t>(share, 1, number_field(info, "max_client_batch_size", 32));
  return out;
}

net::Call TeiEmbedder::make_request(std::span<const std::string> texts, InputType type,
                                    const ServerInfo&) const {
  const Json body = {{"inputs", Json(std::vector<std::string>(texts.begin(), texts.end()))},
                     {"truncate", type == InputType::query},
                     {"normalize", true}};
  return {"embed", to_json_text(body)};
}

tl::expected<RawVectors, std::string> TeiEmbedder::parse_response(std::string_view body) const {
  return parse_tei_vectors(body);
}

}  // namespace stoka::embed
