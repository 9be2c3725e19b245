// The endpoints of embedders: TEI's /embed, and /v1/embeddings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support/upstream/endpoints.h"
#include "support/upstream/word_model.h"

namespace stoka::testing {
namespace {

using nlohmann::json;

std::string base64(const std::vector<float>& numbers) {
  static const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
  }
  return out;
}

std::optional<std::vector<std::string>> inputs(const json& body, const char* name) {
  if (!body.contains(name)) return std::nullopt;
  const json& value = body[name];
  if (value.is_string()) return std::vector<std::string>{value.get<std::string>()};
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const json& text : value) {
    if (!text.is_string()) return std::nullopt;
    out.push_back(text.get<std::string>());
  }
  return out;
}

FakeResponse too_long(const Context& context, size_t bytes) {
  const size_t most = context.options.max_text_bytes / 4, given = bytes / 4;
  if (context.tei())
    return error(context, 422,
                 fmt::format("`inputs` must have less than {} tokens. Given: {}", most, given));
  if (context.dialect() == "llamacpp")
    return error(
        context, 500,
        fmt::format("input ({} tokens) is too large to process. increase the physical batch "
                    "size (current batch size: {})",
                    given, most));
  json body = error_object(
      context.dialect(), 400,
      fmt::format("This model's maximum context length is {} tokens. However, you requested {} "
                  "tokens in the input for embedding generation. Please reduce your prompt.",
                  most, given));
  if (context.dialect() == "vllm") body["error"]["param"] = "input_tokens";
  return FakeResponse::json(body, 400);
}

// The error for the texts of a request, if there is one.
std::optional<FakeResponse> refused_embedding(const Context& context,
                                              const std::vector<std::string>& texts) {
  const FakeOptions& options = context.options;
  if (context.tei() && options.reranker)
    return error(context, 424, "Model is not an embedding model");
  if (texts.empty())
    return error(context, 400, context.tei() ? "`inputs` cannot be empty" : "input is empty");
  if (context.tei() && texts.size() > options.max_batch)
    return error(context, 422,
                 fmt::format("batch size {} > maximum allowed batch size {}", texts.size(),
                             options.max_batch));
  const json& body = context.request.json;
  const bool truncates = context.tei() ? body.contains("truncate") && body["truncate"] == json(true)
                                       : context.dialect() == "ollama";
  for (const std::string& text : texts) {
    if (text.size() > options.max_text_bytes && !truncates) return too_long(context, text.size());
    if (context.fault("poison") && text.find("poison") != std::string::npos) {
      const int usual = context.tei() ? 424 : 500;
      return error(context, context.behaviour.status == 0 ? usual : context.behaviour.status,
                   "the model failed on its input");
    }
  }
  return std::nullopt;
}

std::vector<std::vector<float>> vectors(const Context& context,
                                        const std::vector<std::string>& texts, int dim) {
  std::vector<std::vector<float>> out;
  for (const std::string& text : texts) {
    const std::string_view read = std::string_view(text).substr(0, context.options.max_text_bytes);
    std::vector<float> vector = vector_of(read, context.options.dim);
    vector.resize(static_cast<size_t>(dim));
    float square = 0;
    for (const float x : vector) square += x * x;
    if (square == 0) square = vector[0] = 1;
    for (float& x : vector) x /= std::sqrt(square);
    out.push_back(std::move(vector));
  }
  if (context.fault("wrong_count")) out.pop_back();
  if (context.fault("zeros")) std::fill(out[0].begin(), out[0].end(), 0.0f);
  if (context.fault("nan")) out[0][0] = std::numeric_limits<float>::quiet_NaN();
  if (context.fault("wrong_dim")) out.back().pop_back();
  return out;
}

json numbers(const Context& context, const std::vector<float>& vector, bool first) {
  json out = json::array();
  for (const float x : vector) {
    if (std::isnan(x))
      out.push_back(kNan);
    else if (first && context.fault("nulls"))
      out.push_back(nullptr);
    else
      out.push_back(x);
  }
  return out;
}

FakeResponse malformed_json(const json& body) {
  return FakeResponse::text(insert_malformed(body.dump()), 200, "application/json");
}

FakeResponse openai_shape(const Context& context, const std::vector<std::string>& texts, int dim) {
  const bool packed =
      context.request.json.value("encoding_format", json("float")) == json("base64");
  const auto all = vectors(context, texts, dim);
  json data = json::array();
  // In reverse order, so that a client must use the index.
  for (size_t i = all.size(); i-- > 0;) {
    json embedding = packed ? json(base64(all[i])) : numbers(context, all[i], i == 0);
    json entry = {{"object", "embedding"}, {"index", i}, {"embedding", embedding}};
    if (packed && context.dialect() == "llamacpp") entry["encoding_format"] = "base64";
    data.push_back(entry);
  }
  if (context.fault("bad_index")) data[0]["index"] = texts.size() + 7;
  if (context.fault("duplicate_index")) {
    if (data.size() == 1) data.push_back(data[0]);
    data[0]["index"] = data.back()["index"];
  }
  size_t tokens = 0;
  for (const std::string& text : texts) tokens += text.size() / 4 + 1;
  return malformed_json({{"object", "list"},
                         {"data", data},
                         {"model", context.model()},
                         {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

}  // namespace

FakeResponse embed(const Context& context) {
  const json& body = context.request.json;
  const auto texts = inputs(body, context.tei() ? "inputs" : "input");
  if (!texts && context.tei())
    return FakeResponse::text("Failed to deserialize the JSON body into the target type", 422);
  if (!texts) return error(context, 400, "input must be a string or a list of strings");
  if (auto answer = refused_embedding(context, *texts)) return *answer;
  const json wanted = body.value("dimensions", json());
  if (!wanted.is_null() && (!wanted.is_number_unsigned() || wanted.get<uint64_t>() == 0 ||
                            wanted.get<uint64_t>() > static_cast<uint64_t>(context.options.dim)))
    return error(context, context.tei() ? 422 : 400, "`dimensions` is out of range");
  const int dim = wanted.is_null() ? context.options.dim : wanted.get<int>();
  if (!context.tei()) return openai_shape(context, *texts, dim);
  json out = json::array();
  for (const auto& vector : vectors(context, *texts, dim))
    out.push_back(numbers(context, vector, out.empty()));
  // The response has no index, so a row too many is sent.
  if (context.fault("duplicate_index") || context.fault("bad_index")) out.push_back(out[0]);
  return malformed_json(out);
}

}  // namespace stoka::testing
