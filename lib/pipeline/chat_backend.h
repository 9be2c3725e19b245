// The interface through which the commands and the REPL get answers: from the local index or from a
// stoka server.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/session.h"
#include "pipeline/discover.h"
#include "pipeline/turn.h"

namespace stoka::pipeline {

// All functions must be called from one thread. Any thread may request a stop.
class ChatBackend {
 public:
  // Information about an answer beside its events.
  struct Answer {
    std::optional<Error> error;  // the error if the answer failed after its first event
    std::string why;             // lines about the route, the scores and the factors
    std::string trace;           // the same lines with timings; empty if a server answered
  };

  virtual ~ChatBackend() = default;

  // Returns a new session of the visitor, or of a new visitor if the id is empty. If a server makes
  // the ids, they are empty until the first answer.
  virtual Session new_session(std::string visitor_id) = 0;

  // Runs one turn of the session, whose ids may be empty, and updates what is known of the session.
  // Sends the events in order to the sink, on the calling thread. If ask() returns an error, no
  // event was sent and the session is unchanged; a later failure is sent as an ErrorEvent. After a
  // stop request ask() returns soon, with or without a last event.
  virtual Result<Answer> ask(Session& session, const std::string& query, const PageContext& page,
                             const EventSink& sink, std::stop_token stop) = 0;

  // Prepares a turn with its prompt for a model. No generator is called, and nothing is saved.
  virtual Result<Turn> prompt(const Session& session, const std::string& query,
                              const PageContext& page, std::stop_token stop) = 0;

  virtual Result<Recommendations> discover(const DiscoverRequest& request) = 0;
  virtual Result<Ambient> context(const std::string& page) = 0;

  // The hint of the front page; may be empty. Fails if no question can be answered, because the
  // index cannot be used or the server does not answer.
  virtual Result<std::string> opening_hint() = 0;

  // The pages that completion with Tab offers.
  virtual std::vector<std::string> pages() = 0;
};

}  // namespace stoka::pipeline
