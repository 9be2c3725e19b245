// What to read next, and one ambient line about a page. No generator in the way.
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
  std::optional<std::string> framing;  // one line; empty when nothing frames it
};

struct Recommendations {
  std::vector<Recommendation> items;            // best first, one a document
  Confidence confidence = Confidence::nothing;  // at least adjacent when there are items
  std::vector<Hit> hits;                        // of the items, with receipts, for --explain
  std::vector<session::Interest> interests;     // what steered them
};

struct DiscoverRequest {
  std::string visitor_id;  // UUID or empty
  PageContext page;
  int limit = 3;             // 1..10
  bool framing = true;       // whether the generator is asked for a line above each
  std::string subject = {};  // of a verified token
  bool remote = false;       // see TurnRequest
};

// Recommends neighbours of the page, or of the visitor's interests when there is no page, or the
// newest documents when there is neither. Never the page itself nor what was seen. As many as asked
// for if the index has them.
Result<Recommendations> discover(Engine& engine, const DiscoverRequest& request,
                                 std::stop_token stop = {});

struct Ambient {
  std::string hint;  // empty: nothing to say
  std::optional<Citation> citation;
};

// A hand-written hint for known pages and for products; for any other page that is a document, the
// best adjacent chunk of another one.
Result<Ambient> ambient(Engine& engine, const std::string& page, std::stop_token stop = {});

// {"recommendations":[{the fields of a cite event, framing}],"confidence"}
std::string to_json(const Recommendations& recommendations);
// {"hint","cite"}: null where there is nothing
std::string to_json(const Ambient& ambient);

}  // namespace stoka::pipeline
