// The HTTP server: one thread accepts clients, serves them and runs the transfers to model servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/engine.h"
#include "serve/access_log.h"
#include "serve/connection.h"
#include "serve/metrics.h"
#include "serve/site.h"

namespace stoka::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8787;           // the port; 0 for any free port
  size_t max_connections = 4096;  // connections at a time; further clients wait to be accepted
  size_t workers = 16;            // threads for jobs that may wait for a model server
  std::chrono::milliseconds shutdown_grace{25000};  // how long open responses may take after stop()
  std::chrono::milliseconds ping_interval{15000};   // how often an idle stream gets a comment
  ConnectionLimits limits = {};
  SiteOptions site = {};
};

// The engine, log and metrics must outlive the server. The program must ignore SIGPIPE.
class Server {
 public:
  // Opens the port; run() serves the clients. Fails with a config error if it cannot listen.
  static Result<std::unique_ptr<Server>> listen(pipeline::Engine& engine, AccessLog& log,
                                                Metrics& metrics, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;  // the address of the server, e.g. "http://127.0.0.1:8787"
  uint16_t port() const;

  // Serves clients on the calling thread. Returns after stop(), when all connections are closed.
  void run();
  // Stops accepting clients. May be called from any thread. Open responses may take the grace time;
  // then streams end with an error event. A second call closes all connections at once.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoka::serve
