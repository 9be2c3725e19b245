#include "serve/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/suggestion.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::serve {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 8;
constexpr size_t kMaxPageBytes = 2048;
constexpr size_t kMaxTitleBytes = 512;
constexpr size_t kMaxSlugBytes = 256;
constexpr size_t kMaxSeenSlugs = 200;
constexpr size_t kMaxInterests = 50;
constexpr size_t kMaxReadSlugs = 100;

FieldError field_error(std::string field, std::string message, std::string hint = {}) {
  return {Error(ErrorKind::usage, std::move(message), std::move(hint)), std::move(field)};
}

std::string cut(std::string text, size_t max_bytes) {
  if (text.size() > max_bytes) text.resize(text::floor_char_boundary(text, max_bytes));
  return text;
}

// Reads the fields of a body one by one, and keeps the first error.
class Fields {
 public:
  Fields(std::string_view body, const std::vector<std::string>& known) { parse(body, known); }

  std::string text(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return refuse(name, fmt::format("{} is not a string", name)), "";
    return plain(value->get_ref<const std::string&>());
  }

  std::string uuid(const char* name) {
    std::string out = text(name);
    if (!out.empty() && !is_uuid(out))
      refuse(name, fmt::format("{} is not a UUID", name), "leave it out to start a new one");
    return out;
  }

  std::optional<int> integer(const char* name, int min, int max) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number_integer() && *value >= min && *value <= max;
    if (!fits)
      return refuse(name, fmt::format("{} is not a whole number from {} to {}", name, min, max)),
             std::nullopt;
    return value->get<int>();
  }

  std::optional<std::vector<std::string>> strings(const char* name, size_t max_items) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array() || value->size() > max_items)
      return refuse(name, fmt::format("{} is not a list of at most {} strings", name, max_items)),
             std::nullopt;
    std::vector<std::string> out;
    for (const Json& item : *value) {
      if (!item.is_string() || item.get_ref<const std::string&>().empty())
        return refuse(name, fmt::format("{} has an element that is not a string", name)),
               std::nullopt;
      out.push_back(plain(item.get_ref<const std::string&>()));
    }
    return out;
  }

  void refuse(std::string field, std::string message, std::string hint = {}) {
    if (!error_) error_ = field_error(std::move(field), std::move(message), std::move(hint));
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
          deep = deep || depth > kMaxDepth;
          if (event == Json::parse_event_t::key && depth == 1 &&
              !seen.insert(parsed.get_ref<const std::string&>()).second)
            repeated = shown_name(parsed.get_ref<const std::string&>());
          return true;
        },
        false);
    if (deep) return refuse("", "the body is nested too deeply");
    // The JSON parser takes a NUL for the end of the text and ignores what follows.
    if (json_.is_discarded() || body.find('\0') != std::string_view::npos)
      return refuse("", "the body is not valid JSON", "send an object in UTF-8");
    if (!json_.is_object()) return refuse("", "the body is not a JSON object");
    if (!repeated.empty())
      return refuse(repeated, fmt::format("the field '{}' occurs twice", repeated));
    for (const auto& [name, value] : json_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string shown = shown_name(name);
      return refuse(shown, fmt::format("unknown field '{}'{}", shown, did_you_mean(name, known)),
                    fmt::format("the fields are {}", fmt::join(known, ", ")));
    }
  }

  const Json* find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  static std::string shown_name(const std::string& name) { return cut(text::one_line(name), 60); }

  static std::string plain(const std::string& text) {
    return text.find('\0') == std::string::npos ? text : text::one_line(text);
  }

  Json json_;
  std::optional<FieldError> error_;
};

// What the client says about the page only helps to rank, so long values are cut or left out.
PageContext page_context(Fields& fields) {
  PageContext out;
  out.page = cut(fields.text("page"), kMaxPageBytes);
  auto seen = fields.strings("seen_slugs", SIZE_MAX).value_or(std::vector<std::string>());
  for (std::string& slug : seen)
    if (slug.size() <= kMaxSlugBytes && out.seen_slugs.size() < kMaxSeenSlugs)
      out.seen_slugs.push_back(std::move(slug));
  return out;
}

}  // namespace

ParsedBody<pipeline::TurnRequest> parse_chat_request(std::string_view body) {
  Fields fields(body, {"query", "session_id", "visitor_id", "page", "page_title", "scroll_pct",
                       "seen_slugs"});
  pipeline::TurnRequest out;
  out.remote = true;
  // clean_query() checks the length, which is limited in characters and not in bytes.
  out.query = fields.text("query");
  if (!fields.error())
    if (auto clean = pipeline::clean_query(out.query); !clean)
      fields.refuse("query", clean.error().message,
                    "send {\"query\":\"…\"} of 1 to 2000 characters");
  out.session_id = fields.uuid("session_id");
  out.visitor_id = fields.uuid("visitor_id");
  out.page = page_context(fields);
  out.page.page_title = cut(fields.text("page_title"), kMaxTitleBytes);
  out.page.scroll_pct = fields.integer("scroll_pct", 0, 100);
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

ParsedBody<pipeline::DiscoverRequest> parse_discover_request(std::string_view body) {
  Fields fields(body, {"visitor_id", "page", "seen_slugs", "limit"});
  pipeline::DiscoverRequest out;
  out.remote = true;
  out.visitor_id = fields.uuid("visitor_id");
  out.page = page_context(fields);
  out.limit = fields.integer("limit", 1, 10).value_or(out.limit);
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

ParsedBody<ProfileUpdate> parse_profile_update(std::string_view body) {
  Fields fields(body, {"visitor_id", "interests", "read"});
  ProfileUpdate out;
  out.visitor_id = fields.uuid("visitor_id");
  out.interests = fields.strings("interests", kMaxInterests);
  out.read = fields.strings("read", kMaxReadSlugs).value_or(std::vector<std::string>());
  if (out.visitor_id.empty())
    fields.refuse("visitor_id", "visitor_id is missing",
                  "take it from the ready event of an answer");
  if (!out.interests && out.read.empty())
    fields.refuse("", "there is nothing to set", "send interests, read, or both");
  if (fields.error()) return tl::unexpected(*fields.error());
  return out;
}

}  // namespace stoka::serve
