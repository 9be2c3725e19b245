#include "serve/event_stream.h"

namespace stoka::serve {

void append_event(std::string& out, const Event& event) {
  out.append("event: ").append(to_string(event)).append("\ndata: ");
  out += data_json(event);
  out += "\n\n";
}

}  // namespace stoka::serve
