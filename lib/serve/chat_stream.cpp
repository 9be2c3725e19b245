#include "serve/chat_stream.h"

#include <utility>

#include "serve/event_stream.h"

namespace stoka::serve {
namespace {

constexpr size_t kMaxBacklog = 256u << 10;  // unsent bytes; with more, the generator is paused

}  // namespace

ChatStream::ChatStream(ServerContext& server, ResponseWriter& writer,
                       std::unique_ptr<RequestContext> visit, pipeline::TurnRequest request)
    : server_(server),
      writer_(&writer),
      context_(std::move(visit)),
      request_(std::move(request)),
      last_send_(std::chrono::steady_clock::now()) {}

ChatStream::~ChatStream() = default;

void ChatStream::start() { run_phase(server_.quick, &ChatStream::open_turn); }

// Runs a phase on a worker thread, and on_prepared() with its result on the loop. The worker drops
// its reference to this object before the loop continues.
void ChatStream::run_phase(WorkerPool& workers, Result<> (ChatStream::*phase)()) {
  const bool posted =
      workers.post([self = shared_from_this(), phase](std::chrono::nanoseconds waited) {
        if (self->stop_.stop_requested()) return;
        self->server_.metrics.queue_wait(Metrics::Queue::prepare).observe(waited.count() * 1e-9);
        Result<> result = waited > kMaxQueueWait
                              ? stoka::fail(busy_error())
                              : catch_exceptions([&] { return (self.get()->*phase)(); });
        self->server_.loop.post(
            [self, result = std::move(result)]() mutable { self->on_prepared(std::move(result)); });
      });
  if (!posted) fail(busy_error());
}

Result<> ChatStream::open_turn() {
  STOKA_ASSIGN(turn_, pipeline::open_turn(server_.engine, request_));
  if (!turn_->canned_reply.empty()) start_answer();
  return {};
}

Result<> ChatStream::find_answer() {
  const std::stop_token stop = stop_.get_token();
  STOKA_TRY(pipeline::find_sources(server_.engine, *turn_, stop));
  start_answer();
  if (!answering_->needs_generator()) return {};
  STOKA_ASSIGN(writing_, server_.engine.parts().generator.begin(answering_->request(), stop));
  // There may be a thousand streams that take minutes, so data that is no longer needed is freed.
  turn_->prompt = {};
  turn_->sources = {};
  turn_->ranked = {};
  return {};
}

void ChatStream::start_answer() {
  answering_.emplace(server_.engine, *turn_, [this](const Event& event) { on_event(event); });
}

void ChatStream::on_prepared(Result<> result) {
  if (writer_ == nullptr) return;
  if (!result) return fail(result.error());
  if (!answering_) return run_phase(server_.slow, &ChatStream::find_answer);
  if (!writing_) return finish(generate::FinishReason::complete);
  streaming_ = true;
  writing_->start(server_.loop, *this);
}

void ChatStream::accepted() {
  if (!streaming_) return;
  answering_->accepted();
  send_events();
}

void ChatStream::text(std::string_view delta) {
  if (!streaming_) return;
  answering_->text(delta);
  send_events();
  if (writer_ != nullptr && !paused_ && writer_->backlog() > kMaxBacklog) {
    paused_ = true;
    writing_->pause();
  }
}

void ChatStream::on_drained() {
  if (std::exchange(paused_, false) && streaming_) writing_->resume();
}

// If the model server has refused the request, result() is called on a worker thread: it may ask
// the server for the reason, which blocks.
void ChatStream::finished() {
  if (!streaming_) return;
  if (head_sent_) return finish(writing_->result(stop_.get_token()));
  streaming_ = false;
  auto self = shared_from_this();
  const bool posted = server_.slow.post([self](std::chrono::nanoseconds) {
    self->server_.loop.post(
        [self, result = self->writing_->result(self->stop_.get_token())] { self->finish(result); });
  });
  if (!posted) finish(stoka::fail(busy_error()));
}

// Destroys the generation stream at the end of this round of the loop, as the stream may be the
// caller. This closes its connection and frees its place. Events until then are ignored.
void ChatStream::release_writing() {
  streaming_ = false;
  if (!writing_) return;
  server_.loop.defer([self = shared_from_this(), writing = std::shared_ptr(std::move(
                                                     writing_))]() mutable { writing.reset(); });
}

void ChatStream::finish(Result<generate::FinishReason> result) {
  release_writing();
  if (std::exchange(finished_, true)) return;
  streamed_ = answering_->finish(std::move(result));
  if (!streamed_->ready_sent) return fail(*streamed_->error);
  send_events();
  commit();
}

void ChatStream::commit() {
  server_.commits.add(
      pipeline::turn_record(server_.engine, *turn_, *streamed_),
      [self = shared_from_this()](Result<Session> session, std::chrono::nanoseconds waited) {
        self->server_.metrics.queue_wait(Metrics::Queue::commit).observe(waited.count() * 1e-9);
        self->server_.loop.post([self, session = std::move(session)]() mutable {
          self->committed(std::move(session));
        });
      });
}

void ChatStream::committed(Result<Session> session) {
  const int turns = session ? session->turns : turn_->session.turns + 1;
  if (!session) {
    server_.metrics.turns_not_saved.add();
    server_.log.warning("this turn was not saved: " + session.error().message);
  }
  count(*streamed_);
  if (writer_ == nullptr) return;
  const std::string detail = streamed_->error ? streamed_->error->message : "";
  if (streamed_->error) streamed_->error->message = public_message();
  append_event(events_, pipeline::last_event(server_.engine, *turn_, *streamed_, turns));
  send_events();
  ResponseWriter& writer = *std::exchange(writer_, nullptr);
  writer.end(streamed_->error.has_value());
  context_->end_stream(streamed_->error ? Metrics::StreamEnd::error : Metrics::StreamEnd::done,
                       detail, &streamed_->summary.interventions);
}

// Returns the message of the error event. An error of the index is shown to the client; the errors
// of model servers are not, because they may contain addresses.
std::string ChatStream::public_message() const {
  if (turn_->index_error) return turn_->index_error->message;
  return shutting_down_ ? "the server is shutting down" : "the answer broke off";
}

void ChatStream::fail(const Error& error) {
  finished_ = true;
  if (writer_ == nullptr) return;
  writer_ = nullptr;
  context_->fail(error);
}

void ChatStream::on_disconnect() {
  if (std::exchange(writer_, nullptr) == nullptr) return;
  stop_.request_stop();
  if (head_sent_)
    context_->end_stream(Metrics::StreamEnd::client_left);
  else
    context_->client_left();
  if (!streaming_) return;
  // The text that was streamed before the client left is saved.
  if (head_sent_) return finish(stoka::fail(ErrorKind::cancelled, "the client disconnected"));
  release_writing();
  finished_ = true;
}

void ChatStream::on_shutdown() {
  if (finished_) return;
  const Error error(ErrorKind::unavailable, "the server is shutting down", "ask again");
  if (head_sent_ && !streaming_) return;  // the turn is being saved
  if (!head_sent_) {
    stop_.request_stop();
    if (streaming_) release_writing();
    return fail(error);
  }
  shutting_down_ = true;
  finish(stoka::fail(error));
}

void ChatStream::tick(std::chrono::steady_clock::time_point now) {
  if (!head_sent_ || writer_ == nullptr || now - last_send_ < server_.ping_interval) return;
  last_send_ = now;
  writer_->send(kPing);
}

void ChatStream::on_event(const Event& event) {
  if (!first_token_ && std::holds_alternative<TokenEvent>(event)) {
    first_token_ = true;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - context_->start();
    server_.metrics.first_token.observe(took.count());
  }
  append_event(events_, event);
}

void ChatStream::send_events() {
  if (writer_ == nullptr || events_.empty()) return;
  if (!std::exchange(head_sent_, true)) context_->begin_stream();
  writer_->send(events_);
  events_.clear();
  last_send_ = std::chrono::steady_clock::now();
}

void ChatStream::count(const pipeline::StreamResult& streamed) {
  const cite::AnswerSummary& summary = streamed.summary;
  server_.metrics.answers(turn_->route).add();
  for (const cite::Intervention& one : summary.interventions)
    server_.metrics.interventions(one.kind).add(one.count);
  server_.metrics.citations(Metrics::CitationResult::emitted).add(summary.citations.size());
  server_.metrics.citations(Metrics::CitationResult::repaired)
      .add(summary.repaired + summary.replaced);
  server_.metrics.citations(Metrics::CitationResult::dropped)
      .add(summary.dropped_unknown + summary.dropped_repeated + summary.dropped_malformed +
           summary.dropped_excess);
}

}  // namespace stoka::serve
