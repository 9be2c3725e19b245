// Events as they were sent by sse.h, read back on the other side of the wire.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/event.h"
#include "net/sse.h"

namespace stoka::serve {

// The event of that name, from the JSON of its data. Unknown fields are ignored; a field that is
// missing or of the wrong type is a protocol error, and so is an unknown name. Of a citation kind,
// URL and publication date may be missing; a kind that is not known is drawn as a block.
Result<Event> read_event(std::string_view name, std::string_view data);

// Bytes in any split. Comments and unknown events are ignored. Not thread safe.
class EventReader {
 public:
  explicit EventReader(EventSink sink) : sink_(std::move(sink)) {}

  // What is good of it is handed on, up to the first thing that is not. Protocol errors: data that
  // is nonsense, a beginning other than ready, a second ready, anything after done or error. The
  // reader is of no use afterwards.
  Result<> push(std::string_view bytes);
  // The stream has ended: a protocol error unless done or error was its last event.
  Result<> end() const;

  bool began() const { return began_; }  // ready was handed on
  bool over() const { return over_; }    // done or error was handed on

 private:
  Result<> take(const net::SseEvent& event);

  EventSink sink_;
  // An event of ours is a sentence, or a citation; a longer one is nonsense.
  net::SseDecoder decoder_{{.line = 256u << 10, .event = 256u << 10}};
  bool began_ = false;
  bool over_ = false;
};

}  // namespace stoka::serve
