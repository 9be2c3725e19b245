#include "generate/openai_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/model_list.h"

namespace stoka::generate {
namespace {

constexpr int kMaxRepeats = 2;
constexpr std::chrono::milliseconds kListTimeout{10000};

}  // namespace

OpenAiServer::OpenAiServer(net::Upstream& upstream, std::string model, std::string preferred,
                           Log& log)
    : upstream_(upstream), model_(std::move(model)), preferred_(std::move(preferred)), log_(log) {}

std::string OpenAiServer::known_model() const {
  const std::scoped_lock lock(mutex_);
  return model_.empty() ? listed_model_ : model_;
}

Result<std::string> OpenAiServer::choose(const Models& listed) const {
  if (!model_.empty()) return model_;
  if (!listed || listed->empty()) return std::string();
  if (std::find(listed->begin(), listed->end(), preferred_) != listed->end()) return preferred_;
  if (listed->size() == 1) return listed->front();
  return fail(
      ErrorKind::config,
      fmt::format("{} has several models: {}", upstream_.description(), net::join_models(*listed)),
      "set " + upstream_.setting_name("model"));
}

Result<OpenAiServer::Models> OpenAiServer::list(std::stop_token stop,
                                                const net::Deadline& deadline) {
  {
    const std::scoped_lock lock(mutex_);
    if (has_no_list_) return Models();
  }
  STOKA_ASSIGN(Models listed, net::list_models(upstream_, stop, deadline.remaining(kListTimeout)));
  const std::scoped_lock lock(mutex_);
  has_no_list_ = !listed;
  return listed;
}

Result<std::string> OpenAiServer::model(std::stop_token stop, const net::Deadline& deadline) {
  if (std::string known = known_model(); !known.empty()) return known;
  STOKA_ASSIGN(const Models listed, list(stop, deadline));
  STOKA_ASSIGN(std::string chosen, choose(listed));
  const std::scoped_lock lock(mutex_);
  return listed_model_ = std::move(chosen);
}

RejectedFields OpenAiServer::rejected() const {
  const std::scoped_lock lock(mutex_);
  return rejected_;
}

bool OpenAiServer::should_repeat(const net::HttpResponse& response, RejectedFields& rejected,
                                 int repeats) {
  if (response.ok()) {
    const std::scoped_lock lock(mutex_);
    rejected_.merge(rejected);
    return false;
  }
  const bool may_name_field = response.status == 400 || response.status == 422;
  std::string field = may_name_field ? rejected_field(response.body, rejected) : "";
  if (field.empty() || repeats == kMaxRepeats) return false;
  log_.info(fmt::format("{} rejects the field {}", upstream_.description(), field));
  // The last repetition leaves out all sampling fields, in case the server rejects them one by one.
  if (repeats + 1 == kMaxRepeats && is_sampling_field(field)) reject_sampling_fields(rejected);
  rejected.insert(std::move(field));
  return true;
}

Result<net::HttpResponse> OpenAiServer::send(net::Call call, const Write& write,
                                             const net::Deadline& deadline, std::stop_token stop) {
  RejectedFields rejected = this->rejected();
  for (int repeats = 0;; ++repeats) {
    STOKA_ASSIGN(call.body, write(rejected));
    call.timeout = deadline.remaining();
    STOKA_ASSIGN(net::HttpResponse response, upstream_.call(call, stop));
    if (!should_repeat(response, rejected, repeats)) return response;
  }
}

Error OpenAiServer::status_error(const net::HttpResponse& response, const std::string& model,
                                 std::stop_token stop, const net::Deadline& deadline) {
  if (is_context_overflow(response.body)) {
    Error error = upstream_.status_error(response);
    error.hint = "raise the context length of the model server, or lower " +
                 upstream_.setting_name("prompt_budget");
    return error;
  }
  if (net::is_unknown_model(response.status, response.body, model)) {
    const std::scoped_lock lock(mutex_);
    listed_model_.clear();  // the server may have another model by now
  }
  return net::model_error(upstream_, response, model, stop, deadline.remaining(kListTimeout));
}

Error OpenAiServer::describe(Error error) const {
  error.message =
      upstream_.options().key.redact(fmt::format("{}: {}", upstream_.description(), error.message));
  if (error.hint.empty()) error.hint = "try again; the server's own log may say why";
  return error;
}

}  // namespace stoka::generate
