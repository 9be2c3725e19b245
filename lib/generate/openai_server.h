// What this process has learned about an OpenAI-style server: its models, and the request fields
// that it rejects.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "generate/chat_request.h"
#include "net/deadline.h"
#include "net/upstream.h"

namespace stoka::generate {

// A chat server; any thread may use it. The upstream and the log must outlive this object.
class OpenAiServer {
 public:
  using Write = std::function<Result<std::string>(const RejectedFields&)>;

  // `model` is the model to use. If it is empty: the only model of the server, or `preferred` if
  // the server has several.
  OpenAiServer(net::Upstream& upstream, std::string model, std::string preferred, Log& log);

  // The model to name in a request; empty if none is set and the server lists none. Fails with a
  // config error if the server lists several without the preferred one. Requests the list if
  // needed, within the deadline and ten seconds; a server without a list is asked only once.
  Result<std::string> model(std::stop_token stop, const net::Deadline& deadline);
  std::string known_model() const;  // the model, if known without asking the server

  // Writes the body of a request and sends it. If the response rejects a field by name, the request
  // is repeated without the field, at most twice. Any other response is returned. Once the server
  // has accepted a request without a field, the field is left out of all later ones.
  Result<net::HttpResponse> send(net::Call call, const Write& write, const net::Deadline& deadline,
                                 std::stop_token stop);

  // For callers that send requests themselves: the fields to leave out, and whether to repeat a
  // request after this response, without the fields that are now in `rejected`. `repeats` is the
  // number of repetitions so far.
  RejectedFields rejected() const;
  bool should_repeat(const net::HttpResponse& answer, RejectedFields& rejected, int repeats);

  // The error for a response with an error status, with hints for the settings of the model and of
  // the prompt budget.
  Error status_error(const net::HttpResponse& answer, const std::string& model,
                     std::stop_token stop, const net::Deadline& deadline);
  // Adds the server's name and a hint to an error of a decoder, and redacts the key, which servers
  // may repeat.
  Error describe(Error error) const;

 private:
  using Models = std::optional<std::vector<std::string>>;  // model ids; nullopt without a list
  Result<Models> list(std::stop_token stop, const net::Deadline& deadline);
  Result<std::string> choose(const Models& listed) const;

  net::Upstream& upstream_;
  const std::string model_;
  const std::string preferred_;
  Log& log_;
  mutable std::mutex mutex_;  // protects the members below
  std::string listed_model_;  // the model chosen from the server's list
  bool has_no_list_ = false;
  RejectedFields rejected_;
};

}  // namespace stoka::generate
