#include "store/store.h"

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::store {

std::optional<IdentityMismatch> find_mismatch(const IndexIdentity& made_with,
                                              const IndexIdentity& wanted) {
  if (made_with.embedder != wanted.embedder)
    return IdentityMismatch{"embedder", made_with.embedder, wanted.embedder};
  if (wanted.dim != 0 && made_with.dim != 0 && made_with.dim != wanted.dim)
    return IdentityMismatch{"dimension", std::to_string(made_with.dim), std::to_string(wanted.dim)};
  if (made_with.chunker != wanted.chunker)
    return IdentityMismatch{"chunker", made_with.chunker, wanted.chunker};
  if (made_with.query_prefix != wanted.query_prefix)
    return IdentityMismatch{"query prefix", made_with.query_prefix, wanted.query_prefix};
  if (made_with.document_template != wanted.document_template)
    return IdentityMismatch{"document template", made_with.document_template,
                            wanted.document_template};
  return std::nullopt;
}

bool is_valid_id(std::string_view id) { return is_uuid(id) && to_lower(id) == id; }

Result<> check_id(std::string_view what, std::string_view id) {
  if (is_valid_id(id)) return {};
  constexpr size_t kMaxShownBytes = 40;  // bytes
  std::string shown = text::one_line(id);
  shown.resize(text::floor_char_boundary(shown, kMaxShownBytes));
  return fail(ErrorKind::usage,
              "the " + std::string(what) + " id '" + shown + "' is not a UUID in lower case",
              "leave it out to start a new one");
}

uint32_t ChunkRecord::length() const {
  uint32_t sum = 0;
  for (const TermCount& term : terms) sum += term.count;
  return sum;
}

std::vector<Result<Session>> Store::commit_turns(std::span<const TurnRecord> turns) {
  std::vector<Result<Session>> out;
  for (const TurnRecord& turn : turns) out.push_back(commit_turn(turn));
  return out;
}

}  // namespace stoka::store
