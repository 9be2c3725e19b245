#include "pipeline/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "text/normalize.h"

namespace stoka::pipeline {
namespace {

using Json = nlohmann::ordered_json;

// Writes interests the way the index writes tags.
std::vector<std::string> as_tags(const std::vector<std::string>& interests) {
  std::vector<std::string> out;
  for (const std::string& interest : interests) {
    std::string tag = text::fold(interest);
    std::replace(tag.begin(), tag.end(), ' ', '-');
    if (!tag.empty() && std::find(out.begin(), out.end(), tag) == out.end()) out.push_back(tag);
  }
  return out;
}

Result<std::string> parse_visitor_id(std::string_view id) {
  if (is_uuid(id)) return to_lower(id);
  return fail(ErrorKind::usage, fmt::format("the visitor is not a UUID: '{}'", text::one_line(id)),
              "use the visitor_id in the ready event of a chat");
}

}  // namespace

Result<VisitorLookup> look_up_visitor(store::SessionStore& sessions, const std::string& visitor_id,
                                      const std::string& subject, bool remote) {
  VisitorLookup out{visitor_id, {}};
  if (!subject.empty()) {
    STOKA_ASSIGN(out.stored, sessions.visitor_by_subject(subject));
    if (out.stored) return out;
  }
  if (visitor_id.empty()) return out;
  STOKA_ASSIGN(out.stored, sessions.visitor(visitor_id));
  const bool belongs_to_other =
      out.stored && !out.stored->subject.empty() && out.stored->subject != subject;
  return remote && belongs_to_other ? VisitorLookup() : out;
}

Result<Visitor> profile(store::SessionStore& sessions, std::string_view visitor_id) {
  STOKA_ASSIGN(const std::string id, parse_visitor_id(visitor_id));
  STOKA_ASSIGN(std::optional<Visitor> known, sessions.visitor(id));
  if (!known)
    return fail(ErrorKind::not_found, fmt::format("there is no visitor {}", id),
                "set interests to create the visitor");
  return std::move(*known);
}

Result<Visitor> update_profile(store::IndexReader& index, store::SessionStore& sessions,
                               std::string_view visitor_id,
                               const std::optional<std::vector<std::string>>& interests,
                               const std::vector<std::string>& read, Instant now) {
  STOKA_ASSIGN(const std::string id, parse_visitor_id(visitor_id));
  std::vector<HistoryEntry> readings;
  for (const std::string& slug : read) {
    STOKA_ASSIGN(const std::vector<store::StoredChunk> chunks, index.document_chunks(slug));
    if (chunks.empty())
      return fail(ErrorKind::not_found,
                  fmt::format("there is no document '{}'", text::one_line(slug)),
                  "list the slugs with: stoka status -v");
    readings.push_back({slug, now, 100});
  }
  std::optional<std::vector<std::string>> tags;
  if (interests) tags = as_tags(*interests);
  return sessions.update_visitor(id, tags, readings, now);
}

std::string to_json(const Visitor& visitor) {
  Json history = Json::array();
  for (const HistoryEntry& reading : visitor.history)
    history.push_back(
        {{"slug", reading.slug}, {"at", rfc3339(reading.at)}, {"scroll_pct", reading.scroll_pct}});
  return Json{{"visitor_id", visitor.id},
              {"interests", visitor.interests},
              {"reading_history", std::move(history)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoka::pipeline
