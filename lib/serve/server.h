// The HTTP server: listens, and drives clients and their upstreams from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/engine.h"
#include "serve/connection.h"
#include "serve/journal.h"
#include "serve/metrics.h"
#include "serve/site.h"

namespace stoka::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8787;                    // 0: any that is free
  size_t connections = 4096;               // at a time; who comes later waits to be accepted
  size_t workers = 16;                     // threads for what may wait for a model
  std::chrono::milliseconds grace{25000};  // for answers under way when it is to stop
  std::chrono::milliseconds ping{15000};   // of silence in a stream, until a comment is sent
  ConnectionLimits limits = {};
  SiteOptions site = {};
};

// Engine, journal and metrics must outlive it. The program must ignore SIGPIPE.
class Server {
 public:
  // Listens when this returns, and answers in run(). A config error when it cannot.
  static Result<std::unique_ptr<Server>> listen(pipeline::Engine& engine, Journal& journal,
                                                Metrics& metrics, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;  // "http://127.0.0.1:8787"
  uint16_t port() const;

  // On the calling thread, until stop() was called and all is over.
  void run();
  // Any thread. Stops accepting; answers under way have the grace time, streams then end with an
  // error event. Called again: all is over at once.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoka::serve
