#include "generate/openai_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/model_list.h"

namespace stoka::generate {
namespace {

constexpr int kMostRepeats = 2;
constexpr std::chrono::milliseconds kMostListing{10000};
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

Result<OpenAiServer::Models> OpenAiServer::list(std::stop_token stop, const net::TimeLeft& time) {
  {
    const std::scoped_lock lock(mutex_);
    if (keeps_no_list_) return Models();
  }
  STOKA_ASSIGN(Models listed, net::list_models(upstream_, stop, time.left(kMostListing)));
  const std::scoped_lock lock(mutex_);
  keeps_no_list_ = !listed;
  return listed;
}

Result<std::string> OpenAiServer::model(std::stop_token stop, const net::TimeLeft& time) {
  if (std::string known = known_model(); !known.empty()) return known;
  STOKA_ASSIGN(const Models listed, list(stop, time));
  STOKA_ASSIGN(std::string chosen, choose(listed));
  const std::scoped_lock lock(mutex_);
  return found_ = std::move(chosen);
}

RefusedFields OpenAiServer::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

bool OpenAiServer::learn(const net::Answer& answer, RefusedFields& refused, int repeats) {
  if (answer.ok()) {
    const std::scoped_lock lock(mutex_);
    refused_.merge(refused);
    return false;
  }
  const bool may_name = answer.status == 400 || answer.status == 422;
  std::string field = may_name ? refused_field(answer.body, refused) : "";
  if (field.empty() || repeats == kMostRepeats) return false;
  log_.info(fmt::format("generator at {} refuses the field {}", shown(), field));
  // The last try must not fail for the next one of its kind.
  if (repeats + 1 == kMostRepeats && is_sampling(field)) refuse_sampling(refused);
  refused.insert(std::move(field));
  return true;
}

Result<net::Answer> OpenAiServer::ask(const Write& write, const Send& send) {
  RefusedFields refused = this->refused();
  for (int repeats = 0;; ++repeats) {
    STOKA_ASSIGN(std::string body, write(refused));
    STOKA_ASSIGN(net::Answer answer, send(std::move(body)));
    if (!learn(answer, refused, repeats)) return answer;
  }
}

Error OpenAiServer::refusal(const net::Answer& answer, const std::string& model,
                            std::stop_token stop, const net::TimeLeft& time) {
  if (names_context(answer.body)) {
    Error error = upstream_.refusal(answer);
    error.hint = "raise the context length of the model server, or lower prompt.budget";
    return error;
  }
  if (net::names_model(answer.status, answer.body, model)) {
    const std::scoped_lock lock(mutex_);
    found_.clear();  // it may have another one by now
  }
  return net::model_refusal(upstream_, answer, model, stop, time.left(kMostListing));
}

Error OpenAiServer::named(Error error) const {
  error.message =
      upstream_.options().key.redact(fmt::format("generator at {}: {}", shown(), error.message));
  if (error.hint.empty()) error.hint = "try again; the server's own log may say why";
  return error;
}

}  // namespace stoka::generate
