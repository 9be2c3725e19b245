#include "serve/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/nearest.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::serve {
namespace {

using Json = nlohmann::json;

constexpr int kMostDepth = 8;
constexpr size_t kMaxPageBytes = 2048;  // bytes
constexpr size_t kMostTitle = 512;
constexpr size_t kMostSlug = 256;
constexpr size_t kMostSeen = 200;
constexpr size_t kMostInterests = 50;
constexpr size_t kMostRead = 100;

FieldError wrong(std::string field, std::string message, std::string hint = {}) {
  return {Error(ErrorKind::usage, std::move(message), std::move(hint)), std::move(field)};
}

// Fields are taken one by one. The first thing that is wrong with any of them stays.
class Fields {
 public:
  Fields(std::string_view body, const std::vector<std::string>& known) { parse(body, known); }

  std::string text(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return refuse(name, fmt::format("{} is no string", name)), "";
    return plain(value->get_ref<const std::string&>());
  }

  std::string uuid(const char* name) {
    std::string out = text(name);
    if (!out.empty() && !is_uuid(out))
      refuse(name, fmt::format("{} is not a UUID", name), "leave it out to start a new one");
    return out;
  }

  std::optional<int> integer(const char* name, int least, int most) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number_integer() && *value >= least && *value <= most;
    if (!fits)
      return refuse(name, fmt::format("{} is not a whole number from {} to {}", name, least, most)),
             std::nullopt;
    return value->get<int>();
  }

  std::optional<std::vector<std::string>> texts(const char* name, size_t most) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array() || value->size() > most)
      return refuse(name, fmt::format("{} is no list of at most {} strings", name, most)),
             std::nullopt;
    std::vector<std::string> out;
    for (const Json& item : *value) {
      if (!item.is_string() || item.get_ref<const std::string&>().empty())
        return refuse(name, fmt::format("{} has something in it that is no string", name)),
               std::nullopt;
      out.push_back(plain(item.get_ref<const std::string&>()));
    }
    return out;
  }

  void refuse(std::string field, std::string message, std::string hint = {}) {
    if (!error_) error_ = wrong(std::move(field), std::move(message), std::move(hint));
  }
  const std::optional<FieldError>& error() const { return error_; }

 private:
  void parse(std::string_view body, const std::vector<std::string>& known) {
    std::set<std::string> seen;
    std::string repeated;
    bool deep = false;
    json_ = Json::parse(
        body,
        [&](int depth, Json::parse_event_t event, Json& parsed) {
          deep = deep || depth > kMostDepth;
          if (event == Json::parse_event_t::key && depth == 1 &&
              !seen.insert(parsed.get_ref<const std::string&>()).second)
            repeated = parsed.get_ref<const std::string&>();
          return true;
        },
        false);
    if (deep) return refuse("", "the body is nested too deeply");
    // The parser takes a NUL for the end, and what follows for nothing.
    if (json_.is_discarded() || body.find('\0') != std::string_view::npos)
      return refuse("", "the body is not valid JSON", "send an object in UTF-8");
    if (!json_.is_object()) return refuse("", "the body is no JSON object");
    if (!repeated.empty()) return refuse(repeated, fmt::format("'{}' is there twice", repeated));
    for (const auto& [name, value] : json_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string shown = text::one_line(name).substr(0, 60);
      return refuse(shown, fmt::format("unknown field '{}'{}", shown, did_you_mean(name, known)),
                    fmt::format("known are {}", fmt::join(known, ", ")));
    }
  }

  const Json* find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  static std::string plain(const std::string& text) {
    return text.find('\0') == std::string::npos ? text : text::one_line(text);
  }

  Json json_;
  std::optional<FieldError> error_;
};

// Hints, of which a page knows no limits: what is too long is cut or left out.
std::string cut(std::string text, size_t most) {
  if (text.size() > most) text.resize(text::floor_border(text, most));
  return text;
}

PageContext page_context(Fields& fields) {
  PageContext out;
  out.page = cut(fields.text("page"), kMaxPageBytes);
  auto seen = fields.texts("seen_slugs", SIZE_MAX).value_or(std::vector<std::string>());
  for (std::string& slug : seen)
    if (slug.size() <= kMostSlug && out.seen_slugs.size() < kMostSeen)
      out.seen_slugs.push_back(std::move(slug));
  return out;
}

}  // namespace

Read<pipeline::TurnRequest> read_chat(std::string_view body) {
  Fields fields(body, {"query", "session_id", "visitor_id", "page", "page_title", "scroll_pct",
                       "seen_slugs"});
  pipeline::TurnRequest out;
  out.remote = true;
  // The limit is in characters, and clean_query() knows it.
  out.query = fields.text("query");
  if (!fields.error())
    if (auto clean = pipeline::clean_query(out.query); !clean)
      fields.refuse("query", clean.error().message,
                    "send {\"query\":\"…\"} of 1 to 2000 characters");
  out.session_id = fields.uuid("session_id");
  out.visitor_id = fields.uuid("visitor_id");
  out.page = page_context(fields);
  out.page.page_title = cut(fields.text("page_title"), kMostTitle);
  out.page.scroll_pct = fields.integer("scroll_pct", 0, 100);
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

Read<pipeline::DiscoverRequest> read_discover(std::string_view body) {
  Fields fields(body, {"visitor_id", "page", "seen_slugs", "limit"});
  pipeline::DiscoverRequest out;
  out.remote = true;
  out.visitor_id = fields.uuid("visitor_id");
  out.page = page_context(fields);
  out.limit = fields.integer("limit", 1, 10).value_or(out.limit);
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

Read<ProfileUpdate> read_profile(std::string_view body) {
  Fields fields(body, {"visitor_id", "interests", "read"});
  ProfileUpdate out;
  out.visitor_id = fields.uuid("visitor_id");
  out.interests = fields.texts("interests", kMostInterests);
  out.read = fields.texts("read", kMostRead).value_or(std::vector<std::string>());
  if (out.visitor_id.empty())
    fields.refuse("visitor_id", "visitor_id is missing", "an answer's ready event has it");
  if (!out.interests && out.read.empty())
    fields.refuse("", "nothing to set", "send interests, read, or both");
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

}  // namespace stoka::serve
