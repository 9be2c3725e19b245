// Who is asking, and what this conversation has already seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace stoka {

// A citation as a session keeps it.
struct Cited {
  std::string slug;
  std::string title = {};
  std::string quote = {};
  std::string url = {};  // as it was shown; may be empty
  bool operator==(const Cited&) const = default;
};

struct Exchange {
  std::string user;
  std::string assistant;     // visible text, without citations
  std::vector<Cited> cited;  // in the order shown
};

// A page that the visitor has read.
struct Reading {
  std::string slug;
  Instant at{};
  int scroll_pct = 100;
};

struct Visitor {
  std::string id;                      // UUID
  std::string subject;                 // of a verified token; empty if anonymous
  std::vector<std::string> interests;  // declared, in the order declared, folded
  std::vector<Reading> history;        // oldest first
  Instant first_seen{};
  Instant last_seen{};
};

struct Session {
  std::string id;  // UUID
  std::string visitor_id;
  std::vector<std::string> shown_slugs;      // a set, in the order first shown
  std::vector<std::string> explored_topics;  // in order; the last is the current topic
  int turns = 0;
  std::vector<Exchange> exchanges;  // the last few, oldest first
  Instant started_at{};
  Instant last_active{};

  bool has_shown(std::string_view slug) const;
  std::string current_topic() const {
    return explored_topics.empty() ? "" : explored_topics.back();
  }
};

// What the caller knows about the moment of asking. All of it is untrusted.
struct PageContext {
  std::string page;  // "/blog/slug"; may be empty
  std::string page_title;
  std::optional<int> scroll_pct;        // 0..100
  std::vector<std::string> seen_slugs;  // the client's own reading history
};

// What one turn adds to its session and visitor.
struct TurnRecord {
  std::string session_id;
  std::string visitor_id;
  std::string subject;             // may be empty
  std::vector<std::string> cited;  // joins shown_slugs
  std::string topic;               // appended to explored_topics unless empty or already the last
  Exchange exchange;               // becomes the last exchange; without a user's words none does
  Instant at{};
};

}  // namespace stoka
