#include "serve/trace_context.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace trace_context_test {

namespace {

using stoka::is_uuid;
using stoka::SeededUuidSource;
using stoka::serve::request_id;
using stoka::serve::trace_context;
using stoka::serve::TraceContext;

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kParent = "b7ad6b7169203331";
const std::string kGiven = "00-" + kTrace + "-" + kParent + "-01";

class CountingIds final : public stoka::UuidSource {
 public:
  std::string uuid() override {
    ++count;
    return ids_.uuid();
  }
  int count = 0;

 private:
  SeededUuidSource ids_{1};
};

bool is_id(std::string_view text, size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         text.find_first_not_of('0') != std::string_view::npos;
}

void check_new(std::string_view header) {
  CAPTURE(header);
  SeededUuidSource ids(7);
  const TraceContext made = trace_context(header, ids);
  CHECK_FALSE(made.continued);
  CHECK(is_id(made.trace_id, 32));
  CHECK(is_id(made.span_id, 16));
  CHECK(made.trace_id != kTrace);
  CHECK(made.parent_id.empty());
}

}  // namespace

TEST_CASE("a given trace is continued with a new span") {
  SeededUuidSource ids(1);
  const TraceContext made = trace_context(kGiven, ids);
  CHECK(made.continued);
  CHECK(made.trace_id == kTrace);
  CHECK(made.parent_id == kParent);
  CHECK(is_id(made.span_id, 16));
  CHECK(made.span_id != kParent);
}

TEST_CASE("a header of a later version is read as far as its form is known") {
  const std::string rest = kGiven.substr(2);
  for (const std::string& header : {"01" + rest, "cc" + rest, "fe" + rest, "01" + rest + "-",
                                    "01" + rest + "-what-the-future"}) {
    CAPTURE(header);
    SeededUuidSource ids(1);
    const TraceContext made = trace_context(header, ids);
    CHECK(made.continued);
    CHECK(made.trace_id == kTrace);
  }
  check_new("01" + rest + "x");
  check_new("01" + rest + ".more");
}

TEST_CASE("an invalid header starts a new trace") {
  const std::string rest = kGiven.substr(2);
  for (const std::string& header : {std::string(),
                                    std::string("00"),
                                    "ff" + rest,
                                    "FF" + rest,
                                    "0" + rest,
                                    "0g" + rest,
                                    kGiven + "-",
                                    kGiven + "-more",
                                    kGiven + " ",
                                    " " + kGiven,
                                    kGiven + kGiven,
                                    kGiven + "," + kGiven,
                                    "00-" + std::string(32, '0') + "-" + kParent + "-01",
                                    "00-" + kTrace + "-" + std::string(16, '0') + "-01",
                                    "00-0AF7651916CD43DD8448EB211C80319C-" + kParent + "-01",
                                    "00-" + kTrace + "-B7AD6B7169203331-01",
                                    "00-" + kTrace + "-" + kParent + "-0A",
                                    "00-" + kTrace + "-" + kParent + "-0x",
                                    "00_" + kTrace + "-" + kParent + "-01",
                                    "00-" + kTrace + "_" + kParent + "-01",
                                    "00-" + kTrace + "-" + kParent + "_01",
                                    "00-" + kTrace.substr(1) + "--" + kParent + "-01",
                                    std::string(55, '-'),
                                    std::string(55, '\0'),
                                    std::string(9000, 'a')})
    check_new(header);
  for (size_t length = 0; length < kGiven.size(); ++length) check_new(kGiven.substr(0, length));
}

TEST_CASE("a header with a wrong byte at any place starts a new trace") {
  for (size_t at = 0; at < kGiven.size(); ++at)
    for (const char wrong : {'A', 'g', ' ', '\0', '\xe9', '_'}) {
      std::string header = kGiven;
      header[at] = wrong;
      check_new(header);
    }
}

TEST_CASE("trace and span ids are unique") {
  SeededUuidSource ids(1);
  std::set<std::string> traces, spans;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext made = trace_context("", ids);
    traces.insert(made.trace_id);
    spans.insert(made.span_id);
    spans.insert(trace_context(kGiven, ids).span_id);
  }
  CHECK(traces.size() == 1000);
  CHECK(spans.size() == 2000);
}

TEST_CASE("a request id is taken from the client only if it has a harmless form") {
  for (const std::string& given : {std::string("a"), std::string("Az0._-"), std::string(64, 'x'),
                                   std::string("0190163d-8694-739b-aea5-966c26f8ad91")}) {
    SeededUuidSource ids(1);
    CHECK(request_id(given, ids) == given);
  }
  for (const std::string& given :
       {std::string(), std::string(65, 'x'), std::string("a b"), std::string("a\r\nSet-Cookie: x"),
        std::string("a\n"), std::string("\0", 1), std::string("a\0b", 3), std::string("J\u00F6rg"),
        std::string("a/b"), std::string("a,b"), std::string("\"a\""), std::string("<b>"),
        std::string("${jndi:x}"), std::string("a@b"), std::string("a[b"), std::string("a`b"),
        std::string("a{b"), std::string("a:b")}) {
    CAPTURE(given);
    SeededUuidSource ids(1);
    const std::string made = request_id(given, ids);
    CHECK(made != given);
    CHECK(is_uuid(made));
  }
}

TEST_CASE("a request takes at most two ids") {
  CountingIds ids;
  trace_context("", ids);
  request_id("", ids);
  CHECK(ids.count == 2);
  trace_context(kGiven, ids);
  request_id("given", ids);
  CHECK(ids.count == 3);
}

}  // namespace trace_context_test
