// The bytes of an HTTP connection: RequestReader, compared with a strict parser. What only one of
// two parsers accepts is how requests are smuggled.
#include <optional>
#include <string>

#include "fuzz/targets.h"
#include "serve/parsed_requests.h"
#include "serve/strict_parser.h"

namespace stoka::fuzz {
namespace {

using testing::HttpRequest;
using testing::kSmall;
using testing::Outcome;
using testing::RequestReader;

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

void check_request(const HttpRequest& request) {
  check(!request.method.empty() && !has_line_break(request.method), "a request has a method");
  check(request.path.starts_with('/'), "a path begins with /");
  check(!has_line_break(request.path) && !has_line_break(request.query),
        "the target is on one line");
  check(request.headers.size() <= kSmall.max_fields, "the number of headers keeps the limit");
  check(request.body.size() <= kSmall.max_body_bytes, "the body keeps the limit");
  check(request.minor_version == 0 || request.minor_version == 1, "the version is 1.0 or 1.1");
  for (const auto& [name, value] : request.headers) {
    check(!name.empty() && name == to_lower(name), "the name of a header is in lower case");
    check(!has_line_break(name) && !has_line_break(value), "a header is on one line");
    check(request.header(name) == request.header_values(name).front(),
          "the first header of a name counts");
  }
  for (const char* name : {"page", "slug", ""})
    check(request.parameter(name).size() <= request.query.size(), "a parameter is in the query");
}

// The reader gives out requests and keeps the limits, however much it is given.
void check_reader(std::string_view input) {
  RequestReader reader(kSmall);
  reader.push(input);
  while (reader.state() == RequestReader::State::complete) check_request(reader.take());
  check(!reader.expects_continue() || reader.state() == RequestReader::State::body,
        "only a body can be waited for");
  if (reader.state() != RequestReader::State::refused) return;
  const auto& refusal = reader.refusal();
  check(refusal.status >= 400 && refusal.status <= 505, "a refusal has the status of an error");
  check(!refusal.why.empty() && !has_line_break(refusal.why) && !has_line_break(refusal.hint),
        "a refusal says why, on one line");
  check(reader.push("GET / HTTP/1.1\r\nHost: x\r\n\r\n") == RequestReader::State::refused,
        "nothing is read after a refusal");
}

}  // namespace

void fuzz_request(std::string_view input) {
  check_reader(input);
  const Outcome whole = parse_in_splits(input, [](const Pieces& pieces) {
    Outcome out = testing::read(pieces);
    // What is both malformed and too large is refused for either, depending on the splits.
    out.refused = 0;
    out.why.clear();
    return out;
  });
  testing::StrictParser strict(input);
  for (const std::string& request : whole.requests) {
    const std::optional<std::string> expected = strict.next();
    if (expected == request) continue;
    throw Violation("a strict parser reads \"" + expected.value_or("nothing") + "\" and not \"" +
                    request + "\"");
  }
}

}  // namespace stoka::fuzz
