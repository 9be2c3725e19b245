#include "store/postgres_proxy.h"

#include <poll.h>

#include <utility>

namespace stoka::testing {
namespace {

std::string received(const Descriptor& socket) {
  std::string out;
  receive(socket.get(), out);
  return out;
}

}  // namespace

CommitProxy::CommitProxy(int server_port) : server_port_(server_port) {
  thread_ = std::jthread([this] { serve(); });
}

CommitProxy::~CommitProxy() {
  over_ = true;
  listener_.shut_down();  // which wakes the thread
  thread_.join();
}

void CommitProxy::cut(Cut how, int times) {
  const std::lock_guard lock(mutex_);
  how_ = how;
  left_ = times;
}

void CommitProxy::serve() {
  for (;;) {
    std::vector<pollfd> polled = {{listener_.fd(), POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      polled.push_back({pair.client.get(), POLLIN, 0});
      polled.push_back({pair.server.get(), POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (over_) return;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      const bool alive = (polled[1 + 2 * i].revents == 0 || from_client(pair)) &&
                         (polled[2 + 2 * i].revents == 0 || from_server(pair));
      if (alive) continue;
      pair.client.close();
      pair.server.close();
    }
    std::erase_if(pairs_, [](const Pair& pair) { return !pair.client && !pair.server; });
    if (polled[0].revents != 0) accept_one();
  }
}

void CommitProxy::accept_one() {
  Pair pair;
  pair.client = listener_.accept();
  if (!refuses_) pair.server = connect_to(server_port_);
  if (pair.server) pairs_.push_back(std::move(pair));
}

bool CommitProxy::from_client(Pair& pair) {
  const std::string bytes = received(pair.client);
  if (bytes.empty()) return false;
  // A simple query message: type, length, text, NUL.
  if (bytes.find(std::string("Q\0\0\0\x0b"
                             "COMMIT\0",
                             12)) != bytes.npos) {
    const std::lock_guard lock(mutex_);
    if (left_ > 0) {
      --left_;
      const bool alive = cut_at_commit(pair, bytes);
      ++cuts_;
      return alive;
    }
  }
  const bool asks = bytes.find("pg_xact_status") != bytes.npos;
  if (!send_all(pair.server.get(), bytes)) return false;
  if (asks) {
    const std::lock_guard lock(mutex_);
    if (how_ == Cut::held_until_queried && !held_.empty()) {
      const std::string answer = received(pair.server);  // "in progress"
      held_.clear();
      return send_all(pair.client.get(), answer);
    }
  }
  return true;
}

bool CommitProxy::cut_at_commit(Pair& pair, const std::string& bytes) {
  switch (how_) {
    case Cut::after:
      pair.awaits_commit = true;
      return send_all(pair.server.get(), bytes);
    case Cut::held_and_refusing:
      refuses_ = true;
      [[fallthrough]];
    case Cut::held:
    case Cut::held_until_queried:
      held_.push_back(std::move(pair.server));
      return false;
    default:
      return false;
  }
}

bool CommitProxy::from_server(Pair& pair) {
  const std::string bytes = received(pair.server);
  return !bytes.empty() && !pair.awaits_commit && send_all(pair.client.get(), bytes);
}

}  // namespace stoka::testing
