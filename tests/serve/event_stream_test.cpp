#include "serve/event_stream.h"

#include <doctest/doctest.h>

namespace event_stream_test {

using namespace stoka;

TEST_CASE("an event is appended as its name and compact JSON") {
  std::string out = "before";
  serve::append_event(out, ReadyEvent{"s", "v", Route::fresh});
  serve::append_event(out, TokenEvent{"two\nlines"});
  CHECK(out ==
        "beforeevent: ready\n"
        "data: {\"session_id\":\"s\",\"visitor_id\":\"v\",\"route\":\"new\"}\n\n"
        "event: token\n"
        "data: {\"text\":\"two\\nlines\"}\n\n");
}

}  // namespace event_stream_test
