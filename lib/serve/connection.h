// The connection of one client: reads requests from its socket and writes one response after the
// other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "serve/handler.h"
#include "serve/request_reader.h"

namespace stoka::serve {

struct ConnectionLimits {
  RequestLimits request;
  std::chrono::seconds head_timeout{10};   // time for the whole head, from its first byte
  std::chrono::seconds body_timeout{30};   // time for the whole body
  std::chrono::seconds idle_timeout{60};   // time between two requests
  std::chrono::seconds write_timeout{30};  // longest time in which the client takes no byte
  size_t max_pipelined = 64u << 10;        // bytes received while a response is being made
};

// A connection, used only on the thread of its loop. The socket is non-blocking. The connection has
// no timer of its own: its owner calls tick() about twice a second.
class Connection final : public ResponseWriter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Takes ownership of the socket. `closed` is called once, in a later round of the loop, when the
  // connection is over.
  Connection(net::EventLoop& loop, int socket, IpAddress peer, Handler& handler,
             const ConnectionLimits& limits, std::function<void()> closed);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void tick(TimePoint now);
  // Reads no further request: closes at once if the connection is idle, otherwise after the
  // response.
  void finish();
  // Asks the pending response to end now.
  void shut_down();
  // Closes the connection as if the client had disconnected.
  void abandon() { disconnect(); }
  // Return whether the connection is idle (answers no request), and since when it waits for bytes.
  bool is_idle() const { return !busy_ && !closing_ && backlog() == 0 && !over_; }
  TimePoint waiting_since() const { return waiting_since_; }

  const IpAddress& peer() const override { return peer_; }
  void respond(HttpResponse response) override;
  void begin_stream(HttpResponse head) override;
  void send(std::string_view bytes) override;
  void end(bool close) override;
  size_t backlog() const override { return out_.size() - written_ + chunk_.size(); }

 private:
  void on_ready(net::EventLoop::Readiness ready);
  void receive();
  void push(std::string_view bytes);
  void handle_requests();
  void refuse(int status, std::string_view why, std::string_view hint);
  void finish_response(bool keep_alive);
  void frame_chunk();
  void schedule_flush();
  void flush();
  bool has_unhandled_request() const;
  void update_watch();
  void linger();
  void disconnect();  // called when the client is gone
  void close();       // called when the connection is over

  net::EventLoop& loop_;
  const int socket_;
  const IpAddress peer_;
  Handler& handler_;
  const ConnectionLimits limits_;
  const std::function<void()> closed_;
  const std::shared_ptr<Connection*> self_;  // tells delayed calls if this object exists
  net::EventLoop::Watch watch_;

  RequestReader reader_;
  std::string pipelined_;  // bytes received while a response is being made
  bool busy_ = false;      // a request is being answered
  bool keep_alive_ = false;
  bool chunked_ = false;
  bool head_only_ = false;  // the method of the request is HEAD
  bool finishing_ = false;  // no further request is read
  bool closing_ = false;    // the connection is to be closed when everything is written
  bool lingering_ = false;  // everything is written; what is still received is thrown away
  bool over_ = false;
  size_t discarded_ = 0;  // bytes discarded after the last response
  std::shared_ptr<PendingResponse> pending_;

  std::string out_;
  size_t written_ = 0;  // how many bytes of out_ are written
  std::string chunk_;   // bytes of the stream that are not framed as a chunk yet
  bool flush_scheduled_ = false;
  bool blocked_ = false;     // the socket takes no more bytes for now
  TimePoint waiting_since_;  // the time since which the next bytes of a request are awaited
  TimePoint last_write_;     // the time when the socket last took a byte
};

}  // namespace stoka::serve
