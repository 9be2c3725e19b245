#include "net/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/spoken.h"
#include "net/json_text.h"
#include "net/loop.h"

namespace stoka::net {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kLeastPause{100};
constexpr Milliseconds kMostPause{400};  // before the first retry; then twice as long
constexpr std::chrono::seconds kMaxRetryWait{30};
constexpr size_t kMostRefusal = 64u << 10;  // bytes kept of an answer that is not ok

Breaker::Time monotonic() { return SteadyClock::now().time_since_epoch(); }

// "EMBED" of STOKA_EMBED_URL; nothing for a role without settings of its own.
std::string_view variable(std::string_view role) {
  if (role == "embedder") return "EMBED";
  if (role == "reranker") return "RERANK";
  if (role == "generator") return "GEN";
  return {};
}

bool is_html(const Answer& answer) {
  const size_t first = answer.body.find_first_not_of(" \t\r\n");
  return answer.content_type == "text/html" ||
         (first != std::string::npos && answer.body[first] == '<');
}

}  // namespace

// Passes on what the listener is to hear, and keeps the rest.
class Upstream::Ear final : public Listener {
 public:
  Ear(Listener* listener, Breaker& breaker) : listener_(listener), breaker_(breaker) {}

  Result<> head(const Head& head) override {
    answer_.status = head.status;
    answer_.content_type = head.content_type;
    answer_.retry_after = head.retry_after;
    answer_.requests_left = head.requests_left;
    if (redirected()) {
      const std::string to = head.location.empty() ? "" : " to " + head.location;
      return fail(ErrorKind::protocol,
                  fmt::format("answers {} with a redirect{}", head.status, to));
    }
    if (answer_.ok()) breaker_.answered();
    passing_on_ = listener_ != nullptr && answer_.ok();
    return passing_on_ ? of_listener(listener_->head(head)) : Result<>();
  }

  Result<Heard> body(std::string_view bytes) override {
    if (passing_on_) return of_listener(listener_->body(bytes));
    answer_.body += bytes;
    if (answer_.ok() || answer_.body.size() < kMostRefusal) return Heard::flowing;
    answer_.body.resize(kMostRefusal);
    return Heard::enough;
  }

  const Answer& answer() const { return answer_; }
  bool redirected() const { return answer_.status >= 300 && answer_.status < 400; }
  // Whether the failure is the listener's own.
  bool objected() const { return objected_; }

 private:
  template <class T>
  T of_listener(T result) {
    objected_ = !result;
    return result;
  }

  Listener* listener_;
  Breaker& breaker_;
  Answer answer_;
  bool passing_on_ = false;
  bool objected_ = false;
};

Upstream::Upstream(UpstreamOptions options, Transport& transport, Log& log)
    : options_(std::move(options)),
      transport_(transport),
      log_(log),
      gate_(who(), options_.gate),
      breaker_(options_.breaker),
      random_(std::random_device{}()) {}

Result<Answer> Upstream::call(const Call& call, std::stop_token stop) {
  return ask(call, nullptr, std::move(stop));
}

Result<Answer> Upstream::stream(const Call& call, Listener& listener, std::stop_token stop) {
  return ask(call, &listener, std::move(stop));
}

Result<Answer> Upstream::ask(const Call& call, Listener* listener, std::stop_token stop) {
  const Error stopped(ErrorKind::cancelled, "stopped");
  if (stop.stop_requested()) return fail(stopped);
  const Loops::Lease loop = loops().take();
  std::optional<Result<Answer>> result;
  const auto asking =
      start(*loop, call, listener, [&](Result<Answer> answer) { result = std::move(answer); });
  loop->drive([&] { return result.has_value(); }, stop);
  return result ? *std::move(result) : fail(stopped);
}

std::unique_ptr<Asking> Upstream::start(Loop& loop, Call call, Listener* listener,
                                        Answered answered) {
  std::unique_ptr<Asking> asking(
      new Asking(*this, loop, std::move(call), listener, std::move(answered)));
  asking->begin();
  return asking;
}

struct Asking::State {
  Upstream& upstream;
  Loop& loop;
  Call call;
  Listener* const listener;
  Upstream::Answered answered;
  const Milliseconds total;
  Asking* const asking;
  const std::shared_ptr<Asking*> self = std::make_shared<Asking*>(asking);
  const SteadyClock::time_point start = SteadyClock::now();
  Request request = {};
  int attempts = 0;
  bool at_the_breaker = false;  // it counts on hearing how the call went
  Gate::Pass pass = {};
  Gate::Ticket ticket = {};
  std::optional<Upstream::Ear> ear = {};
  std::unique_ptr<Transfer> transfer = {};
  // Last, so that nothing rings or is granted while the rest goes.
  Loop::Timer timer = {};
};

Asking::Asking(Upstream& upstream, Loop& loop, Call call, Listener* listener,
               Upstream::Answered answered) {
  const Milliseconds total =
      call.total.count() > 0 ? call.total : upstream.options_.deadlines.total;
  state_.reset(
      new State{upstream, loop, std::move(call), listener, std::move(answered), total, this});
}

Asking::~Asking() {
  state_->transfer.reset();
  if (state_->at_the_breaker) state_->upstream.breaker_.abandoned();
}

void Asking::pause() {
  if (state_->transfer) state_->transfer->pause();
}

void Asking::resume() {
  if (state_->transfer) state_->transfer->resume();
}

Milliseconds Asking::left() const {
  if (state_->total.count() == 0) return Milliseconds::max();
  const auto spent = std::chrono::ceil<Milliseconds>(SteadyClock::now() - state_->start);
  return std::max(state_->total - spent, Milliseconds(1));
}

void Asking::begin() {
  State& s = *state_;
  std::optional<Error> error;
  if (const auto rest = s.upstream.breaker_.resting(monotonic())) {
    error = s.upstream.resting(*rest);
  } else {
    // Whoever leaves a place does so on another thread.
    auto ticket = s.upstream.gate_.queue([&loop = s.loop, self = std::weak_ptr(s.self)] {
      loop.post([self] {
        if (const auto alive = self.lock()) (*alive)->enter();
      });
    });
    if (ticket)
      s.ticket = std::move(*ticket);
    else
      error = ticket.error();
  }
  if (error) {
    s.timer =
        s.loop.after(Milliseconds(0), [this, error = *std::move(error)] { finish(fail(error)); });
    return;
  }
  if (s.ticket.granted()) {
    s.timer = s.loop.after(Milliseconds(0), [this] { enter(); });
    return;
  }
  const Milliseconds wait = std::min(left(), s.upstream.gate_.most_wait());
  s.timer = s.loop.after(wait, [this, wait] {
    if (state_->ticket.granted()) return;  // it is about to be called
    finish(fail(state_->upstream.gate_.too_long(wait)));
  });
}

void Asking::enter() {
  State& s = *state_;
  if (!s.ticket.granted()) return;
  s.timer.cancel();
  s.pass = s.ticket.take();
  if (const auto rest = s.upstream.breaker_.closed_to_callers(monotonic()))
    return finish(fail(s.upstream.resting(*rest)));
  s.at_the_breaker = true;
  s.request = s.upstream.request(s.call, s.listener != nullptr);
  attempt();
}

void Asking::attempt() {
  State& s = *state_;
  if (s.total.count() > 0) s.request.deadlines.total = left();
  s.ear.emplace(s.listener, s.upstream.breaker_);
  s.transfer = s.upstream.transport_.start(
      s.loop, s.request, *s.ear,
      [this](std::optional<Failure> failure) { attempted(std::move(failure)); });
}

void Asking::attempted(std::optional<Failure> failure) {
  State& s = *state_;
  const Upstream::Ear& ear = *s.ear;
  const std::string_view setting = s.call.total_setting;
  if (const auto wait = s.upstream.pause(failure, ear, s.attempts++, left())) {
    const std::string why =
        failure ? s.upstream.named(*failure, ear, setting).message
                : fmt::format("{}: answers {}", s.upstream.who(), ear.answer().status);
    s.upstream.log_.warning(fmt::format("{}; asking again in {}", why, spoken(*wait)));
    s.timer = s.loop.after(*wait, [this] { attempt(); });
    return;
  }
  const bool own_total = s.call.total.count() > 0;
  s.upstream.report(failure, ear, own_total && left() <= Milliseconds(1));
  s.at_the_breaker = false;
  if (failure) return finish(fail(s.upstream.named(*failure, ear, setting)));
  finish(ear.answer());
}

void Asking::finish(Result<Answer> result) {
  State& s = *state_;
  s.timer.cancel();
  s.ticket = {};
  s.transfer.reset();
  s.pass.leave();
  s.upstream.tell(result);
  const Upstream::Answered answered = std::move(s.answered);
  answered(std::move(result));  // may destroy this
}
Request Upstream::request(Call& call, bool stream) const {
  Request out;
  out.method = call.body.empty() ? "GET" : "POST";
  out.url = options_.url.endpoint(call.name);
  out.body = std::move(call.body);
  if (stream) out.accept = "text/event-stream, application/json";
  out.key = options_.key;
  out.use_proxy = !options_.url.is_loopback();
  out.deadlines = options_.deadlines;
  out.role = options_.role;
  out.name = call.name;
  out.subject = call.subject;
  return out;
}

std::optional<Milliseconds> Upstream::pause(const std::optional<Failure>& failure, const Ear& ear,
                                            int attempt, Milliseconds left) {
  if (attempt >= options_.retries) return std::nullopt;
  std::chrono::seconds asked_for{0};
  if (failure) {
    const ErrorKind kind = failure->error.kind;
    if (kind != ErrorKind::timeout && kind != ErrorKind::unavailable) return std::nullopt;
    if (failure->connected) return std::nullopt;
  } else {
    const int status = ear.answer().status;
    if (status != 429 && status != 502 && status != 503 && status != 504) return std::nullopt;
    asked_for = ear.answer().retry_after.value_or(asked_for);
    if (asked_for > kMaxRetryWait) return std::nullopt;
  }
  const int doubled = 1 << std::min(attempt, 4);
  std::uniform_int_distribution<Milliseconds::rep> jitter(kLeastPause.count() * doubled,
                                                          kMostPause.count() * doubled);
  const std::lock_guard lock(mutex_);
  const Milliseconds wait = asked_for + Milliseconds(jitter(random_));
  return wait < left ? std::optional(wait) : std::nullopt;
}

void Upstream::report(const std::optional<Failure>& failure, const Ear& ear, bool out_of_total) {
  if (!failure || ear.redirected()) {
    const int status = ear.answer().status;
    const bool down =
        status == 502 || status == 504 || (status == 503 && !ear.answer().retry_after);
    return down ? breaker_.failed(monotonic()) : breaker_.succeeded();
  }
  if (ear.objected() && failure->error.kind != ErrorKind::unavailable) return breaker_.succeeded();
  switch (failure->error.kind) {
    case ErrorKind::timeout:
      if (out_of_total && failure->answered) break;
      [[fallthrough]];
    case ErrorKind::unavailable:
    case ErrorKind::protocol:
      return breaker_.failed(monotonic());
    default:
      break;
  }
  breaker_.abandoned();
}

void Upstream::tell(const Result<Answer>& result) const {
  if (!on_failure_) return;
  if (!result)
    on_failure_(result.error().kind);
  else if (result->status == 429 || result->status >= 500)
    on_failure_(refusal(*result).kind);
}

std::string Upstream::who() const {
  return fmt::format("{} at {}", options_.role, options_.url.shown());
}

std::string Upstream::setting(std::string_view key) const {
  const std::string_view name = variable(options_.role);
  if (name.empty()) return fmt::format("{}.{}", options_.role, key);
  std::string upper(key);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return fmt::format("{}.{} (STOKA_{}_{})", options_.role, key, name, upper);
}

Error Upstream::named(const Failure& failure, const Ear& ear,
                      std::string_view total_setting) const {
  Error out = failure.error;
  if (!ear.objected() && out.kind != ErrorKind::cancelled) {
    out.message = who() + ": " + out.message;
    if (ear.redirected())
      out.hint = "give the final address as " + setting("url");
    else if (out.hint.empty())
      out.hint = hint(failure, total_setting);
  }
  out.message = options_.key.redact(out.message);
  out.hint = options_.key.redact(out.hint);
  return out;
}

std::string Upstream::hint(const Failure& failure, std::string_view total_setting) const {
  switch (failure.error.kind) {
    case ErrorKind::unavailable:
      if (failure.cause == Cause::no_host) return "check the host name in " + setting("url");
      if (!failure.connected) return "start it, or set " + setting("url");
      if (!failure.answered && options_.url.origin().starts_with("http://"))
        return "try again; the server's own log may say why; is it https:// rather than http://?";
      return "try again; the server's own log may say why";
    case ErrorKind::timeout: {
      const bool unset = failure.cause == Cause::total && total_setting.empty();
      const std::string raise = unset || failure.cause == Cause::other
                                    ? "or look at its log"
                                    : "or raise " + deadline_setting(failure.cause, total_setting);
      if (!failure.connected)
        return fmt::format("is it up? Else set {}, {}", setting("url"), raise);
      if (failure.answered) return "it may be busy: try again, " + raise;
      return "it may be busy or still loading its model: try again, " + raise;
    }
    case ErrorKind::protocol:
      return "is that the right server? Else set " + setting("url");
    default:
      return {};
  }
}

std::string Upstream::deadline_setting(Cause cause, std::string_view total_setting) const {
  if (cause == Cause::connect) return "net.connect_timeout";
  if (cause == Cause::total) return setting(total_setting);
  if (options_.role != "generator") return setting("timeout");  // the others have no more
  switch (cause) {
    case Cause::headers:
      return setting("headers_timeout");
    case Cause::first_token:
      return setting("first_token_timeout");
    case Cause::idle:
      return setting("idle_timeout");
    default:
      return setting("timeout");
  }
}

Error Upstream::resting(Milliseconds left) const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
  Error out(ErrorKind::unavailable,
            fmt::format("{} failed {} times in a row, next try in {}", who(),
                        options_.breaker.failures, spoken(seconds)),
            "start it, or set " + setting("url"));
  out.retry_after = static_cast<int>(seconds.count());
  return out;
}

Error Upstream::refusal(const Answer& answer) const {
  const std::string said = error_message(answer.body, options_.key);
  std::string what = said.empty() ? "" : ": " + said;
  if (said.empty() && is_html(answer)) what = " with a page of HTML";
  const auto error = [&](ErrorKind kind, std::string_view verdict, std::string hint) {
    Error out(kind, fmt::format("{}: {} ({}){}", who(), verdict, answer.status, what),
              std::move(hint));
    if (answer.retry_after) out.retry_after = static_cast<int>(answer.retry_after->count());
    return out;
  };
  const std::string later = answer.retry_after ? "try again in " + spoken(*answer.retry_after)
                                               : std::string("try again in a moment");
  switch (answer.status) {
    case 402:
      return error(ErrorKind::config, "wants to be paid", "see the account at the provider");
    case 401:
    case 403:
      if (options_.key.empty())
        return error(ErrorKind::config, "wants a key", "set " + setting("api_key_file"));
      if (answer.status == 403)
        return error(ErrorKind::config, "forbids it", "check the key and what it may use");
      return error(ErrorKind::config, "refuses the key",
                   fmt::format("check {0}.api_key_file, {0}.api_key_command or {0}.api_key, "
                               "whichever gives it",
                               options_.role));
    case 404:
    case 405:
      return error(ErrorKind::config, "no such endpoint or model",
                   "check " + setting("url") + ", what server that is, and the model's name");
    case 429:
      return error(ErrorKind::busy, "too many requests", later);
    case 503:
      return error(ErrorKind::unavailable, "is not ready", later);
    case 408:
      return error(ErrorKind::timeout, "gave up waiting", later);
    case 413:
      return error(ErrorKind::protocol, "finds the request too large",
                   "raise the server's limit on the size of requests");
    case 424:
    case 501:
      return error(ErrorKind::protocol, "cannot do this",
                   "is it started for that, with a model of that kind? Else set " + setting("url"));
    default:
      break;
  }
  if (answer.status >= 500)
    return error(ErrorKind::unavailable, "fails",
                 answer.retry_after ? later : "try again; the server's own log may say why");
  return error(ErrorKind::protocol, "refuses the request",
               "is that the right server? Else set " + setting("url"));
}

Error Upstream::nonsense(std::string_view what) const {
  return Error(ErrorKind::protocol, options_.key.redact(fmt::format("{}: {}", who(), what)),
               "is that the right server? Else set " + setting("url"));
}

}  // namespace stoka::net
