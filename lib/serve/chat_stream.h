// One chat turn over the wire, in its three phases: prepared by workers, streamed by the loop,
// committed by Commits. What is said does not wait for the commit; the last event does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "generate/generator.h"
#include "pipeline/turn.h"
#include "serve/handler.h"
#include "serve/house.h"

namespace stoka::serve {

// On the thread of the loop, but for what is said to be a worker's. A phase that a worker has is
// touched by nobody else; the loop takes it back with what the worker posts.
class ChatStream final : public Pending,
                         generate::Reader,
                         public std::enable_shared_from_this<ChatStream> {
 public:
  ChatStream(House& house, Client& client, std::unique_ptr<Visit> visit,
             pipeline::TurnRequest request);
  ~ChatStream() override;

  // Answers at once if too many wait already.
  void start();

  void left() override;
  void drained() override;
  void tick(std::chrono::steady_clock::time_point now) override;
  void shut_down() override;

 private:
  void post(Workers& workers, Result<> (ChatStream::*phase)());
  Result<> open();           // a worker's
  Result<> find();           // a worker's
  void answer();             // a worker's
  void found(Result<> how);  // what a worker was asked
  void accepted() override;
  void text(std::string_view delta) override;
  void over() override;
  void let_go();
  void ended(Result<generate::Finish> how);
  void commit();
  void committed(Result<Session> session);
  void fail(const Error& error);
  void hear(const Event& event);
  void speak();
  void count(const pipeline::Streamed& streamed);
  std::string last_words() const;

  House& house_;
  Client* client_;  // null: gone
  std::unique_ptr<Visit> visit_;
  const pipeline::TurnRequest request_;
  std::stop_source stop_;
  std::optional<pipeline::Turn> turn_;
  std::optional<pipeline::Answering> answering_;
  std::unique_ptr<generate::Writing> writing_;
  std::optional<pipeline::Streamed> streamed_;
  std::string events_;      // encoded, not sent yet
  bool spoke_ = false;      // the head is sent
  bool streaming_ = false;  // the loop has the writing
  bool paused_ = false;     // the upstream waits for the client
  bool finished_ = false;   // nothing more will come from the generator
  bool first_token_ = false;
  bool shutting_down_ = false;
  std::chrono::steady_clock::time_point spoke_at_;
};

}  // namespace stoka::serve
