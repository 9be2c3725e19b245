// The interface through which the REPL gets its answers: from the local pipeline or from a server.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace stoka::terminal {

// One visitor's conversation. All calls come from one thread; a stop may be requested from any.
class Conversation {
 public:
  struct Status {
    std::string session_id;  // empty before the first answer, if a server creates the ids
    std::string visitor_id;
    int turns = 0;
    std::string topic;  // the current topic; may be empty
    std::string page;   // as set by set_page(); may be empty
  };

  virtual ~Conversation() = default;

  // Runs one turn and sends its events in order to the sink, on the calling thread. If it returns
  // an error, no event was sent; a later failure is sent as an ErrorEvent. After a stop request it
  // returns soon, with or without a last event.
  virtual Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) = 0;

  // The next turn will open a new session of the same visitor.
  virtual Result<> new_session() = 0;

  // Sets the page that the visitor is on; an empty URL means no page.
  virtual Result<> set_page(std::string_view url) = 0;

  virtual Status status() const = 0;

  // The slugs that the session has cited, in the order in which they were first shown.
  virtual std::vector<std::string> shown_slugs() const = 0;

  // Explains the last answer (route, scores, factors) in lines. Empty before the first answer.
  virtual std::string why() const = 0;

  // At most one line about the page that the visitor is on; empty if there is nothing to say.
  virtual std::string hint() = 0;

  // The pages that Tab completion offers.
  virtual std::vector<std::string> pages() const = 0;
};

}  // namespace stoka::terminal
