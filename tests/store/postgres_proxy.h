// A proxy between a client and PostgreSQL that closes the connection when the client has sent
// COMMIT and has no answer yet.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/sockets.h"

namespace stoka::testing {

class CommitProxy {
 public:
  enum class Cut {
    none,
    before,              // the server does not get COMMIT, and sees the client disconnect
    after,               // the server executes COMMIT, and its answer is lost
    held,                // the server does not get COMMIT, and its connection stays open
    held_until_queried,  // like held, until the first query of the commit status
    held_and_refusing,   // like held, and new connections are refused until admit()
  };

  explicit CommitProxy(int server_port);
  ~CommitProxy();
  CommitProxy(const CommitProxy&) = delete;
  CommitProxy& operator=(const CommitProxy&) = delete;

  int port() const { return listener_.port(); }
  // Applies to the next `times` COMMITs, each of which loses a connection.
  void cut(Cut how, int times = 1);
  int cuts() const { return cuts_; }
  void admit() { refuses_ = false; }

 private:
  struct Pair {
    Descriptor client, server;
    bool awaits_commit = false;  // the answer is not forwarded
  };
  void serve();
  void accept_one();
  bool from_client(Pair& pair);  // false when one side has closed
  bool from_server(Pair& pair);
  bool cut_at_commit(Pair& pair, const std::string& bytes);

  const int server_port_;
  const Listener listener_;
  std::atomic<bool> over_ = false;
  std::vector<Pair> pairs_;
  std::vector<Descriptor> held_;  // sockets to the server
  std::atomic<bool> refuses_ = false;
  std::mutex mutex_;
  Cut how_ = Cut::none;
  int left_ = 0;
  std::atomic<int> cuts_{0};
  std::jthread thread_;
};

}  // namespace stoka::testing
