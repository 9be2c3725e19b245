// The endpoints of rerankers: TEI's with "texts", and the others' with "documents".
#include <fmt/format.h>

#include <algorithm>

#include "support/upstream/endpoints.h"
#include "support/upstream/word_model.h"

namespace stoka::testing {
namespace {

using nlohmann::json;

struct RankedText {
  size_t index;
  std::string text;
  double score;
};

// The texts of a list of strings or of objects with a text.
std::optional<std::vector<std::string>> texts_of(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const json& entry : list) {
    const json text = entry.is_object() ? entry.value("text", json()) : entry;
    if (!text.is_string()) return std::nullopt;
    out.push_back(text.get<std::string>());
  }
  return out;
}

std::optional<FakeResponse> refused_rank(const Context& context,
                                         const std::vector<std::string>& texts) {
  const FakeOptions& options = context.options;
  const json& body = context.request.json;
  if (texts.empty())
    return error(context, 400, context.tei() ? "`texts` cannot be empty" : "documents are empty");
  if (context.tei() && texts.size() > options.max_batch)
    return error(context, 422,
                 fmt::format("batch size {} > maximum allowed batch size {}", texts.size(),
                             options.max_batch));
  const bool truncates =
      context.tei() && body.contains("truncate") && body["truncate"] == json(true);
  const size_t query = body["query"].get<std::string>().size();
  for (const std::string& text : texts) {
    if (query + text.size() > options.max_text_bytes && !truncates) {
      const size_t given = (query + text.size()) / 4, most = options.max_text_bytes / 4;
      if (context.tei())
        return error(context, 422,
                     fmt::format("`inputs` must have less than {} tokens. Given: {}", most, given));
      if (context.dialect() == "llamacpp")
        return error(context, 500,
                     fmt::format("input ({} tokens) is too large to process. increase the physical "
                                 "batch size (current batch size: {})",
                                 given, most));
      return error(
          context, 400,
          fmt::format("This model's maximum context length is {} tokens, given: {}", most, given));
    }
    if (context.fault("poison") && text.find("poison") != std::string::npos) {
      const int usual = context.tei() ? 424 : 500;
      return error(context, context.behaviour.status == 0 ? usual : context.behaviour.status,
                   "the model failed on its input");
    }
  }
  return std::nullopt;
}

std::vector<RankedText> ranked(const Context& context, const std::vector<std::string>& texts) {
  const json& body = context.request.json;
  const bool raw = context.options.logits || body.value("raw_scores", json()) == json(true) ||
                   (!context.tei() && context.dialect() == "llamacpp");
  std::vector<RankedText> out;
  for (size_t i = 0; i < texts.size(); ++i) {
    const double logit = score_of(body["query"].get<std::string>(), texts[i]);
    const double score = raw ? logit : sigmoid(logit);
    out.push_back({i, texts[i], !context.fault("reversed") ? score : raw ? -score : 1 - score});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RankedText& a, const RankedText& b) { return a.score > b.score; });
  const json most = context.tei() ? json() : body.value("top_n", json());
  if (most.is_number_unsigned() && most.get<size_t>() > 0 && most.get<size_t>() < out.size())
    out.resize(most.get<size_t>());
  return out;
}

json results(const Context& context, const std::vector<RankedText>& all) {
  const char* score = context.tei() ? "score" : "relevance_score";
  json out = json::array();
  for (const RankedText& entry : all) {
    json result = {{"index", entry.index}, {score, entry.score}};
    if (context.tei() && context.request.json.value("return_text", json()) == json(true))
      result["text"] = entry.text;
    if (!context.tei() && context.dialect() == "vllm")
      result["document"] = {{"text", entry.text}, {"multi_modal", nullptr}};
    out.push_back(result);
  }
  if (context.fault("wrong_count")) out.erase(out.end() - 1);
  if (out.empty()) return out;
  if (context.fault("nan")) out[0][score] = kNan;
  if (context.fault("nulls")) out[0][score] = nullptr;
  if (context.fault("zeros")) out[0][score] = 0.0;
  if (context.fault("sentinel")) out[0][score] = -1e6;
  if (context.fault("bad_index")) out[0]["index"] = context.request.body.size();
  if (context.fault("duplicate_index")) {
    if (out.size() == 1) out.push_back(out[0]);
    out[0]["index"] = out.back()["index"];
  }
  return out;
}

}  // namespace

FakeResponse rerank(const Context& context) {
  const std::string& dialect = context.dialect();
  if (!context.tei() && (dialect == "ollama" || dialect == "lmstudio"))
    return FakeResponse::text("404 page not found", 404);
  const json& body = context.request.json;
  const auto texts = texts_of(body.value(context.tei() ? "texts" : "documents", json()));
  if (!texts || !body.contains("query") || !body["query"].is_string()) {
    if (context.tei())
      return FakeResponse::text("Failed to deserialize the JSON body into the target type", 422);
    return error(context, 400, "query and documents must be given");
  }
  if (auto answer = refused_rank(context, *texts)) return *answer;
  const json list = results(context, ranked(context, *texts));
  json out = list;
  if (!context.tei()) {
    out = {{"model", context.model()},
           {"usage", {{"prompt_tokens", 7}, {"total_tokens", 7}}},
           {"results", list}};
    out[dialect == "llamacpp" ? "object" : "id"] = dialect == "llamacpp" ? "list" : "rerank-1";
  }
  return FakeResponse::text(insert_malformed(out.dump()), 200, "application/json");
}

}  // namespace stoka::testing
