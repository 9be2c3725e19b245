// What is asked and what is due: a case (one judged turn, perhaps after others), and a retrieval
// query with its relevant documents. One JSON object a line; docs/eval.md lists the fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/session.h"

namespace stoka::eval {

inline constexpr int kNeverItems = 15;  // of the NEVER list

struct Case {
  std::string suite;  // "constraints", "dataset"
  std::string id;     // unique in its suite
  std::string category;
  std::string query;                // of the turn that is judged
  std::vector<std::string> before;  // earlier turns of its session
  PageContext page;
  std::vector<std::string> interests;  // declared

  // What is due. Empty: nothing is asked of that.
  std::optional<Route> route;
  std::string confidence;               // "direct", "adjacent", "low", "nothing"
  std::vector<std::string> ideal_cite;  // one of them
  std::optional<bool> must_cite;
  std::vector<std::string> must_not_cite;
  size_t max_sentences = 3;   // in a row without a citation
  std::string must_end_with;  // "question", "cite" or literal text
  std::string reply;          // the whole visible text
  bool fail_if_summary = false;
  std::string tone;                  // "provocative", "flat", "terse"
  std::vector<std::string> fail_if;  // predicates by name
  std::vector<std::string> must_not_say;
  std::vector<int> never;  // items of the NEVER list that it tests, 1..15

  // What a model would have written, in place of the configured generator.
  std::optional<std::string> model;

  // For who reads the report.
  std::string ideal;
  std::string note;
  std::string hash;  // of what is asked and what is due
};

struct Query {
  std::string id;
  std::string text;
  // Slug to gain, above zero. Empty: nothing that is published answers it.
  std::map<std::string, double, std::less<>> relevant;
  std::string note;
  std::string hash;  // of the question and what is relevant
};

struct Cases {
  std::vector<Case> cases;
  std::vector<Query> queries;
  // Where each was read: "dataset/ID" or "retrieval/ID" to "file:line".
  std::map<std::string, std::string> places;
};

// Reads lines and adds them. `file` is for messages. A line with "relevant" is a query; another is
// a case, of `suite`, or where that is empty of the constraints if the file is called so, else of
// the dataset. A line without an id is known by file and line ("my-12"). A data error names file
// and line: what is no JSON object, has an unknown field (and which is meant), a wrong value, an id
// that is taken, or asks for what contradicts itself. What was read before it stays.
Result<> read_cases(std::string_view text, const std::string& file, std::string_view suite,
                    Cases& out);

// The names of the fields of a case and of a query, in the order of docs/eval.md.
std::vector<std::string> case_fields();
std::vector<std::string> query_fields();

}  // namespace stoka::eval
