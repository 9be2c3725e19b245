#include "support/upstream/endpoints.h"

#include <fmt/format.h>

namespace stoka::testing {
namespace {

using nlohmann::json;

constexpr size_t kMaxTeiBody = 2000000;

const char* tei_type(int status) {
  switch (status) {
    case 400:
      return "Empty";
    case 422:
      return "Validation";
    case 424:
      return "Backend";
    case 429:
      return "Overloaded";
    default:
      return "Unhealthy";
  }
}

const char* openai_type(int status) {
  switch (status) {
    case 400:
      return "invalid_request_error";
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "unavailable_error";
    default:
      return "server_error";
  }
}

std::string default_message(const Context& context, int status) {
  if (!context.behaviour.message.empty()) return context.behaviour.message;
  if (status == 401) return "Invalid API Key";
  if (status == 429) return context.tei() ? "Model is overloaded" : "Rate limit reached";
  if (status == 503 && context.dialect() == "llamacpp") return "Loading model";
  if (status == 503 && context.dialect() == "ollama")
    return "server busy, please try again. maximum pending requests exceeded";
  return "something went wrong";
}

FakeResponse refused_key(const Context& context) {
  const std::string& dialect = context.dialect();
  if (context.tei()) return FakeResponse::text("", 401, "");
  if (dialect == "vllm") return FakeResponse::json({{"error", "Unauthorized"}}, 401);
  if (dialect != "openai") return error(context, 401, "Invalid API Key");
  std::string given = context.request.header("authorization");
  if (given.starts_with("Bearer ")) given.erase(0, 7);
  return FakeResponse::json(
      {{"error",
        {{"message", "Incorrect API key provided: " + given +
                         ". You can find your API key at https://platform.example/keys."},
         {"type", "invalid_request_error"},
         {"param", nullptr},
         {"code", "invalid_api_key"}}}},
      401);
}

FakeResponse info(const Context& context) {
  const FakeOptions& options = context.options;
  json type = {{"embedding", {{"pooling", "mean"}}}};
  if (options.reranker) type = {{"reranker", {{"id2label", {{"0", "LABEL_0"}}}}}};
  return FakeResponse::json({{"model_id", context.model()},
                             {"model_sha", "5617a9f61b028005a4858fdac845db406aefb181"},
                             {"model_dtype", "float16"},
                             {"model_type", type},
                             {"max_concurrent_requests", 512},
                             {"max_input_length", options.max_text_bytes / 4},
                             {"max_batch_tokens", 16384},
                             {"max_batch_requests", nullptr},
                             {"max_client_batch_size", options.max_batch},
                             {"auto_truncate", false},
                             {"tokenization_workers", 4},
                             {"version", "1.9.3"}});
}

FakeResponse models(const Context& context) {
  const std::string& dialect = context.dialect();
  json model = {
      {"id", context.model()}, {"object", "model"}, {"created", 1700000000}, {"owned_by", dialect}};
  if (dialect == "vllm") model["max_model_len"] = 8192;
  if (dialect == "llamacpp")
    model["meta"] = {{"n_ctx", 8192}, {"n_ctx_train", 32768}, {"n_embd", context.options.dim}};
  json out = {{"object", "list"}, {"data", json::array({model})}};
  if (dialect == "llamacpp")
    out["models"] = json::array({{{"name", context.model()}, {"model", context.model()}}});
  return FakeResponse::json(out);
}

// Servers with several models refuse an unknown name.
bool knows_model(const Context& context) {
  const std::string& dialect = context.dialect();
  const json& body = context.request.json;
  if (dialect == "llamacpp" || dialect == "lmstudio" || !context.behaviour.model.empty())
    return true;
  const bool named = body.contains("model") && body["model"].is_string();
  if (!named) return dialect == "vllm" || context.tei();
  return context.tei() || body["model"] == json(context.options.model);
}

std::optional<FakeResponse> refused_field(const Context& context) {
  for (const std::string& field : context.behaviour.fields)
    if (context.fault("refuse_fields") && context.request.json.contains(field))
      return FakeResponse::json(
          {{"error",
            {{"message", fmt::format("Unsupported parameter: '{}' is not supported "
                                     "with this model.",
                                     field)},
             {"type", "invalid_request_error"},
             {"param", field},
             {"code", "unsupported_parameter"}}}},
          400);
  return std::nullopt;
}

std::optional<FakeResponse> refused(const Context& context, const std::string& kind) {
  if (!context.options.key.empty() && kind != "health" &&
      context.request.header("authorization") != "Bearer " + context.options.key)
    return refused_key(context);
  if (context.fault("reject_key")) return refused_key(context);
  const Behaviour& behaviour = context.behaviour;
  if (behaviour.body)
    return FakeResponse::text(*behaviour.body, behaviour.status == 0 ? 200 : behaviour.status,
                              "application/json");
  // For these faults the status is a part of the fault.
  if (behaviour.status != 0 && behaviour.status / 100 != 2 && !context.fault("poison") &&
      !context.fault("html"))
    return error(context, behaviour.status, default_message(context, behaviour.status));
  if (context.request.method != "POST" || kind == "other") return std::nullopt;
  if (context.tei() && context.request.body.size() > kMaxTeiBody)
    return FakeResponse::text("Failed to buffer the request body: length limit exceeded", 413);
  if (!context.request.header("content-type").starts_with("application/json"))
    return context.tei()
               ? FakeResponse::text("Expected request with `Content-Type: application/json`", 415)
               : error(context, 400, "the content type is not application/json");
  if (!context.request.json.is_object()) {
    if (context.tei()) return FakeResponse::text("Failed to parse the request body as JSON", 400);
    return error(context, context.dialect() == "llamacpp" ? 500 : 400, "the body is not JSON");
  }
  if (!knows_model(context)) {
    const json model = context.request.json.value("model", json());
    if (!model.is_string()) return error(context, 400, "you must provide a model parameter");
    return error(context, 404, "The model `" + model.get<std::string>() + "` does not exist.");
  }
  return refused_field(context);
}

FakeResponse answer(const Context& context) {
  const std::string kind = testing::request_kind(context.request);
  if (auto early = refused(context, kind)) return *early;
  if (kind == "info") return info(context);
  if (kind == "health") return FakeResponse::text("", 200, "");
  if (kind == "models") return models(context);
  if (kind == "embed") return embed(context);
  if (kind == "rerank") return rerank(context);
  if (kind == "chat" || kind == "stream") return chat(context);
  if (kind == "completion") return completion(context);
  return FakeResponse::json({{"detail", "Not Found"}}, 404);
}

}  // namespace

bool Context::tei() const {
  const std::string path = request.path();
  if (path.ends_with("/rerank")) return request.json.is_object() && request.json.contains("texts");
  return path.ends_with("/info") || path.ends_with("/embed");
}

FakeResponse respond(const FakeRequest& request, const Behaviour& behaviour,
                     const FakeOptions& options) {
  const Context context{request, behaviour, options};
  FakeResponse out = answer(context);
  if (behaviour.status / 100 == 2 && out.status / 100 == 2) out.status = behaviour.status;
  if (!behaviour.content_type.empty()) out.content_type = behaviour.content_type;
  apply_fault(context, out);
  if (behaviour.retry_after) out.headers.emplace_back("Retry-After", *behaviour.retry_after);
  for (const auto& header : behaviour.headers) out.headers.push_back(header);
  return out;
}

FakeResponse error(const Context& context, int status, const std::string& message) {
  if (context.tei())
    return FakeResponse::json({{"error", message}, {"error_type", tei_type(status)}}, status);
  return FakeResponse::json(error_object(context.dialect(), status, message), status);
}

json error_object(const std::string& dialect, int status, const std::string& message) {
  json error = {{"message", message}, {"type", openai_type(status)}};
  if (dialect == "lmstudio") return {{"error", message}};
  if (dialect == "openrouter")
    error = {{"code", status}, {"message", message}, {"metadata", json::object()}};
  if (dialect == "vllm" || dialect == "ollama" || dialect == "openai") error["param"] = nullptr;
  if (dialect == "vllm" || dialect == "llamacpp") error["code"] = status;
  if (dialect == "ollama" || dialect == "openai") error["code"] = nullptr;
  return {{"error", error}};
}

}  // namespace stoka::testing
