// Scores an answer against what its case expects. Pure.
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
struct CitedDocument {
  Document document;
  std::vector<std::string> contents;  // the texts of all chunks of the document, in order
};
using CitedDocuments = std::map<std::string, CitedDocument, std::less<>>;  // keyed by slug

struct Score {
  std::string name;
  bool ok = false;
  std::string why;  // why the score failed; empty if ok is true
};

// Every score that applies, in this order:
//   citation_hit     one of ideal_cite is cited
//   brevity          at most max_sentences follow each other without a citation
//   no_greeting
//   ends_provocative a generated answer, unless the case itself scripts it, ends in a question or
//                    has a citation
//   no_exclamation
//   no_summary       the predicate "summary" does not match; only if fail_if_summary is set
//   route            the route is the expected one
//   void             the route is void if and only if void is expected
//   confidence       the confidence is the expected one
//   must_cite        there is a citation if must_cite is true, none if it is false
//   citation_in_5    one of ideal_cite is among the five best hits
//   not_cited        none of must_not_cite is cited
//   quote_verified   each quote is in its document, and title, type, date and reading time are
//                    those of the index
//   no_repeat        no citation was shown before in the session
//   ends_with, reply, tone, said, not_said, and no_NAME for each predicate of fail_if
// In a conversation, a page may be cited again and a turn may be answered in one line, so that
// ends_provocative, citation_in_5 and no_repeat do not apply, but these scores do:
//   first_citation     if there is a citation and ideal_cite is given, the first is one of them
//   no_repeated_line   no line of the voice was said in an earlier turn
//   no_repeated_quote  no quote was shown in an earlier turn, unless the answer points "above"
// `cited` holds the cited documents; a slug that is not in it is not published.
std::vector<Score> judge(const Case& test_case, const Answer& answer, const CitedDocuments& cited,
                         const Phrases& phrases);

}  // namespace stoka::eval
