// A server over an index of the sample site on its own thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "serve/routes.h"
#include "serve/server.h"
#include "support/eventually.h"
#include "support/http.h"
#include "support/json.h"
#include "support/site_fixture.h"

namespace stoka::testing {

using Json = nlohmann::json;

class ScriptedGenerator;

// Requests as bytes.
std::string get(std::string_view target, std::string_view headers = {});
std::string post(std::string_view target, std::string_view body, std::string_view headers = {});
std::string chat(const Json& body, std::string_view headers = {});

// The path of an index of some posts of the sample site, which is made once in a process.
const fs::path& small_index();

// Options and parts may be changed before the server starts, with the first call of server(),
// port(), client() or ask().
struct ServerFixture {
  SiteFixture parts;
  RandomUuidSource ids;
  serve::Metrics metrics{"1.2.3", serve::route_paths()};
  mutable std::mutex mutex;
  std::string lines;  // of the log; see log_text()
  serve::AccessLog log{parts.clock, {}, [this](std::string_view line) {
                         const std::lock_guard lock(mutex);
                         lines += line;
                       }};
  serve::ServerOptions options;

  // With a copy of an index; an empty path means an empty index.
  explicit ServerFixture(const fs::path& index = small_index());
  ~ServerFixture() { stop_now(); }

  serve::Server& server();
  uint16_t port() { return server().port(); }
  HttpConnection client(int receive_buffer = 0);
  // Sends the request on a new connection.
  HttpReply ask(std::string_view request) { return client().ask(request); }

  ScriptedGenerator& use_scripted_generator();
  void stop() { server().stop(); }
  void join();
  // When it returns, all work of the server is done.
  void stop_now();
  bool ended() const { return ended_; }
  std::string log_text() const;

 private:
  std::unique_ptr<pipeline::Engine> engine_;
  std::unique_ptr<serve::Server> server_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace stoka::testing
