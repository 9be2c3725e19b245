#include "pipeline/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/json.h"
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

Error no_visitor(const Caller& caller, std::string hint) {
  return {ErrorKind::not_found,
          fmt::format("there is no visitor {}",
                      caller.visitor_id.empty() ? "with this subject" : caller.visitor_id),
          std::move(hint)};
}

}  // namespace

Result<VisitorLookup> look_up_visitor(store::SessionStore& sessions, const Caller& caller) {
  VisitorLookup out{caller.visitor_id, {}};
  if (!caller.subject.empty()) {
    STOKA_ASSIGN(out.stored, sessions.visitor_by_subject(caller.subject));
    if (out.stored) return out;
  }
  if (out.id.empty()) return out;
  STOKA_ASSIGN(out.stored, sessions.visitor(out.id));
  const bool foreign =
      claim_visitor(out.stored, std::nullopt, caller.subject) == VisitorClaim::foreign;
  return caller.remote && foreign ? VisitorLookup() : out;
}

Result<Visitor> profile(store::SessionStore& sessions, const Caller& caller) {
  STOKA_ASSIGN(VisitorLookup found, look_up_visitor(sessions, caller));
  if (!found.stored) return fail(no_visitor(caller, "set interests to create the visitor"));
  return std::move(*found.stored);
}

Result<Visitor> update_profile(store::IndexReader& index, store::SessionStore& sessions,
                               const Caller& caller,
                               const std::optional<std::vector<std::string>>& interests,
                               const std::vector<std::string>& read, Instant now) {
  STOKA_ASSIGN(const VisitorLookup found, look_up_visitor(sessions, caller));
  const std::string& id = found.stored ? found.stored->id : found.id;
  if (id.empty())
    return fail(no_visitor(caller, "use the visitor_id in the ready event of a chat"));
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
  return to_json_text(Json{{"visitor_id", visitor.id},
                           {"interests", visitor.interests},
                           {"reading_history", std::move(history)}});
}

}  // namespace stoka::pipeline
