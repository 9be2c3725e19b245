// The JSON bodies of requests, parsed and checked field by field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/discover.h"
#include "pipeline/turn.h"

namespace stoka::serve {

// A usage error and the name of the field that is wrong; the name is empty if the body as a whole
// is wrong.
struct FieldError {
  Error error;
  std::string field;
};
template <class T>
using ParsedBody = tl::expected<T, FieldError>;

struct ProfileUpdate {
  std::string visitor_id;
  std::optional<std::vector<std::string>> interests;  // nullopt: the interests stay as they are
  std::vector<std::string> read;                      // the slugs of pages that were read
};

// Parses {"query", "session_id", "visitor_id", "page", "page_title", "scroll_pct", "seen_slugs"}:
// only the query is required. In all request bodies null means that a field is absent, and unknown
// and repeated fields are errors.
ParsedBody<pipeline::TurnRequest> parse_chat_request(std::string_view body);
// Parses {"visitor_id", "page", "seen_slugs", "limit"}: nothing is required.
ParsedBody<pipeline::DiscoverRequest> parse_discover_request(std::string_view body);
// Parses {"visitor_id", "interests", "read"}: visitor_id and one other are required.
ParsedBody<ProfileUpdate> parse_profile_update(std::string_view body);

}  // namespace stoka::serve
