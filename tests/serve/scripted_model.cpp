#include "serve/scripted_model.h"

#include <poll.h>

#include <stdexcept>

#include "support/json.h"
#include "support/upstream/http_socket.h"

namespace stoka::testing {

void ScriptedModel::Request::send_head() {
  send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
}

void ScriptedModel::Request::send_text(const std::string& text) {
  const nlohmann::json chunk = {{"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}};
  send("data: " + chunk.dump() + "\n\n");
}

void ScriptedModel::Request::finish() {
  send(
      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: [DONE]\n\n");
  close();
}

bool ScriptedModel::Request::client_disconnected() const {
  pollfd peer{socket_.get(), POLLRDHUP, 0};
  return ::poll(&peer, 1, 20000) > 0;
}

void ScriptedModel::Request::send(std::string_view bytes) {
  if (!send_all(socket_.get(), bytes)) throw std::runtime_error("the client has disconnected");
}

ScriptedModel::Request ScriptedModel::next() {
  if (!has_request(20000)) throw std::runtime_error("no request to the model");
  Descriptor client = listener_.accept();
  set_timeout(client, std::chrono::seconds(20));
  auto request = HttpSocket(client.get()).read();
  if (!request) throw std::runtime_error("the request is incomplete");
  return {std::move(client), std::move(request->body)};
}

}  // namespace stoka::testing
