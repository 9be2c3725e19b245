// The events of an answer. A turn is a stream of events, which the command line prints, the REPL
// draws, the server encodes and the evaluation judges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/date.h"
#include "model/hit.h"

namespace stoka {

enum class Route { meta, offtopic, followup, fresh, nothing };
// The name of the route: "meta", "offtopic", "followup", "new" (fresh) or "void" (nothing).
std::string_view to_string(Route route);

// How a citation is drawn.
// An inline citation is a further passage of a page whose card the session has shown.
enum class CiteKind { block, product, inline_quote };
std::string_view to_string(CiteKind kind);

struct Citation {
  std::string slug;
  std::string title;
  std::string quote;  // a verbatim quote from the indexed content
  std::string type;
  std::string reading_time;  // the reading time, e.g. "8 min"
  std::string date;  // the date, e.g. "Apr 12" or "Nov 25, 2002"; empty if the document has none
  std::string url;   // a link to the quote: an absolute URL or a path of the site; may be empty
  double score = 0;
  CiteKind kind = CiteKind::block;
  std::optional<Date> published = {};
};

struct ReadyEvent {
  std::string session_id;
  std::string visitor_id;
  Route route = Route::fresh;
};
struct TokenEvent {
  std::string text;
};
struct CiteEvent {
  Citation citation;
};
struct DoneEvent {
  int turns = 0;
  Confidence confidence = Confidence::direct;
  int64_t latency_ms = 0;
};
struct ErrorEvent {
  std::string message;
  bool retryable = false;
};

// The first event of a stream is its only ReadyEvent. The last is its only DoneEvent or ErrorEvent.
using Event = std::variant<ReadyEvent, TokenEvent, CiteEvent, DoneEvent, ErrorEvent>;
using EventSink = std::function<void(const Event&)>;

std::string_view to_string(const Event& event);  // such as "ready", "token" or "cite"

// The data of the event, sent over HTTP as compact JSON in valid UTF-8: {"text":"…"}.
std::string data_json(const Event& event);

}  // namespace stoka
