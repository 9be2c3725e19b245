#include "store/sqlite/sessions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "store/sqlite/rows.h"
#include "store/sqlite/visitors.h"

namespace stoka::store::sqlite {
namespace {

using Json = nlohmann::ordered_json;

Instant instant(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

std::string exchanges_json(const std::vector<Exchange>& exchanges) {
  Json list = Json::array();
  for (const Exchange& exchange : exchanges) {
    list.push_back(
        {{"user", exchange.user}, {"assistant", exchange.assistant}, {"cited", exchange.cited}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Exchange> exchanges_from_json(std::string_view text) {
  std::vector<Exchange> exchanges;
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array()) return exchanges;
  for (const Json& item : list) {
    if (!item.is_object()) continue;
    Exchange& exchange = exchanges.emplace_back();
    for (const auto& [key, value] : item.items()) {
      if (key == "user" && value.is_string()) exchange.user = value.get<std::string>();
      if (key == "assistant" && value.is_string()) exchange.assistant = value.get<std::string>();
      if (key == "cited" && value.is_array()) exchange.cited = texts_from_json(value.dump());
    }
  }
  return exchanges;
}

Result<> save_session(Database& database, const Session& session) {
  return database
      .prepare(
          "INSERT INTO stoka_sessions (id, visitor_id, shown_slugs, explored_topics, turns, "
          "last_exchange, started_at, last_active) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (id) DO UPDATE SET visitor_id = excluded.visitor_id, "
          "shown_slugs = excluded.shown_slugs, explored_topics = excluded.explored_topics, "
          "turns = excluded.turns, last_exchange = excluded.last_exchange, "
          "last_active = excluded.last_active")
      .bind(session.id)
      .bind(session.visitor_id)
      .bind(to_json(session.shown_slugs))
      .bind(to_json(session.explored_topics))
      .bind(int64_t{session.turns})
      .bind(exchanges_json(session.exchanges))
      .bind(int64_t{session.started_at.time_since_epoch().count()})
      .bind(int64_t{session.last_active.time_since_epoch().count()})
      .run();
}

// Gives all that an anonymous visitor has to a known one.
Result<> absorb(Database& database, Visitor& known, const Visitor& anonymous) {
  for (const std::string& interest : anonymous.interests) {
    if (std::find(known.interests.begin(), known.interests.end(), interest) ==
        known.interests.end()) {
      known.interests.push_back(interest);
    }
  }
  merge_readings(known.history, anonymous.history);
  known.first_seen = std::min(known.first_seen, anonymous.first_seen);
  known.last_seen = std::max(known.last_seen, anonymous.last_seen);
  STOKA_TRY(database.prepare("UPDATE stoka_sessions SET visitor_id = ? WHERE visitor_id = ?")
                .bind(known.id)
                .bind(anonymous.id)
                .run());
  return database.prepare("DELETE FROM stoka_visitors WHERE id = ?").bind(anonymous.id).run();
}

// The visitor that the turn belongs to, as saved.
Result<Visitor> settle_visitor(Database& database, const TurnRecord& turn) {
  STOKA_ASSIGN(std::optional<Visitor> named, load_visitor(database, turn.visitor_id));
  std::optional<Visitor> owner = named;
  if (!turn.subject.empty() && !(named && named->subject == turn.subject)) {
    STOKA_ASSIGN(owner, load_visitor_of(database, turn.subject));
    if (owner) {
      if (named && named->subject.empty()) STOKA_TRY(absorb(database, *owner, *named));
    } else if (named && named->subject.empty()) {
      owner = named;
    }
  }
  Visitor visitor;
  if (owner) {
    visitor = std::move(*owner);
  } else {
    // The id that the turn names may be another subject's; its session's id is free for sure.
    visitor.id = named ? turn.session_id : turn.visitor_id;
    visitor.first_seen = turn.at;
  }
  if (!turn.subject.empty()) visitor.subject = turn.subject;
  visitor.last_seen = std::max(visitor.last_seen, turn.at);
  STOKA_TRY(save_visitor(database, visitor));
  return visitor;
}

}  // namespace

Result<std::optional<Session>> load_session(Database& database, std::string_view id) {
  Statement rows = database.prepare(
      "SELECT id, visitor_id, shown_slugs, explored_topics, turns, last_exchange, started_at, "
      "last_active FROM stoka_sessions WHERE id = ?");
  rows.bind(id);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<Session>();
  Session session;
  session.id = rows.text(0);
  session.visitor_id = rows.text(1);
  session.shown_slugs = texts_from_json(rows.text(2));
  session.explored_topics = texts_from_json(rows.text(3));
  session.turns = static_cast<int>(rows.integer(4));
  session.exchanges = exchanges_from_json(rows.text(5));
  session.started_at = instant(rows.integer(6));
  session.last_active = instant(rows.integer(7));
  return session;
}

Result<Session> merge_turn(Database& database, const TurnRecord& turn) {
  STOKA_ASSIGN(const Visitor visitor, settle_visitor(database, turn));
  STOKA_ASSIGN(std::optional<Session> known, load_session(database, turn.session_id));
  Session session;
  if (known) {
    session = std::move(*known);
    // Only a verified subject can take a session over.
    if (!turn.subject.empty()) session.visitor_id = visitor.id;
  } else {
    session.id = turn.session_id;
    session.visitor_id = visitor.id;
    session.started_at = turn.at;
  }
  for (const std::string& slug : turn.cited) {
    if (!session.has_shown(slug)) session.shown_slugs.push_back(slug);
  }
  if (!turn.topic.empty() && turn.topic != session.current_topic()) {
    session.explored_topics.push_back(turn.topic);
  }
  if (!turn.exchange.user.empty()) session.exchanges.push_back(turn.exchange);
  if (session.exchanges.size() > kMostExchanges) {
    session.exchanges.erase(session.exchanges.begin(),
                            session.exchanges.end() - static_cast<std::ptrdiff_t>(kMostExchanges));
  }
  ++session.turns;
  session.last_active = std::max(session.last_active, turn.at);
  STOKA_TRY(save_session(database, session));
  return session;
}

Result<std::vector<std::string>> load_all_shown_slugs(Database& database) {
  std::set<std::string> slugs;
  Statement rows = database.prepare("SELECT shown_slugs FROM stoka_sessions");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return std::vector<std::string>(slugs.begin(), slugs.end());
    for (std::string& slug : texts_from_json(rows.text(0))) slugs.insert(std::move(slug));
  }
}

}  // namespace stoka::store::sqlite
