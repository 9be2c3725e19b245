#include "net/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "net/event_loop.h"

namespace stoka::net {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kMinRetryDelay{100};
constexpr Milliseconds kMaxRetryDelay{400};  // before the first retry; doubled for each further one
constexpr std::chrono::seconds kMaxRetryAfter{30};
constexpr size_t kMaxErrorBodyBytes = 64u << 10;  // bytes kept of an error response

CircuitBreaker::Time monotonic() { return SteadyClock::now().time_since_epoch(); }

}  // namespace

// Receives the response to one attempt. Passes a 2xx response to the caller's sink, if there is
// one, and stores any other response.
class Upstream::AttemptSink final : public BodySink {
 public:
  AttemptSink(BodySink* caller_sink, CircuitBreaker& breaker)
      : caller_sink_(caller_sink), breaker_(breaker) {}

  Result<> head(const ResponseHead& head) override {
    answer_.status = head.status;
    answer_.content_type = head.content_type;
    answer_.retry_after = head.retry_after;
    answer_.rate_limit_remaining = head.rate_limit_remaining;
    if (redirected()) {
      const std::string to = head.location.empty() ? "" : " to " + head.location;
      return fail(ErrorKind::protocol,
                  fmt::format("answers {} with a redirect{}", head.status, to));
    }
    if (answer_.ok()) breaker_.response_began();
    streaming_ = caller_sink_ != nullptr && answer_.ok();
    return streaming_ ? from_caller_sink(caller_sink_->head(head)) : Result<>();
  }

  Result<BodyProgress> body(std::string_view bytes) override {
    if (streaming_) return from_caller_sink(caller_sink_->body(bytes));
    answer_.body += bytes;
    if (answer_.ok() || answer_.body.size() < kMaxErrorBodyBytes) return BodyProgress::content;
    answer_.body.resize(kMaxErrorBodyBytes);
    return BodyProgress::stop_reading;
  }

  const HttpResponse& answer() const { return answer_; }
  bool redirected() const { return answer_.status >= 300 && answer_.status < 400; }
  // Whether the error of the attempt was returned by the caller's sink.
  bool sink_failed() const { return sink_failed_; }

 private:
  template <class T>
  T from_caller_sink(T result) {
    sink_failed_ = !result;
    return result;
  }

  BodySink* caller_sink_;
  CircuitBreaker& breaker_;
  HttpResponse answer_;
  bool streaming_ = false;
  bool sink_failed_ = false;
};

Upstream::Upstream(UpstreamOptions options, Transport& transport, Log& log)
    : options_(std::move(options)),
      transport_(transport),
      log_(log),
      semaphore_(description(), options_.semaphore),
      breaker_(options_.breaker),
      random_(std::random_device{}()) {}

Result<HttpResponse> Upstream::call(const Call& call, std::stop_token stop) {
  const EventLoopPool::Handle loop = transport_.loops().acquire();
  auto result = loop->run<Result<HttpResponse>>(
      [&](ResponseCallback answered) { return start(*loop, call, nullptr, std::move(answered)); },
      stop);
  if (!result) return fail(ErrorKind::cancelled, "stopped");
  return *std::move(result);
}

std::unique_ptr<PendingCall> Upstream::start(EventLoop& loop, Call call, BodySink* caller_sink,
                                             ResponseCallback answered) {
  std::unique_ptr<PendingCall> pending(
      new PendingCall(*this, loop, std::move(call), caller_sink, std::move(answered)));
  pending->begin();
  return pending;
}

struct PendingCall::State {
  Upstream& upstream;
  EventLoop& loop;
  Call call;
  BodySink* const caller_sink;
  Upstream::ResponseCallback answered;
  const Milliseconds total;
  PendingCall* const owner;
  const std::shared_ptr<PendingCall*> self = std::make_shared<PendingCall*>(owner);
  const SteadyClock::time_point start = SteadyClock::now();
  HttpRequest request = {};
  int attempts = 0;
  bool reports_to_breaker = false;  // whether the breaker still has to be told the outcome
  Semaphore::Permit permit = {};
  Semaphore::Ticket ticket = {};
  std::optional<Upstream::AttemptSink> sink = {};
  std::unique_ptr<Transfer> transfer = {};
  // Declared so that it is destroyed first: no timer fires while the other members are destroyed.
  EventLoop::Timer timer = {};
};

PendingCall::PendingCall(Upstream& upstream, EventLoop& loop, Call call, BodySink* caller_sink,
                         Upstream::ResponseCallback answered) {
  const Milliseconds total =
      call.timeout.count() > 0 ? call.timeout : upstream.options_.timeouts.total;
  state_.reset(
      new State{upstream, loop, std::move(call), caller_sink, std::move(answered), total, this});
}

PendingCall::~PendingCall() {
  state_->transfer.reset();
  if (state_->reports_to_breaker) state_->upstream.breaker_.abandoned();
}

void PendingCall::pause() {
  if (state_->transfer) state_->transfer->pause();
}

void PendingCall::resume() {
  if (state_->transfer) state_->transfer->resume();
}

Milliseconds PendingCall::left() const {
  if (state_->total.count() == 0) return Milliseconds::max();
  const auto spent = std::chrono::ceil<Milliseconds>(SteadyClock::now() - state_->start);
  return std::max(state_->total - spent, Milliseconds(1));
}

void PendingCall::begin() {
  State& s = *state_;
  std::optional<Error> error;
  if (const auto open_for = s.upstream.breaker_.open_for(monotonic())) {
    error = s.upstream.breaker_open(*open_for);
  } else {
    // A permit is released on another thread, so the callback only posts a task to the loop.
    auto ticket = s.upstream.semaphore_.queue([&loop = s.loop, self = std::weak_ptr(s.self)] {
      loop.post([self] {
        if (const auto alive = self.lock()) (*alive)->start_with_permit();
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
  if (s.ticket.is_granted()) {
    s.timer = s.loop.after(Milliseconds(0), [this] { start_with_permit(); });
    return;
  }
  const Milliseconds wait = std::min(left(), s.upstream.semaphore_.max_wait());
  s.timer = s.loop.after(wait, [this, wait] {
    if (state_->ticket.is_granted()) return;  // start_with_permit() is already posted
    finish(fail(state_->upstream.semaphore_.wait_timeout_error(wait)));
  });
}

void PendingCall::start_with_permit() {
  State& s = *state_;
  if (!s.ticket.is_granted()) return;
  s.timer.cancel();
  s.permit = s.ticket.take();
  if (const auto open_for = s.upstream.breaker_.begin_call(monotonic()))
    return finish(fail(s.upstream.breaker_open(*open_for)));
  s.reports_to_breaker = true;
  s.request = s.upstream.request(s.call, s.caller_sink != nullptr);
  attempt();
}

void PendingCall::attempt() {
  State& s = *state_;
  if (s.total.count() > 0) s.request.timeouts.total = left();
  s.sink.emplace(s.caller_sink, s.upstream.breaker_);
  s.transfer = s.upstream.transport_.start(
      s.loop, s.request, *s.sink,
      [this](std::optional<TransferFailure> failure) { attempt_done(std::move(failure)); });
}

void PendingCall::attempt_done(std::optional<TransferFailure> failure) {
  State& s = *state_;
  const Upstream::AttemptSink& sink = *s.sink;
  const std::string_view setting = s.call.timeout_setting;
  if (const auto wait = s.upstream.retry_delay(failure, sink, s.attempts++, left())) {
    const std::string why =
        failure ? s.upstream.describe(*failure, sink, setting).message
                : fmt::format("{}: answers {}", s.upstream.description(), sink.answer().status);
    s.upstream.log_.warning(fmt::format("{}; retrying in {}", why, format_duration(*wait)));
    s.timer = s.loop.after(*wait, [this] { attempt(); });
    return;
  }
  const bool has_own_timeout = s.call.timeout.count() > 0;
  s.upstream.report_to_breaker(failure, sink, has_own_timeout && left() <= Milliseconds(1));
  s.reports_to_breaker = false;
  if (failure) return finish(fail(s.upstream.describe(*failure, sink, setting)));
  finish(sink.answer());
}

void PendingCall::finish(Result<HttpResponse> result) {
  State& s = *state_;
  s.timer.cancel();
  s.ticket = {};
  s.transfer.reset();
  s.permit.release();
  s.upstream.report_failure(result);
  const Upstream::ResponseCallback answered = std::move(s.answered);
  answered(std::move(result));  // the call may destroy this object
}

HttpRequest Upstream::request(Call& call, bool stream) const {
  HttpRequest out;
  out.method = call.body.empty() ? "GET" : "POST";
  out.url = options_.url.endpoint(call.endpoint);
  out.body = std::move(call.body);
  if (stream) out.accept = "text/event-stream, application/json";
  out.key = options_.key;
  out.use_proxy = !options_.url.is_loopback();
  out.timeouts = options_.timeouts;
  out.role = options_.role;
  out.endpoint = call.endpoint;
  out.subject = call.subject;
  return out;
}

std::optional<Milliseconds> Upstream::retry_delay(const std::optional<TransferFailure>& failure,
                                                  const AttemptSink& sink, int attempt,
                                                  Milliseconds left) {
  if (attempt >= options_.retries) return std::nullopt;
  std::chrono::seconds retry_after{0};
  if (failure) {
    const ErrorKind kind = failure->error.kind;
    if (kind != ErrorKind::timeout && kind != ErrorKind::unavailable) return std::nullopt;
    if (failure->connected) return std::nullopt;
  } else {
    const int status = sink.answer().status;
    if (status != 429 && status != 502 && status != 503 && status != 504) return std::nullopt;
    retry_after = sink.answer().retry_after.value_or(retry_after);
    if (retry_after > kMaxRetryAfter) return std::nullopt;
  }
  const int doubled = 1 << std::min(attempt, 4);
  std::uniform_int_distribution<Milliseconds::rep> jitter(kMinRetryDelay.count() * doubled,
                                                          kMaxRetryDelay.count() * doubled);
  const std::lock_guard lock(mutex_);
  const Milliseconds wait = retry_after + Milliseconds(jitter(random_));
  return wait < left ? std::optional(wait) : std::nullopt;
}

void Upstream::report_to_breaker(const std::optional<TransferFailure>& failure,
                                 const AttemptSink& sink, bool own_timeout_passed) {
  if (!failure || sink.redirected()) {
    const int status = sink.answer().status;
    const bool down =
        status == 502 || status == 504 || (status == 503 && !sink.answer().retry_after);
    return down ? breaker_.failed(monotonic()) : breaker_.succeeded();
  }
  if (sink.sink_failed() && failure->error.kind != ErrorKind::unavailable)
    return breaker_.succeeded();
  switch (failure->error.kind) {
    case ErrorKind::timeout:
      if (own_timeout_passed && failure->answered) break;
      [[fallthrough]];
    case ErrorKind::unavailable:
    case ErrorKind::protocol:
      return breaker_.failed(monotonic());
    default:
      break;
  }
  breaker_.abandoned();
}

void Upstream::report_failure(const Result<HttpResponse>& result) const {
  if (!on_failure_) return;
  if (!result)
    on_failure_(result.error().kind);
  else if (result->status == 429 || result->status >= 500)
    on_failure_(status_error(*result).kind);
}

Error Upstream::describe(const TransferFailure& failure, const AttemptSink& sink,
                         std::string_view total_setting) const {
  Error out = failure.error;
  if (!sink.sink_failed() && out.kind != ErrorKind::cancelled) {
    out.message = description() + ": " + out.message;
    if (sink.redirected())
      out.hint = "give the final address as " + setting_name("url");
    else if (out.hint.empty())
      out.hint = hint(failure, total_setting);
  }
  out.message = options_.key.redact(out.message);
  out.hint = options_.key.redact(out.hint);
  return out;
}

}  // namespace stoka::net
