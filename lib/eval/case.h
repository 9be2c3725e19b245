// The input of an evaluation: cases (one judged turn each, perhaps after earlier turns),
// conversations, of which every turn is a case, and retrieval queries with their relevant
// documents. The file format is one JSON object a line; docs/eval.md lists the fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/session.h"

namespace stoka::pipeline {
class Catalog;
}

namespace stoka::eval {

inline constexpr int kNeverItems = 15;  // the number of items in the NEVER list

struct Case {
  std::string suite;         // "constraints", "dataset", "conversations"
  std::string id;            // unique in its suite; "ID#2" for the second turn of a conversation
  std::string conversation;  // the conversation's id if the case is a turn of one, else empty
  std::string category;
  std::string query;                // the question of the turn that is judged
  std::vector<std::string> before;  // questions of the earlier turns of the session
  PageContext page;
  std::vector<std::string> interests;  // the interests that the visitor has declared

  // What the case expects. An empty field expects nothing.
  std::optional<Route> route;
  std::string confidence;  // the expected confidence: "direct", "adjacent", "low" or "nothing"
  std::vector<std::string> ideal_cite;  // slugs of documents, one of which must be cited
  std::optional<bool> must_cite;
  std::vector<std::string> must_not_cite;
  size_t max_sentences = 3;   // how many sentences may follow each other without a citation
  std::string must_end_with;  // how the answer must end: "question", "cite" or a literal text
  std::string reply;          // the whole text that the visitor must see
  bool fail_if_summary = false;
  std::string tone;                                // "provocative", "flat", "terse"
  std::vector<std::string> fail_if;                // names of predicates
  std::vector<std::vector<std::string>> must_say;  // the answer must have a text of each list
  std::vector<std::string> must_not_say;
  std::vector<int> never;  // the items of the NEVER list, 1 to 15, that this case tests

  // If set, this text is used in place of the configured generator's output.
  std::optional<std::string> model;

  // A note that is shown in the report.
  std::string ideal;
  std::string note;
  std::string hash;  // a hash of what the case asks and expects
};

struct Query {
  std::string id;
  std::string text;
  // The gain, above zero, of each relevant slug; empty if no published document answers the query.
  std::map<std::string, double, std::less<>> relevant;
  std::string note;
  std::string hash;  // a hash of the question and the relevant documents
};

struct Cases {
  std::vector<Case> cases;  // the turns of a conversation follow each other
  std::vector<Query> queries;
  // Where each case or query was read: "dataset/ID" or "retrieval/ID" to "file:line".
  std::map<std::string, std::string> places;
};

// Parses lines and appends them to `out`. A line with the field "relevant" is a query; one with the
// field "turns" is a conversation, whose turns become cases of the suite "conversations"; every
// other line is a case. If `suite` is empty, the cases of a file called "constraints" belong to
// that suite and all others to "dataset". `file` is used in messages and default ids: a line
// without an id is called by file name and line number ("my-12"). A data error names file and line
// if a line is not a JSON object, has an unknown field or a wrong value, reuses an id, or
// contradicts itself; what was read before it stays in `out`.
Result<> read_cases(std::string_view text, const std::string& file, std::string_view suite,
                    Cases& out);

// The names of the fields of a case, a conversation and a query, in the order of docs/eval.md.
std::vector<std::string> case_fields();
std::vector<std::string> conversation_fields();
std::vector<std::string> query_fields();

// Fails with a data error (file, line and the nearest slug) if a case names a page that is not in
// the index, because such a case checks nothing or can never pass.
Result<> check_slugs(const Cases& cases, const pipeline::Catalog& catalog);

}  // namespace stoka::eval
