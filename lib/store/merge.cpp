#include "store/merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
#include "model/claim.h"
#include "store/json_columns.h"
#include "store/session_store.h"

namespace stoka::store {
namespace {

template <class T>
void keep_last(std::vector<T>& list, size_t limit) {
  if (list.size() <= limit) return;
  list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(limit));
}

void add_missing(std::vector<std::string>& list, std::span<const std::string> more) {
  for (const std::string& item : more) {
    std::string text = sanitize_text(item);
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
}

std::vector<std::string> sanitized(std::span<const std::string> texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(sanitize_text(text));
  return out;
}

Exchange sanitized(const Exchange& exchange) {
  Exchange out{sanitize_text(exchange.user), sanitize_text(exchange.assistant), {}};
  for (const CitationRecord& cited : exchange.citations)
    out.citations.push_back({sanitize_text(cited.slug), sanitize_text(cited.title),
                             sanitize_text(cited.quote), sanitize_text(cited.url)});
  return out;
}

// Returns the id of a new visitor with the turn's subject, when the visitor id of the turn belongs
// to another subject. The id is a hash, so that a client cannot choose an id that it knows.
std::string derive_visitor_id(const TurnRecord& turn) {
  return uuid_from_hash(turn.session_id + ' ' + turn.visitor_id + ' ' + turn.subject);
}

Result<> check_subject(const std::string& subject) {
  constexpr size_t kMaxBytes = 1024;  // bytes up to which every store can enforce uniqueness
  if (subject.size() > kMaxBytes)
    return fail(ErrorKind::usage, "the subject of a visitor is longer than 1024 bytes",
                "name users by a shorter subject");
  if (is_valid_text(subject)) return {};
  return fail(ErrorKind::usage, "the subject of a visitor is not valid UTF-8 without NUL",
              "check who signs the tokens");
}

}  // namespace

Result<> validate(const TurnRecord& turn) {
  STOKA_TRY(check_id("session", turn.session_id));
  STOKA_TRY(check_id("visitor", turn.visitor_id));
  return check_subject(turn.subject);
}

Result<> validate(const Visitor& visitor) {
  STOKA_TRY(check_id("visitor", visitor.id));
  return check_subject(visitor.subject);
}

Result<> validate(const Session& session) {
  STOKA_TRY(check_id("session", session.id));
  return check_id("visitor", session.visitor_id);
}

void merge_readings(std::vector<HistoryEntry>& history, std::span<const HistoryEntry> read) {
  std::map<std::string, HistoryEntry> latest;
  const auto take = [&](HistoryEntry reading) {
    reading.slug = sanitize_text(reading.slug);
    const auto [known, is_new] = latest.emplace(reading.slug, reading);
    if (!is_new && reading.at >= known->second.at) known->second = reading;
  };
  for (const HistoryEntry& reading : history) take(reading);
  for (const HistoryEntry& reading : read) take(reading);
  history.clear();
  for (auto& [slug, reading] : latest) {
    if (!slug.empty()) history.push_back(std::move(reading));
  }
  std::stable_sort(history.begin(), history.end(),
                   [](const HistoryEntry& a, const HistoryEntry& b) { return a.at < b.at; });
  keep_last(history, kMaxReadings);
}

void absorb(Visitor& known, const Visitor& other) {
  add_missing(known.interests, other.interests);
  merge_readings(known.history, other.history);
  known.first_seen = std::min(known.first_seen, other.first_seen);
  known.last_seen = std::max(known.last_seen, other.last_seen);
}

ResolvedVisitor resolve_visitor(const TurnRecord& turn, std::optional<Visitor> named,
                                std::optional<Visitor> of_subject) {
  ResolvedVisitor out;
  const VisitorClaim claim = claim_visitor(named, of_subject, turn.subject);
  if (claim == VisitorClaim::of_subject || claim == VisitorClaim::merge) {
    out.visitor = std::move(*of_subject);
    if (claim == VisitorClaim::merge) {
      absorb(out.visitor, *named);
      out.absorbed = named->id;
    }
  } else if (claim == VisitorClaim::unknown ||
             (claim == VisitorClaim::foreign && !turn.subject.empty())) {
    out.visitor.id = named ? derive_visitor_id(turn) : turn.visitor_id;
    out.visitor.first_seen = turn.at;
  } else {
    // A turn without a subject may name a visitor of someone else: the pipeline has allowed it.
    out.visitor = std::move(*named);
  }
  if (!turn.subject.empty()) out.visitor.subject = turn.subject;
  out.visitor.last_seen = std::max(out.visitor.last_seen, turn.at);
  return out;
}

Session session_after_turn(const TurnRecord& turn, std::optional<Session> known,
                           const std::string& visitor_id) {
  Session session;
  if (known) {
    session = std::move(*known);
    // A session moves to another visitor only if the turn has a verified subject.
    if (!turn.subject.empty()) session.visitor_id = visitor_id;
  } else {
    session.id = turn.session_id;
    session.visitor_id = visitor_id;
    session.started_at = turn.at;
  }
  add_missing(session.shown_slugs, turn.cited_slugs);
  const std::string topic = sanitize_text(turn.topic);
  if (!topic.empty() && topic != session.current_topic()) session.explored_topics.push_back(topic);
  if (!turn.exchange.user.empty()) session.exchanges.push_back(sanitized(turn.exchange));
  keep_last(session.exchanges, kMaxExchanges);
  ++session.turns;
  session.last_active = std::max(session.last_active, turn.at);
  return session;
}

Visitor visitor_after_update(std::string_view id, std::optional<Visitor> known,
                             const std::optional<std::vector<std::string>>& interests,
                             std::span<const HistoryEntry> read, Instant now) {
  Visitor visitor;
  if (known) {
    visitor = std::move(*known);
    visitor.last_seen = std::max(visitor.last_seen, now);
  } else {
    visitor.id = id;
    visitor.first_seen = now;
    visitor.last_seen = now;
  }
  if (interests) visitor.interests = sanitized(*interests);
  merge_readings(visitor.history, read);
  return visitor;
}

Visitor after_copy(const Visitor& copied, std::optional<Visitor> known) {
  Visitor visitor = known ? std::move(*known) : copied;
  if (known && copied.last_seen > visitor.last_seen) visitor.interests = copied.interests;
  if (visitor.subject.empty()) visitor.subject = copied.subject;
  visitor.interests = sanitized(visitor.interests);
  // The copied readings come first: of two readings of a page at the same time the later in the
  // list is kept.
  std::vector<HistoryEntry> history = copied.history;
  merge_readings(history, visitor.history);
  visitor.history = std::move(history);
  visitor.first_seen = std::min(visitor.first_seen, copied.first_seen);
  visitor.last_seen = std::max(visitor.last_seen, copied.last_seen);
  return visitor;
}

Session after_copy(const Session& copied, std::optional<Session> known) {
  Session session = known ? *known : copied;
  if (known && copied.last_active > known->last_active) {
    session.visitor_id = copied.visitor_id;
    session.explored_topics = copied.explored_topics;
    session.exchanges = copied.exchanges;
  }
  session.shown_slugs.clear();
  if (known) add_missing(session.shown_slugs, known->shown_slugs);
  add_missing(session.shown_slugs, copied.shown_slugs);
  session.explored_topics = sanitized(session.explored_topics);
  for (Exchange& exchange : session.exchanges) exchange = sanitized(exchange);
  keep_last(session.exchanges, kMaxExchanges);
  session.turns = std::max(session.turns, copied.turns);
  session.started_at = std::min(session.started_at, copied.started_at);
  session.last_active = std::max(session.last_active, copied.last_active);
  return session;
}

Error unknown_visitor(const Session& session) {
  return {ErrorKind::data,
          "the session " + session.id + " has an unknown visitor: " + session.visitor_id,
          "copy the visitors first"};
}

Result<ResolvedVisitor> resolve_copied_visitor(const Visitor& copied, std::optional<Visitor> known,
                                               std::optional<Visitor> of_subject) {
  if (known && !known->subject.empty() && !copied.subject.empty() &&
      known->subject != copied.subject) {
    return fail(ErrorKind::data, "the visitor " + copied.id + " has another subject in the target",
                "the two stores have different visitors with the same id");
  }
  ResolvedVisitor out;
  if (!of_subject || of_subject->id == copied.id) {
    out.visitor = after_copy(copied, std::move(known));
    return out;
  }
  out.visitor = std::move(*of_subject);
  if (known) {
    absorb(out.visitor, *known);
    out.absorbed = known->id;
  }
  absorb(out.visitor, after_copy(copied, std::nullopt));
  return out;
}

}  // namespace stoka::store
