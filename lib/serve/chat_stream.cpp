#include "serve/chat_stream.h"

#include <utility>

#include "serve/sse.h"

namespace stoka::serve {
namespace {

constexpr size_t kMostBacklog = 256u << 10;  // bytes a client may be behind

}  // namespace

ChatStream::ChatStream(House& house, Client& client, std::unique_ptr<Visit> visit,
                       pipeline::TurnRequest request)
    : house_(house),
      client_(&client),
      visit_(std::move(visit)),
      request_(std::move(request)),
      spoke_at_(std::chrono::steady_clock::now()) {}

ChatStream::~ChatStream() = default;

void ChatStream::start() { post(house_.quick, &ChatStream::open); }

// The phase is a worker's, and its outcome is for found(). The worker lets go of this first.
void ChatStream::post(Workers& workers, Result<> (ChatStream::*phase)()) {
  const bool taken = workers.post([self = shared_from_this(),
                                   phase](std::chrono::nanoseconds late) {
    if (self->stop_.stop_requested()) return;
    self->house_.metrics.queue_wait(Metrics::Queue::prepare).observe(late.count() * 1e-9);
    Result<> how = late > kMostLate ? stoka::fail(too_busy())
                                    : guarded([&] { return (self.get()->*phase)(); });
    self->house_.loop.post([self, how = std::move(how)]() mutable { self->found(std::move(how)); });
  });
  if (!taken) fail(too_busy());
}

Result<> ChatStream::open() {
  STOKA_ASSIGN(turn_, pipeline::open_turn(house_.engine, request_));
  if (!turn_->canned.empty()) answer();
  return {};
}

Result<> ChatStream::find() {
  const std::stop_token stop = stop_.get_token();
  STOKA_TRY(pipeline::find_answer(house_.engine, *turn_, stop));
  answer();
  if (!answering_->asks_generator()) return {};
  STOKA_ASSIGN(writing_, house_.engine.parts().generator.begin(answering_->request(), stop));
  // A stream may take minutes, and there are a thousand of them: what only began it goes.
  turn_->prompt = {};
  turn_->sources = {};
  turn_->ranked = {};
  return {};
}

void ChatStream::answer() {
  answering_.emplace(house_.engine, *turn_, [this](const Event& event) { hear(event); });
}

void ChatStream::found(Result<> how) {
  if (client_ == nullptr) return;
  if (!how) return fail(how.error());
  if (!answering_) return post(house_.slow, &ChatStream::find);
  if (!writing_) return ended(generate::Finish::complete);
  streaming_ = true;
  writing_->start(house_.loop, *this);
}

void ChatStream::accepted() {
  if (!streaming_) return;
  answering_->accepted();
  speak();
}

void ChatStream::text(std::string_view delta) {
  if (!streaming_) return;
  answering_->text(delta);
  speak();
  if (client_ != nullptr && !paused_ && client_->backlog() > kMostBacklog) {
    paused_ = true;
    writing_->pause();
  }
}

void ChatStream::drained() {
  if (std::exchange(paused_, false) && streaming_) writing_->resume();
}

// Before anything was accepted the server may be asked what is wrong, and that blocks.
void ChatStream::over() {
  if (!streaming_) return;
  if (spoke_) return ended(writing_->result(stop_.get_token()));
  streaming_ = false;
  auto self = shared_from_this();
  const bool taken = house_.slow.post([self](std::chrono::nanoseconds) {
    self->house_.loop.post(
        [self, how = self->writing_->result(self->stop_.get_token())] { self->ended(how); });
  });
  if (!taken) ended(stoka::fail(too_busy()));
}

// The upstream is closed and its place is free by the end of this round: it may be the writing that
// is calling. Until then it may still speak, to nobody.
void ChatStream::let_go() {
  streaming_ = false;
  if (!writing_) return;
  house_.loop.soon([self = shared_from_this(),
                    writing = std::shared_ptr(std::move(writing_))]() mutable { writing.reset(); });
}

void ChatStream::ended(Result<generate::Finish> how) {
  let_go();
  if (std::exchange(finished_, true)) return;
  streamed_ = answering_->finish(std::move(how));
  if (!streamed_->ready_sent) return fail(*streamed_->error);
  speak();
  commit();
}

void ChatStream::commit() {
  house_.commits.add(
      pipeline::turn_record(house_.engine, *turn_, *streamed_),
      [self = shared_from_this()](Result<Session> session, std::chrono::nanoseconds waited) {
        self->house_.metrics.queue_wait(Metrics::Queue::commit).observe(waited.count() * 1e-9);
        self->house_.loop.post([self, session = std::move(session)]() mutable {
          self->committed(std::move(session));
        });
      });
}

void ChatStream::committed(Result<Session> session) {
  const int turns = session ? session->turns : turn_->session.turns + 1;
  if (!session) {
    house_.metrics.turns_not_saved.add();
    house_.journal.warning("this turn was not saved: " + session.error().message);
  }
  count(*streamed_);
  if (client_ == nullptr) return;
  const std::string detail = streamed_->error ? streamed_->error->message : "";
  if (streamed_->error) streamed_->error->message = last_words();
  append_event(events_, pipeline::last_event(house_.engine, *turn_, *streamed_, turns));
  speak();
  Client& client = *std::exchange(client_, nullptr);
  client.end(streamed_->error.has_value());
  visit_->end_stream(streamed_->error ? Metrics::End::error : Metrics::End::done, detail);
}

// That nothing is indexed is for everybody to know; where the models are is not.
std::string ChatStream::last_words() const {
  if (turn_->failure) return turn_->failure->message;
  return shutting_down_ ? "the server is shutting down" : "the answer broke off";
}

void ChatStream::fail(const Error& error) {
  finished_ = true;
  if (client_ == nullptr) return;
  client_ = nullptr;
  visit_->fail(error);
}

void ChatStream::left() {
  if (std::exchange(client_, nullptr) == nullptr) return;
  stop_.request_stop();
  if (spoke_)
    visit_->end_stream(Metrics::End::left);
  else
    visit_->left();
  if (!streaming_) return;
  // What was said so far is kept.
  if (spoke_) return ended(stoka::fail(ErrorKind::cancelled, "the visitor left"));
  let_go();
  finished_ = true;
}

void ChatStream::shut_down() {
  if (finished_) return;
  const Error error(ErrorKind::unavailable, "the server is shutting down", "ask again");
  if (spoke_ && !streaming_) return;  // it is being saved
  if (!spoke_) {
    stop_.request_stop();
    if (streaming_) let_go();
    return fail(error);
  }
  shutting_down_ = true;
  ended(stoka::fail(error));
}

void ChatStream::tick(std::chrono::steady_clock::time_point now) {
  if (!spoke_ || client_ == nullptr || now - spoke_at_ < house_.ping) return;
  spoke_at_ = now;
  client_->send(kPing);
}

void ChatStream::hear(const Event& event) {
  if (!first_token_ && std::holds_alternative<TokenEvent>(event)) {
    first_token_ = true;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - visit_->start();
    house_.metrics.first_token.observe(took.count());
  }
  append_event(events_, event);
}

void ChatStream::speak() {
  if (client_ == nullptr || events_.empty()) return;
  if (!std::exchange(spoke_, true)) visit_->begin_stream();
  client_->send(events_);
  events_.clear();
  spoke_at_ = std::chrono::steady_clock::now();
}

void ChatStream::count(const pipeline::Streamed& streamed) {
  const cite::Summary& summary = streamed.summary;
  house_.metrics.answers(turn_->route).add();
  house_.metrics.citations(Metrics::Cited::emitted).add(summary.citations.size());
  house_.metrics.citations(Metrics::Cited::repaired).add(summary.repaired + summary.replaced);
  house_.metrics.citations(Metrics::Cited::dropped)
      .add(summary.dropped_unknown + summary.dropped_repeated + summary.dropped_malformed +
           summary.dropped_excess);
}

}  // namespace stoka::serve
