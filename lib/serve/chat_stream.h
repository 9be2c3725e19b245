// One chat turn over HTTP, in three phases: worker threads prepare it, the loop streams it, and the
// CommitQueue saves it. Tokens and citations do not wait for the commit; the last event does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "generate/generator.h"
#include "pipeline/turn.h"
#include "serve/handler.h"
#include "serve/request_context.h"

namespace stoka::serve {

// The response to a chat request. It is used on the thread of the loop, except in the functions
// that are marked as called on a worker thread. While a worker runs one of them, only the worker
// uses the turn; the loop continues with the turn when the worker posts the result.
class ChatStream final : public PendingResponse,
                         generate::GenerationSink,
                         public std::enable_shared_from_this<ChatStream> {
 public:
  ChatStream(ServerContext& server, ResponseWriter& writer, std::unique_ptr<RequestContext> context,
             pipeline::TurnRequest request);
  ~ChatStream() override;

  // Responds with busy_error() at once if the queue of the workers is full.
  void start();

  void on_disconnect() override;
  void on_drained() override;
  void tick(std::chrono::steady_clock::time_point now) override;
  void on_shutdown() override;

 private:
  void run_phase(WorkerPool& workers, Result<> (ChatStream::*phase)());
  Result<> open_turn();    // called on a worker thread
  Result<> find_answer();  // called on a worker thread
  void start_answer();     // called on a worker thread
  void on_prepared(Result<> result);
  void accepted() override;
  void text(std::string_view delta) override;
  void finished() override;
  void release_writing();
  void finish(Result<generate::FinishReason> result);
  void commit();
  void committed(Result<Session> session);
  void fail(const Error& error);
  void on_event(const Event& event);
  void send_events();
  void count(const pipeline::StreamResult& streamed);
  std::string public_message() const;

  ServerContext& server_;
  ResponseWriter* writer_;  // null if the client is gone or the response has ended
  std::unique_ptr<RequestContext> context_;
  const pipeline::TurnRequest request_;
  std::stop_source stop_;
  std::optional<pipeline::Turn> turn_;
  std::optional<pipeline::TurnStreamer> answering_;
  std::unique_ptr<generate::GenerationStream> writing_;
  std::optional<pipeline::StreamResult> streamed_;
  std::string events_;        // encoded events that are not sent yet
  bool head_sent_ = false;    // the head of the HTTP response was sent
  bool streaming_ = false;    // the event loop drives writing_
  bool paused_ = false;       // the generator is paused until the client has taken its bytes
  bool finished_ = false;     // the generator has finished
  bool first_token_ = false;  // the first token has arrived
  bool shutting_down_ = false;
  std::chrono::steady_clock::time_point last_send_;
};

}  // namespace stoka::serve
