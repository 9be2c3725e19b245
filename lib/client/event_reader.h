// Reads the events of a turn from the server-sent events that serve/event_stream.h writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"
#include "net/sse.h"

namespace stoka::client {

// Parses an event from its name and the JSON text of its data. Unknown fields are ignored. An
// unknown name is a protocol error, and so is a field that is missing or has the wrong type. In a
// citation the kind, the URL and the publication date may be missing; an unknown kind is a block.
Result<Event> read_event(std::string_view name, std::string_view data);

// Reads events from bytes in any split. Comments and unknown events are ignored. Not thread safe.
class EventReader {
 public:
  explicit EventReader(EventSink sink) : sink_(std::move(sink)) {}

  // Passes the events to the sink, up to the first error. Protocol errors are malformed data, a
  // first event other than ready, a second ready event, and an event after done or error. The
  // reader must not be used after an error.
  Result<> push(std::string_view bytes);
  // Must be called at the end of the stream. Fails as protocol unless done or error came last.
  Result<> end() const;

  bool began() const { return began_; }  // whether the ready event was passed on
  bool over() const { return over_; }    // whether the done event or an error event was passed on

 private:
  Result<> take(const net::SseEvent& event);

  EventSink sink_;
  // The limit for one event: a sentence or a citation is shorter, so a longer event is malformed.
  net::SseDecoder decoder_{{.line = 256u << 10, .event = 256u << 10}};
  bool began_ = false;
  bool over_ = false;
};

}  // namespace stoka::client
