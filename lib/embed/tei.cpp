#include "embed/tei.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "embed/rows.h"
#include "net/json_text.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

size_t limit(const Json& info, std::string_view key, size_t fallback) {
  const auto found = info.find(key);
  if (found == info.end() || !found->is_number_unsigned()) return fallback;
  return std::clamp<size_t>(found->get<size_t>(), 1, 1u << 20);
}

std::string text_of(const Json& info, std::string_view key) {
  const auto found = info.find(key);
  if (found == info.end() || !found->is_string()) return {};
  return shown_name(found->get_ref<const std::string&>());
}

}  // namespace

Result<RemoteEmbedder::Server> TeiEmbedder::meet(const net::TimeLeft& time, std::stop_token stop) {
  STOKA_ASSIGN(const net::Answer answer, send({"info", ""}, time, stop));
  const bool absent = answer.status >= 400 && answer.status < 500 && answer.status != 401 &&
                      answer.status != 403 && answer.status != 429;
  if (!answer.ok() && !absent) return fail(upstream_.refusal(answer));
  Json info;
  if (answer.ok()) {
    if (const Result<std::string> mended = net::mend_json(answer.body))
      info = Json::parse(*mended, nullptr, false);
  }
  const std::string model = info.is_object() ? text_of(info, "model_id") : std::string();
  if (model.empty())
    return fail(absent ? ErrorKind::config : ErrorKind::protocol,
                where() + " does not look like text-embeddings-inference: it has no /info",
                "for a server with an OpenAI-style /v1/embeddings set embedder.kind = openai "
                "(STOKA_EMBEDDER)");

  Server out;
  out.model = model;
  out.identity.name = "tei:" + model;
  if (const std::string sha = text_of(info, "model_sha"); !sha.empty())
    out.identity.name += "@" + shown_name(sha.substr(0, 8));
  // The server counts texts, not requests. All places together take a quarter of what it takes.
  const size_t places = std::max<size_t>(1, upstream_.options().gate.places);
  const size_t share = limit(info, "max_concurrent_requests", 512) / 4 / places;
  out.limits.texts = std::clamp<size_t>(share, 1, limit(info, "max_client_batch_size", 32));
  return out;
}

net::Call TeiEmbedder::request(std::span<const std::string> texts, Use use, const Server&) const {
  const Json body = {{"inputs", Json(std::vector<std::string>(texts.begin(), texts.end()))},
                     {"truncate", use == Use::query},
                     {"normalize", true}};
  return {"embed", body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

tl::expected<Rows, std::string> TeiEmbedder::read(std::string_view body) const {
  return read_bare_rows(body);
}

}  // namespace stoka::embed
