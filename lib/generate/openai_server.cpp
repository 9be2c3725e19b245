#include "generate/openai_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/model_list.h"

namespace stoka::generate {
namespace {

constexpr std::string_view kSetModel = "set generator.model (STOKA_GEN_MODEL)";

}  // namespace

OpenAiServer::OpenAiServer(net::Upstream& upstream, std::string model, std::string preferred,
                           Log& log)
    : upstream_(upstream), model_(std::move(model)), preferred_(std::move(preferred)), log_(log) {}

std::string OpenAiServer::known_model() const {
  const std::scoped_lock lock(mutex_);
  return model_.empty() ? found_ : model_;
}

Result<std::string> OpenAiServer::choose(const Models& listed) const {
  if (!model_.empty()) return model_;
  if (!listed || listed->empty()) return std::string();
  if (std::find(listed->begin(), listed->end(), preferred_) != listed->end()) return preferred_;
  if (listed->size() == 1) return listed->front();
  return fail(
      ErrorKind::config,
      fmt::format("generator at {} has several models: {}", shown(), net::enumerate(*listed)),
      std::string(kSetModel));
}

Result<std::string> OpenAiServer::model(std::stop_token stop) {
  if (std::string known = known_model(); !known.empty()) return known;
  STOKA_ASSIGN(const Models listed, net::list_models(upstream_, stop));
  STOKA_ASSIGN(std::string chosen, choose(listed));
  const std::scoped_lock lock(mutex_);
  return found_ = std::move(chosen);
}

Result<net::Answer> OpenAiServer::ask(const Write& write, const Send& send) {
  for (;;) {
    RefusedFields known;
    {
      const std::scoped_lock lock(mutex_);
      known = refused_;
    }
    STOKA_ASSIGN(std::string body, write(known));
    STOKA_ASSIGN(net::Answer answer, send(std::move(body)));
    const bool may_name = answer.status == 400 || answer.status == 422;
    std::string field = may_name ? refused_field(answer.body, known) : "";
    if (field.empty()) return answer;
    log_.info(fmt::format("generator at {} refuses the field {}", shown(), field));
    const std::scoped_lock lock(mutex_);
    refused_.insert(std::move(field));
  }
}

Error OpenAiServer::refusal(const net::Answer& answer, const std::string& model,
                            std::stop_token stop) {
  Error error = upstream_.refusal(answer);
  if (names_context(answer.body)) {
    error.hint = "raise the context length of the model server, or lower prompt.budget";
    return error;
  }
  if (!net::names_model(answer.status, answer.body, model)) return error;
  {
    const std::scoped_lock lock(mutex_);
    found_.clear();  // it may have another one by now
  }
  const auto listed = net::list_models(upstream_, stop);
  const Models has = listed.value_or(Models());
  if (!has || std::find(has->begin(), has->end(), model) != has->end()) return error;
  std::string message = has->empty() ? fmt::format("generator at {} has no models", shown())
                                     : fmt::format("generator at {} has no model '{}', but {}",
                                                   shown(), model, net::enumerate(*has));
  return {ErrorKind::config, std::move(message), std::string(kSetModel)};
}

Error OpenAiServer::named(Error error) const {
  error.message =
      upstream_.options().key.redact(fmt::format("generator at {}: {}", shown(), error.message));
  return error;
}

}  // namespace stoka::generate
