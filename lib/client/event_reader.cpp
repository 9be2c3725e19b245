#include "client/event_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "net/json_text.h"

namespace stoka::client {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> kNames = {"ready", "token", "cite", "done", "error"};

// Reads the fields of an event, and keeps the name of the first one that is missing or wrong.
class EventFields {
 public:
  explicit EventFields(const Json& json) : json_(json) {}

  std::string text(const char* name) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_string()) return bad(name), std::string();
    return found->get<std::string>();
  }
  bool boolean(const char* name) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_boolean()) return bad(name), false;
    return found->get<bool>();
  }
  double number(const char* name) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_number()) return bad(name), 0;
    return found->get<double>();
  }
  int64_t count(const char* name, int64_t max) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_number_integer()) return bad(name), 0;
    // A number above the signed range is stored as unsigned.
    if (found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(max))
      return bad(name), 0;
    const auto out = found->get<int64_t>();
    if (out < 0) bad(name);
    return out;
  }
  // A field that is null or missing, as from an older server, gives an empty value.
  std::string text_or_null(const char* name) {
    const Json* const found = find(name);
    return found == nullptr || found->is_null() ? std::string() : text(name);
  }
  template <class T>
  T one_of(const char* name, std::initializer_list<T> known) {
    const std::string word = text(name);
    for (const T value : known)
      if (stoka::to_string(value) == word) return value;
    bad(name);
    return *known.begin();
  }

  const std::optional<std::string>& wrong() const { return wrong_; }

 private:
  const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }
  void bad(const char* name) {
    if (!wrong_) wrong_ = name;
  }

  const Json& json_;
  std::optional<std::string> wrong_;
};

// A kind that this version does not know is drawn as a block.
CiteKind cite_kind(std::string_view name) {
  for (const CiteKind kind : {CiteKind::product, CiteKind::inline_quote})
    if (name == stoka::to_string(kind)) return kind;
  return CiteKind::block;
}

Event event(std::string_view name, EventFields& fields) {
  if (name == "ready")
    return ReadyEvent{fields.text("session_id"), fields.text("visitor_id"),
                      fields.one_of("route", {Route::meta, Route::offtopic, Route::followup,
                                              Route::fresh, Route::nothing})};
  if (name == "token") return TokenEvent{fields.text("text")};
  if (name == "cite")
    return CiteEvent{{.slug = fields.text("slug"),
                      .title = fields.text("title"),
                      .quote = fields.text("quote"),
                      .type = fields.text("type"),
                      .reading_time = fields.text("reading_time"),
                      .date = fields.text("date"),
                      .url = fields.text_or_null("url"),
                      .score = fields.number("score"),
                      .kind = cite_kind(fields.text_or_null("kind")),
                      .published = parse_date(fields.text_or_null("published"))}};
  if (name == "done")
    return DoneEvent{static_cast<int>(fields.count("turns", std::numeric_limits<int>::max())),
                     fields.one_of("confidence",
                                   {Confidence::direct, Confidence::adjacent, Confidence::nothing}),
                     fields.count("latency_ms", std::numeric_limits<int64_t>::max())};
  return ErrorEvent{fields.text("message"), fields.boolean("retryable")};
}

}  // namespace

Result<Event> read_event(std::string_view name, std::string_view data) {
  const auto known = std::find(kNames.begin(), kNames.end(), name);
  if (known == kNames.end()) return fail(ErrorKind::protocol, "an event with an unknown name");
  STOKA_ASSIGN(const std::string text, net::repair_json(data));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    return fail(ErrorKind::protocol,
                fmt::format("the data of a {} event is not a JSON object", *known));
  EventFields fields(json);
  Event out = event(name, fields);
  if (fields.wrong())
    return fail(ErrorKind::protocol,
                fmt::format("a {} event with a missing or wrong '{}'", *known, *fields.wrong()));
  return out;
}

Result<> EventReader::push(std::string_view bytes) {
  Result<> result;
  const Result<> decoded = decoder_.push(bytes, [&](const net::SseEvent& event) {
    result = take(event);
    return result.has_value();
  });
  return result ? decoded : result;
}

Result<> EventReader::take(const net::SseEvent& event) {
  if (std::find(kNames.begin(), kNames.end(), event.type) == kNames.end()) return {};
  if (over_)
    return fail(ErrorKind::protocol, fmt::format("a {} event after the last one", event.type));
  const bool ready = event.type == "ready";
  if (ready && began_) return fail(ErrorKind::protocol, "a second ready event");
  if (!ready && !began_)
    return fail(ErrorKind::protocol, fmt::format("a {} event before ready", event.type));
  STOKA_ASSIGN(const Event read, read_event(event.type, event.data));
  began_ = true;
  over_ = event.type == "done" || event.type == "error";
  sink_(read);
  return {};
}

Result<> EventReader::end() const {
  if (over_) return {};
  return fail(ErrorKind::protocol, "the answer ended without a done or error event");
}

}  // namespace stoka::client
