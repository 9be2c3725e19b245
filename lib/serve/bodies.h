// What clients send as JSON, read and checked field by field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/discover.h"
#include "pipeline/turn.h"

namespace stoka::serve {

// A usage error and the field it is about; the field is empty where it is the whole body.
struct FieldError {
  Error error;
  std::string field;
};
template <class T>
using Read = tl::expected<T, FieldError>;

struct ProfileUpdate {
  std::string visitor_id;
  std::optional<std::vector<std::string>> interests;  // nothing: as they are
  std::vector<std::string> read;                      // slugs
};

// {"query", "session_id", "visitor_id", "page", "page_title", "scroll_pct", "seen_slugs"}: only the
// query must be there; null is as good as absent. Unknown and repeated fields are refused.
Read<pipeline::TurnRequest> read_chat(std::string_view body);
// {"visitor_id", "page", "seen_slugs", "limit"}: none must be there.
Read<pipeline::DiscoverRequest> read_discover(std::string_view body);
// {"visitor_id", "interests", "read"}: the visitor must be there, and something to set.
Read<ProfileUpdate> read_profile(std::string_view body);

}  // namespace stoka::serve
