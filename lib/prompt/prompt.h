// The six layers a model reads. Pure: no I/O, no clock; the same input gives the same bytes.
//   0 identity  1 NEVER list  2 voice and golden exchanges  3 retrieved content  4 visitor
//   5 conversation: the last exchange as real messages, then the query
#pragma once

#include <cstddef>
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
  size_t budget = 2500;        // tokens of the system message, estimated
  size_t full_exchanges = 10;  // beyond these, older turns are reduced to what they were about
};

struct Input {
  std::string query;
  std::vector<Hit> hits;  // best first, as they may be cited
  Route route = Route::fresh;
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  PageContext page;
  Visitor visitor;
  Session session;                          // before this turn
  bool returning = false;                   // the visitor was known before this session began
  std::vector<std::string> interests = {};  // what the visitor seems to care about, strongest first
};

struct Layer {
  std::string name;  // "0 identity", …
  size_t tokens = 0;
};

// Content that did not fit.
struct Cut {
  std::string slug;
  int chunk_index = 0;
  size_t tokens_before = 0;
  size_t tokens_after = 0;  // 0: the chunk was left out whole
};

struct Prompt {
  std::vector<Message> messages;
  std::vector<Layer> layers;
  std::vector<Cut> cuts;
  size_t tokens = 0;  // of all messages
};

// Over budget, content is cut from the lowest ranked chunk upward, at sentences; layers 0 to 2
// never.
Prompt build_messages(const Input& input, const golden::Golden& golden,
                      const Options& options = {});

// Text that is data inside the prompt: markup characters as entities, so that it cannot close its
// block or forge a tag, and words that open a turn ("visitor:") taken apart.
std::string neutralize(std::string_view untrusted);

}  // namespace stoka::prompt
