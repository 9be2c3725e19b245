// Stands between a client and PostgreSQL, and breaks the connection at the worst moment: when the
// client has sent COMMIT and has no answer.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace stoka::store::postgres {

class CommitProxy {
 public:
  enum class Cut {
    none,
    before,         // COMMIT does not reach the server, which sees its client go
    after,          // COMMIT was done, its answer is lost
    held,           // COMMIT does not reach the server, which does not know that its client is gone
    held_until_queried,  // the same, until the server was asked about the transaction for the first time
    held_and_refusing,          // held, and nobody gets through until admit()
  };

  explicit CommitProxy(int server_port);
  ~CommitProxy();
  CommitProxy(const CommitProxy&) = delete;
  CommitProxy& operator=(const CommitProxy&) = delete;

  int port() const { return port_; }
  // The next `times` COMMITs; each is one connection.
  void cut(Cut how, int times = 1);
  int cuts() const { return cuts_; }
  void admit() { refuses_ = false; }

 private:
  struct Pair {
    int client = -1, server = -1;
    bool awaits_commit = false;  // its answer is not to be passed on
  };
  void serve();
  void accept_one();
  bool from_client(Pair& pair);  // false when the pair is gone
  bool from_server(Pair& pair);
  bool cut_at_commit(Pair& pair, const std::string& bytes);

  const int server_port_;
  int listener_ = -1, port_ = 0;
  int wake_[2] = {-1, -1};
  std::vector<Pair> pairs_;
  std::vector<int> held_;  // sockets to the server
  std::atomic<bool> refuses_ = false;
  std::mutex mutex_;
  Cut how_ = Cut::none;
  int left_ = 0;
  std::atomic<int> cuts_{0};
  std::jthread thread_;
};

}  // namespace stoka::store::postgres
