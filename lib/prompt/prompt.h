// Builds the messages for a chat completion from six prompt layers. The functions are pure and
// thread safe: the same input gives the same bytes.
//   0 identity  1 NEVER list  2 voice and golden exchanges  3 retrieved content  4 visitor
//   5 conversation: the last exchange as user and assistant messages, then the query
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/golden.h"
#include "model/event.h"
#include "model/hit.h"
#include "model/message.h"
#include "model/session.h"

namespace stoka::prompt {

struct Options {
  size_t budget = 2500;        // tokens that the system message may have, by estimate
  size_t full_exchanges = 10;  // how many turns are shown in full; earlier ones are summarised
};

struct Input {
  std::string query;
  std::vector<Hit> hits;  // the chunks that may be cited, best first
  Route route = Route::fresh;
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  PageContext page;
  Visitor visitor;
  Session session;                          // the session as it was before this turn
  bool returning = false;                   // whether the visitor had an earlier session
  std::vector<std::string> interests = {};  // tags by descending weight
  // The golden examples that the index can support; without a value all of them.
  std::optional<std::string> exchanges = {};
};

struct Layer {
  std::string name;  // the name of the layer, e.g. "0 identity"
  size_t tokens = 0;
};

// A chunk whose content was cut to fit the budget.
struct Cut {
  std::string slug;
  int chunk_index = 0;
  size_t tokens_before = 0;
  size_t tokens_after = 0;  // the tokens that are left; 0 if the whole chunk was left out
};

struct Prompt {
  std::vector<Message> messages;
  std::vector<Layer> layers;
  std::vector<Cut> cuts;
  size_t tokens = 0;  // the estimated tokens of all messages
};

// Builds the prompt. If the system message is over the budget, content is cut at ends of sentences,
// beginning with the chunk of the lowest rank. Layers 0 to 2 are never cut.
Prompt build_messages(const Input& input, const golden::Golden& golden,
                      const Options& options = {});

// Makes untrusted text harmless inside the prompt. Markup characters become entities, so that the
// text cannot close its block or forge a tag; the colon of a turn marker ("visitor:") becomes a
// dash; a bracket at the start of a line is escaped.
std::string neutralize(std::string_view untrusted);

}  // namespace stoka::prompt
