#include "net/model_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "net/json_text.h"
#include "text/normalize.h"

namespace stoka::net {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxModels = 1000;
constexpr size_t kMaxIdBytes = 256;
constexpr size_t kMaxShownModels = 8;

}  // namespace

std::optional<std::vector<std::string>> parse_models(std::string_view body) {
  const auto mended = repair_json(body);
  const Json json = Json::parse(mended.value_or(""), nullptr, false);
  if (!json.is_object() || !json.contains("data") || !json["data"].is_array()) return {};
  std::vector<std::string> out;
  for (const Json& entry : json["data"]) {
    if (out.size() == kMaxModels) break;
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) continue;
    const std::string& id = entry["id"].get_ref<const std::string&>();
    if (!id.empty() && id.size() <= kMaxIdBytes) out.push_back(id);
  }
  return out;
}

Result<std::optional<std::vector<std::string>>> read_models(const Upstream& upstream,
                                                            const HttpResponse& answer) {
  if (answer.status == 404 || answer.status == 405 || answer.status == 501)
    return std::optional<std::vector<std::string>>();
  if (!answer.ok()) return fail(upstream.status_error(answer));
  auto listed = parse_models(answer.body);
  if (!listed) return fail(upstream.protocol_error("the response is not a list of models"));
  return listed;
}

Result<std::optional<std::vector<std::string>>> list_models(Upstream& upstream,
                                                            std::stop_token stop,
                                                            Milliseconds total) {
  Call call;
  call.endpoint = "models";
  call.timeout = total;
  if (total.count() > 0) call.timeout_setting = {};
  STOKA_ASSIGN(const HttpResponse answer, upstream.call(call, stop));
  return read_models(upstream, answer);
}

std::string join_models(std::span<const std::string> models) {
  std::vector<std::string> shown;
  for (const std::string& model : models.first(std::min(models.size(), kMaxShownModels)))
    shown.push_back(text::one_line(model));
  std::string out = fmt::format("{}", fmt::join(shown, ", "));
  if (models.size() > kMaxShownModels)
    out += fmt::format(" and {} more", models.size() - kMaxShownModels);
  return out;
}

bool is_unknown_model(int status, std::string_view refusal, std::string_view model) {
  if (status != 400 && status != 404 && status != 422) return false;
  const std::string message = error_message(refusal);
  if (status == 404 && message.find("model") != message.npos) return true;
  return !model.empty() && message.find(model) != message.npos;
}

Error model_error(Upstream& upstream, const HttpResponse& answer, std::string_view model,
                  std::stop_token stop, Milliseconds total) {
  Error error = upstream.status_error(answer);
  if (!is_unknown_model(answer.status, answer.body, model)) return error;
  const auto listed = list_models(upstream, stop, total);
  const auto has = listed.value_or(std::nullopt);
  if (!has || std::find(has->begin(), has->end(), model) != has->end()) return error;
  std::string message = has->empty()
                            ? upstream.description() + " has no models"
                            : fmt::format("{} has no model '{}'; it has {}", upstream.description(),
                                          model, join_models(*has));
  return {ErrorKind::config, std::move(message), "set " + upstream.setting_name("model")};
}

}  // namespace stoka::net
