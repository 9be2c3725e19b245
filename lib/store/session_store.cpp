#include "store/session_store.h"

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::store {

bool is_valid_id(std::string_view id) { return is_uuid(id) && to_lower(id) == id; }

Result<> check_id(std::string_view what, std::string_view id) {
  if (is_valid_id(id)) return {};
  constexpr size_t kMaxShownBytes = 40;
  std::string shown = text::one_line(id);
  shown.resize(text::floor_char_boundary(shown, kMaxShownBytes));
  return fail(ErrorKind::usage,
              "the " + std::string(what) + " id '" + shown + "' is not a UUID in lower case",
              "leave it out to start a new one");
}

std::vector<Result<Session>> SessionStore::commit_turns(std::span<const TurnRecord> turns) {
  std::vector<Result<Session>> out;
  for (const TurnRecord& turn : turns) out.push_back(commit_turn(turn));
  return out;
}

}  // namespace stoka::store
