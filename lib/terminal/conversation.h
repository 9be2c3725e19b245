// Who answers in the REPL: the local pipeline, or a server somewhere else.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace stoka::terminal {

// One person's conversation. Called from one thread; only the stop may come from another.
class Conversation {
 public:
  struct Status {
    std::string session_id;  // empty before the first answer, if the other side makes ids
    std::string visitor_id;
    int turns = 0;
    std::string topic;  // the current one; may be empty
    std::string page;   // as last set; may be empty
  };

  virtual ~Conversation() = default;

  // One turn. Every event goes to the sink, on the calling thread, in order. An error returned
  // means that nothing was sent to the sink; later trouble is an ErrorEvent. When a stop is
  // requested it returns soon, with or without a last event.
  virtual Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) = 0;

  // The next turn opens a new session of the same visitor.
  virtual Result<> new_session() = 0;

  // The page that the visitor is on from now on; empty for none.
  virtual Result<> set_page(std::string_view url) = 0;

  virtual Status status() const = 0;

  // What the session has already cited, in the order first shown.
  virtual std::vector<std::string> shown_slugs() const = 0;

  // How the last answer came about (route, scores, factors), as lines; empty before the first.
  virtual std::string why() const = 0;

  // At most one line about the page that the visitor is on; empty if there is nothing to say.
  virtual std::string hint() = 0;

  // Pages that can be named, for completion.
  virtual std::vector<std::string> pages() const = 0;
};

}  // namespace stoka::terminal
