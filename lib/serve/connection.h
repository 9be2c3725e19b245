// One client's socket: requests in, answers out, one after the other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/loop.h"
#include "serve/handler.h"
#include "serve/request_reader.h"

namespace stoka::serve {

struct ConnectionLimits {
  RequestLimits request;
  std::chrono::seconds head{10};  // for the whole head, from its first byte
  std::chrono::seconds body{30};  // for the whole body
  std::chrono::seconds idle{60};  // between requests
  std::chrono::seconds slow{30};  // without taking a byte of what is sent
  size_t pipelined = 64u << 10;   // bytes received during an answer
};

// Lives on the thread of its loop. Non-blocking; no thread, no timer of its own: tick() comes from
// whoever owns it.
class Connection final : public Client {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Takes the socket over. `closed` is called once, from a later round, when all is over.
  Connection(net::Loop& loop, int socket, Address peer, Handler& handler,
             const ConnectionLimits& limits, std::function<void()> closed);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void tick(Time now);
  // No further request: closes when there is none, else after the answer.
  void finish();
  // What is under way is told to come to its end.
  void shut_down();
  // As if the client had left.
  void abandon() { lose(); }
  // Asks nothing and is asked nothing, since when.
  bool idle() const { return !busy_ && !closing_ && backlog() == 0 && !over_; }
  Time waiting_since() const { return waiting_since_; }

  const Address& address() const override { return peer_; }
  void respond(Response response) override;
  void begin_stream(Response head) override;
  void send(std::string_view bytes) override;
  void end(bool close) override;
  size_t backlog() const override { return out_.size() - written_ + chunk_.size(); }

 private:
  void ready(net::Loop::Ready ready);
  void receive();
  void hear(std::string_view bytes);
  void serve_next();
  void turn_away(int status, std::string_view why, std::string_view hint);
  void answered(bool keep);
  void frame();
  void schedule_flush();
  void flush();
  bool behind() const;
  void want();
  void linger();
  void lose();   // the client is gone
  void close();  // the connection is over

  net::Loop& loop_;
  const int socket_;
  const Address peer_;
  Handler& handler_;
  const ConnectionLimits limits_;
  const std::function<void()> closed_;
  const std::shared_ptr<Connection*> self_;  // for what is to be done soon
  net::Loop::Watch watch_;

  RequestReader reader_;
  std::string received_;  // during an answer
  bool busy_ = false;     // a request is being answered
  bool keep_alive_ = false;
  bool chunked_ = false;
  bool head_only_ = false;  // of a HEAD request
  bool finishing_ = false;  // no further request
  bool closing_ = false;    // when all is written
  bool lingering_ = false;  // all is written, and what still comes is nobody's
  bool over_ = false;
  size_t lingered_ = 0;  // bytes
  std::shared_ptr<Pending> pending_;

  std::string out_;
  size_t written_ = 0;  // of out_
  std::string chunk_;   // of the stream, not framed yet
  bool flush_scheduled_ = false;
  bool blocked_ = false;  // the socket takes no more for now
  Time waiting_since_;    // for bytes of a request, of whatever kind
  Time took_;             // when the client last took a byte
};

}  // namespace stoka::serve
