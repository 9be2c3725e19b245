// Visitors, their sessions, and what one turn adds to both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace stoka {

// A citation as it is stored with a session.
struct CitationRecord {
  std::string slug;
  std::string title = {};
  std::string quote = {};
  std::string url = {};  // the URL as it was shown; may be empty
  bool operator==(const CitationRecord&) const = default;
};

// One question and its answer.
struct Exchange {
  std::string user;
  std::string assistant;                  // the visible text of the answer, without citations
  std::vector<CitationRecord> citations;  // the citations in the order shown
};

// A page in the reading history of a visitor.
struct HistoryEntry {
  std::string slug;
  Instant at{};
  int scroll_pct = 100;
};

struct Visitor {
  std::string id;       // the id of the visitor, a UUID
  std::string subject;  // the subject of a verified token; empty for an anonymous visitor
  std::vector<std::string> interests;  // declared interests, folded, in the order of declaration
  std::vector<HistoryEntry> history;   // pages that were read, oldest first
  Instant first_seen{};
  Instant last_seen{};
};

struct Session {
  std::string id;  // the id of the session, a UUID
  std::string visitor_id;
  std::vector<std::string>
      shown_slugs;  // slugs without duplicates, in the order in which they were first shown
  std::vector<std::string> explored_topics;  // explored topics; the last is the current one
  int turns = 0;
  std::vector<Exchange> exchanges;  // the most recent questions and answers, oldest first
  Instant started_at{};
  Instant last_active{};

  bool has_shown(std::string_view slug) const;
  std::string current_topic() const {
    return explored_topics.empty() ? "" : explored_topics.back();
  }
};

// What the client says about the page on which the question is asked. All members are untrusted.
struct PageContext {
  std::string page;  // the path of the page, e.g. "/blog/slug"; may be empty
  std::string page_title;
  std::optional<int> scroll_pct;        // how far the visitor has scrolled, 0 to 100
  std::vector<std::string> seen_slugs;  // the reading history that the client keeps
};

// What one turn adds to its session and visitor.
struct TurnRecord {
  std::string session_id;
  std::string visitor_id;
  std::string subject;                   // the subject of a verified token; may be empty
  std::vector<std::string> cited_slugs;  // slugs to add to Session::shown_slugs
  std::string topic;  // a topic, appended to explored_topics unless it is empty or already the last
  Exchange exchange;  // becomes the last exchange, unless its question is empty
  Instant at{};
};

}  // namespace stoka
