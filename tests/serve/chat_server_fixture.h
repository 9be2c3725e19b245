// A chat server with built-in parts or model servers, and the replies of a chat.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "embed/tei.h"
#include "net/http_client.h"
#include "net/upstream.h"
#include "serve/server_fixture.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

inline constexpr const char* kQuestion = "tell me about bounded execution";

// A complete reply to a chat.
struct ChatReply : HttpReply {
  std::vector<ReplyEvent> events;
  Json problem;

  std::string text() const;
  std::vector<std::string> cited() const;
  const ReplyEvent& last() const { return events.at(events.size() - 1); }
  // Whether ready comes first, and exactly one done or error, which comes last.
  bool well_formed() const;
};

void send_chat(HttpConnection& client, const Json& body, std::string_view version = "1.1");
ChatReply read_reply(HttpConnection& client);

struct ChatServerOptions {
  // Addresses of model servers; empty means the built-in part.
  std::string embedder = {}, reranker = {}, generator = {};
  SemaphoreOptions gate = {};  // of each model server
  net::Timeouts deadlines = {};
  net::Milliseconds query_timeout = embed::kQueryTimeout;  // of the embedder
  net::CircuitBreakerOptions breaker = {};
  std::filesystem::path record = {}, replay = {};
  bool sample = true;  // false: the index is empty
  serve::ServerOptions server = {};
};

class ChatServerFixture : public ServerFixture {
 public:
  explicit ChatServerFixture(ChatServerOptions options = {});
  ~ChatServerFixture();

  // The complete reply to a body, or to a question alone.
  ChatReply ask(const Json& body);
  // Sends the request and reads nothing.
  HttpConnection start(const Json& body);

  // The sum of the metric samples whose lines begin with `start`.
  double metric(const std::string& start) const;
  // Whether no answer is streamed and no place at a model server is taken.
  bool quiet() const;

 private:
  net::Upstream& upstream(const std::string& role, const std::string& url, net::ApiRoot root);

  const ChatServerOptions given_;
  net::HttpClient client_;
  std::unique_ptr<net::Transport> tape_;
  std::vector<std::unique_ptr<net::Upstream>> upstreams_;
};

}  // namespace stoka::testing
