// What one process learns of an OpenAI-style server by asking it: its models, and the fields it
// does not take.
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
#include "net/time_left.h"
#include "net/upstream.h"

namespace stoka::generate {

// Threads: any. Upstream and log must outlive it.
class OpenAiServer {
 public:
  using Write = std::function<Result<std::string>(const RefusedFields&)>;
  using Send = std::function<Result<net::Answer>(std::string body)>;

  // model: the one to use; empty: its only one, or of several the preferred one.
  OpenAiServer(net::Upstream& upstream, std::string model, std::string preferred, Log& log);

  // What to send as the model; empty where it is not set and the server does not say what it has. A
  // config error where it has several and the preferred one is not among them. Asks for the list
  // if it must, within the time left and ten seconds; a server that keeps none is asked once.
  Result<std::string> model(std::stop_token stop, const net::TimeLeft& time);
  std::string known_model() const;  // without asking

  // Sends what is written; up to twice again, without a field that the answer refuses by name. Any
  // other answer is returned. What was left out is left out from then on once the server has
  // accepted a request without it.
  Result<net::Answer> ask(const Write& write, const Send& send);

  // The same for who sends by other means: what has been left out so far; and what an answer
  // teaches. True: ask again without what is now refused, of which it is the `repeats`-th time.
  RefusedFields refused() const;
  bool learn(const net::Answer& answer, RefusedFields& refused, int repeats);

  // What an answer that is not ok means, to people who set the model and the prompt's budget.
  Error refusal(const net::Answer& answer, const std::string& model, std::stop_token stop,
                const net::TimeLeft& time);
  // An error that a decoder found in what the server said, with the server's name, without the
  // key, which servers like to repeat, and with something to do next.
  Error named(Error error) const;
  std::string shown() const { return upstream_.options().url.shown(); }

 private:
  using Models = std::optional<std::vector<std::string>>;  // nothing: it keeps no list
  Result<Models> list(std::stop_token stop, const net::TimeLeft& time);
  Result<std::string> choose(const Models& listed) const;

  net::Upstream& upstream_;
  const std::string model_;
  const std::string preferred_;
  Log& log_;
  mutable std::mutex mutex_;  // of what follows
  std::string found_;         // the model taken from its list
  bool keeps_no_list_ = false;
  RefusedFields refused_;
};

}  // namespace stoka::generate
