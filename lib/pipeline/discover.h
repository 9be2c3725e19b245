// Recommends what to read next, and finds one ambient line for a page.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/session.h"
#include "pipeline/engine.h"

namespace stoka::pipeline {

struct Recommendation {
  Citation citation;
  std::optional<std::string> framing;  // a line of the generator, if it has written one
};

struct Recommendations {
  std::vector<Recommendation> items;            // best first, one for each document
  Confidence confidence = Confidence::nothing;  // at least adjacent when there are items
  std::vector<Hit> hits;                     // the hits of the items with receipts, for --explain
  std::vector<session::Interest> interests;  // the interests that the search used
};

struct DiscoverRequest {
  std::string visitor_id;  // the id of the visitor: a UUID or empty
  PageContext page;
  int limit = 3;             // the number of items, 1 to 10
  bool framing = true;       // whether to ask the generator for a line above each item
  std::string subject = {};  // the subject of a verified token, or empty
  bool remote = false;       // whether the request comes from another machine, see TurnRequest
};

// Recommends documents related to the page, or to the visitor's interests if there is no page. If
// they are fewer than requested, the newest documents follow. The page itself, what the visitor has
// read and what the client has seen are left out. The generator is asked only for the framing
// lines. Usage errors: a limit out of range, a visitor_id that is not a UUID.
Result<Recommendations> discover(Engine& engine, const DiscoverRequest& request,
                                 std::stop_token stop = {});

// The query for a search for documents related to the given one.
std::string related_query(const Document& document);

struct Ambient {
  std::string hint;  // the text of the hint; empty if there is none
  std::optional<Citation> citation;
};

// Returns a hand-written hint for known pages and for products. For another page that is a document
// it returns a hint and a citation of a related document. For an unknown page both are empty.
Result<Ambient> ambient(Engine& engine, const std::string& page, std::stop_token stop = {});

// Writes {"recommendations":[{the fields of a cite event, and framing}],"confidence"}.
std::string to_json(const Recommendations& recommendations);
// Writes {"hint","cite"}; each of the two is null if it is empty.
std::string to_json(const Ambient& ambient);

}  // namespace stoka::pipeline
