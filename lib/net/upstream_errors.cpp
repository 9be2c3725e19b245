// The texts of the errors of an Upstream.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/clock.h"
#include "net/json_text.h"
#include "net/upstream.h"

namespace stoka::net {
namespace {

// Words of messages such as "must have less than 512 tokens", "input (596 tokens) is too large to
// process", "the input length exceeds the context length", "exceeds the available context size".
// "tokenizer error" must not match.
constexpr std::string_view kLengthWords[] = {"tokens", "too large", "too long", "length",
                                             "context size"};

bool is_html(const HttpResponse& answer) {
  const size_t first = answer.body.find_first_not_of(kAsciiWhitespace);
  return answer.content_type == "text/html" ||
         (first != std::string::npos && answer.body[first] == '<');
}

}  // namespace

bool is_input_too_long(const HttpResponse& answer) {
  if (answer.status == 413) return true;
  if (answer.status != 400 && answer.status != 422 && answer.status != 500) return false;
  const std::string message = to_lower(error_message(answer.body));
  return std::any_of(std::begin(kLengthWords), std::end(kLengthWords), [&](std::string_view word) {
    return message.find(word) != std::string::npos;
  });
}

std::string Upstream::description() const {
  return fmt::format("{} at {}", options_.role, options_.url.display());
}

std::string Upstream::setting_key(std::string_view name) const {
  const auto found = options_.settings.find(name);
  return found != options_.settings.end() ? found->second.key
                                          : fmt::format("{}.{}", options_.role, name);
}

std::string Upstream::setting_name(std::string_view name, std::string_view value) const {
  const auto found = options_.settings.find(name);
  const bool has_variable = found != options_.settings.end() && !found->second.variable.empty();
  return setting_key(name) + (value.empty() ? "" : fmt::format(" = {}", value)) +
         (has_variable ? fmt::format(" ({})", found->second.variable) : "");
}

std::string Upstream::hint(const TransferFailure& failure, std::string_view total_setting) const {
  switch (failure.error.kind) {
    case ErrorKind::unavailable:
      if (failure.cause == FailureCause::no_host)
        return "check the host name in " + setting_name("url");
      if (!failure.connected) return "start it, or set " + setting_name("url");
      if (!failure.answered && options_.url.origin().starts_with("http://"))
        return "try again; the server's own log may say why; is it https:// rather than http://?";
      return "try again; the server's own log may say why";
    case ErrorKind::timeout: {
      const bool unset = failure.cause == FailureCause::total && total_setting.empty();
      const std::string raise = unset || failure.cause == FailureCause::other
                                    ? "or look at its log"
                                    : "or raise " + timeout_setting(failure.cause, total_setting);
      if (!failure.connected)
        return fmt::format("check that it is running, or set {}, {}", setting_name("url"), raise);
      if (failure.answered) return "it may be busy: try again, " + raise;
      return "it may be busy or still loading its model: try again, " + raise;
    }
    case ErrorKind::protocol:
      return "is this the right server? If not, set " + setting_name("url");
    default:
      return {};
  }
}

std::string Upstream::timeout_setting(FailureCause cause, std::string_view total_setting) const {
  if (cause == FailureCause::connect) return setting_name("connect_timeout");
  if (cause == FailureCause::total) return setting_name(total_setting);
  if (options_.role != "generator")
    return setting_name("timeout");  // every role but the generator has one timeout only
  switch (cause) {
    case FailureCause::headers:
      return setting_name("headers_timeout");
    case FailureCause::first_token:
      return setting_name("first_token_timeout");
    case FailureCause::idle:
      return setting_name("idle_timeout");
    default:
      return setting_name("timeout");
  }
}

Error Upstream::breaker_open(Milliseconds left) const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
  Error out(ErrorKind::unavailable,
            fmt::format("{} failed {} times in a row, next try in {}", description(),
                        options_.breaker.failure_threshold, format_duration(seconds)),
            "start it, or set " + setting_name("url"));
  out.retry_after = static_cast<int>(seconds.count());
  return out;
}

Error Upstream::status_error(const HttpResponse& answer) const {
  const std::string said = error_message(answer.body, options_.key);
  std::string what = said.empty() ? "" : ": " + said;
  if (said.empty() && is_html(answer)) what = " with an HTML page";
  const auto error = [&](ErrorKind kind, std::string_view verdict, std::string hint) {
    Error out(kind, fmt::format("{}: {} ({}){}", description(), verdict, answer.status, what),
              std::move(hint));
    if (answer.retry_after) out.retry_after = static_cast<int>(answer.retry_after->count());
    return out;
  };
  const std::string later = answer.retry_after
                                ? "try again in " + format_duration(*answer.retry_after)
                                : std::string("try again in a moment");
  switch (answer.status) {
    case 402:
      return error(ErrorKind::config, "requires payment", "check the account at the provider");
    case 401:
    case 403:
      if (options_.key.empty())
        return error(ErrorKind::config, "requires a key", "set " + setting_name("api_key_file"));
      if (answer.status == 403)
        return error(ErrorKind::config, "denies access", "check the key and what it may use");
      return error(
          ErrorKind::config, "rejects the key",
          fmt::format("check {}, {} or {}, whichever gives it", setting_key("api_key_file"),
                      setting_key("api_key_command"), setting_key("api_key")));
    case 404:
    case 405:
      return error(ErrorKind::config, "no such endpoint or model",
                   "check " + setting_name("url") + ", what server that is, and the model's name");
    case 429:
      return error(ErrorKind::busy, "too many requests", later);
    case 503:
      return error(ErrorKind::unavailable, "is not ready", later);
    case 408:
      return error(ErrorKind::timeout, "timed out", later);
    case 413:
      return error(ErrorKind::protocol, "says that the request is too large",
                   "raise the server's limit on the size of requests");
    case 424:
    case 501:
      return error(ErrorKind::protocol, "does not support this request",
                   "start it with a model of the right kind, or set " + setting_name("url"));
    default:
      break;
  }
  if (answer.status >= 500)
    return error(ErrorKind::unavailable, "failed",
                 answer.retry_after ? later : "try again; the server's own log may say why");
  return error(ErrorKind::protocol, "rejects the request",
               "is this the right server? If not, set " + setting_name("url"));
}

Error Upstream::protocol_error(std::string_view what) const {
  return Error(ErrorKind::protocol, options_.key.redact(fmt::format("{}: {}", description(), what)),
               "is this the right server? If not, set " + setting_name("url"));
}

}  // namespace stoka::net
