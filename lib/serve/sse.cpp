#include "serve/sse.h"

namespace stoka::serve {

void append_event(std::string& out, const Event& event) {
  out.append("event: ").append(name(event)).append("\ndata: ");
  out += data_json(event);
  out += "\n\n";
}

}  // namespace stoka::serve
