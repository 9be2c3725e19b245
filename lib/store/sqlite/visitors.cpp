#include "store/sqlite/visitors.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "store/sqlite/rows.h"

namespace stoka::store::sqlite {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSelect =
    "SELECT id, subject, interests, reading_history, first_seen, last_seen FROM stoka_visitors "
    "WHERE ";

Instant instant(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

std::string history_json(std::span<const Reading> history) {
  Json list = Json::array();
  for (const Reading& reading : history) {
    list.push_back({{"slug", reading.slug},
                    {"timestamp", reading.at.time_since_epoch().count()},
                    {"scroll_pct", reading.scroll_pct}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Reading> history_from_json(std::string_view text) {
  std::vector<Reading> history;
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array()) return history;
  for (const Json& item : list) {
    if (!item.is_object()) continue;
    Reading reading;
    for (const auto& [key, value] : item.items()) {
      if (key == "slug" && value.is_string()) reading.slug = value.get<std::string>();
      if (key == "timestamp" && value.is_number_integer())
        reading.at = instant(value.get<int64_t>());
      if (key == "scroll_pct" && value.is_number_integer()) reading.scroll_pct = value.get<int>();
    }
    if (!reading.slug.empty()) history.push_back(std::move(reading));
  }
  return history;
}

Result<std::optional<Visitor>> find(Database& database, std::string_view condition,
                                    std::string_view value) {
  Statement rows = database.prepare(std::string(kSelect) + std::string(condition));
  rows.bind(value);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<Visitor>();
  Visitor visitor;
  visitor.id = rows.text(0);
  visitor.subject = rows.text(1);
  visitor.interests = texts_from_json(rows.text(2));
  visitor.history = history_from_json(rows.text(3));
  visitor.first_seen = instant(rows.integer(4));
  visitor.last_seen = instant(rows.integer(5));
  return visitor;
}

}  // namespace

Result<std::optional<Visitor>> load_visitor(Database& database, std::string_view id) {
  return find(database, "id = ?", id);
}

Result<std::optional<Visitor>> load_visitor_of(Database& database, std::string_view subject) {
  return find(database, "subject = ?", subject);
}

Result<> save_visitor(Database& database, const Visitor& visitor) {
  Statement save = database.prepare(
      "INSERT INTO stoka_visitors (id, interests, reading_history, first_seen, last_seen, subject) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET interests = excluded.interests, "
      "reading_history = excluded.reading_history, first_seen = excluded.first_seen, "
      "last_seen = excluded.last_seen, subject = excluded.subject");
  save.bind(visitor.id)
      .bind(to_json(visitor.interests))
      .bind(history_json(visitor.history))
      .bind(int64_t{visitor.first_seen.time_since_epoch().count()})
      .bind(int64_t{visitor.last_seen.time_since_epoch().count()});
  if (visitor.subject.empty()) {
    save.bind_null();
  } else {
    save.bind(visitor.subject);
  }
  return save.run();
}

void merge_readings(std::vector<Reading>& history, std::span<const Reading> read) {
  std::map<std::string, Reading> latest;
  const auto take = [&](const Reading& reading) {
    const auto [known, is_new] = latest.emplace(reading.slug, reading);
    if (!is_new && reading.at >= known->second.at) known->second = reading;
  };
  for (const Reading& reading : history) take(reading);
  for (const Reading& reading : read) take(reading);
  history.clear();
  for (auto& [slug, reading] : latest) history.push_back(std::move(reading));
  std::stable_sort(history.begin(), history.end(),
                   [](const Reading& a, const Reading& b) { return a.at < b.at; });
  if (history.size() > kMostReadings) {
    history.erase(history.begin(), history.end() - static_cast<std::ptrdiff_t>(kMostReadings));
  }
}

Result<Visitor> merge_visitor(Database& database, std::string_view id,
                              const std::optional<std::vector<std::string>>& interests,
                              std::span<const Reading> read, Instant now) {
  STOKA_ASSIGN(const std::optional<Visitor> known, load_visitor(database, id));
  Visitor visitor;
  if (known) {
    visitor = *known;
    visitor.last_seen = std::max(visitor.last_seen, now);
  } else {
    visitor.id = id;
    visitor.first_seen = now;
    visitor.last_seen = now;
  }
  if (interests) visitor.interests = *interests;
  merge_readings(visitor.history, read);
  STOKA_TRY(save_visitor(database, visitor));
  return visitor;
}

}  // namespace stoka::store::sqlite
