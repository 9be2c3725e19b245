// What a case says is due, checked against what a visitor saw. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "eval/answer.h"
#include "eval/case.h"
#include "eval/predicates.h"
#include "model/document.h"

namespace stoka::eval {

// A cited document as it is in the index.
struct Published {
  Document document;
  std::vector<std::string> contents;  // of all chunks, in order
};
using Publications = std::map<std::string, Published, std::less<>>;  // by slug

struct Score {
  std::string name;
  bool ok = false;
  std::string why;  // it is not ok
};

// Every score that applies, in this order:
//   citation_hit     one of ideal_cite is cited                          (the seed's six)
//   brevity          at most max_sentences follow each other without a citation
//   no_greeting
//   ends_provocative an answer that was generated, and is not the case's own,
//                    ends in a question or has a citation
//   no_exclamation
//   no_summary       where fail_if_summary
//   route            is the one that is due
//   void             exactly when the route that is due is void
//   confidence       is the one that is due
//   must_cite        a citation where it is true, none where it is false
//   citation_in_5    one of ideal_cite is among the five best
//   not_cited        none of must_not_cite is
//   quote_verified   each quote stands in its document, and title, type, date and reading time are
//                    those of the index
//   no_repeat        no citation was shown before in the session
//   ends_with, reply, tone, not_said, and no_NAME for each predicate of fail_if
// `published` holds the documents that are cited; one that it lacks does not exist.
std::vector<Score> judge(const Case& due, const Answer& answer, const Publications& published,
                         const Phrases& phrases);

}  // namespace stoka::eval
