// The questions of the acceptance checks: fixed ones for the sample site, and questions made from
// the newest pages for another site.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "serve/remote.h"

namespace stoka::serve {

// What the person who runs the checks has chosen. An empty member is found out, or has a default.
struct SmokeWishes {
  std::string ask = {};    // a question that the site has a page about
  std::string cites = {};  // the slug of that page
  std::string page = {};   // a page for which others must be recommended
  std::string void_ = {};  // a question that the site has nothing about
};

struct SmokeQuestions {
  struct Question {
    std::string query;
    std::string slug;  // of the page that the answer must cite; empty: any
  };
  bool sample = true;                     // whether the site is the sample site
  std::vector<Question> cited_questions;  // at least one answer must cite its page
  std::vector<std::string> offtopic;      // at least one must be off topic
  // At least one of these must not be answered with the confidence direct.
  std::vector<std::string> unanswerable;
  std::string page;  // the page for which others are recommended
  size_t min_recommendations = 3;
  double network_ms = 0;           // round trip time, which is added to the limits of latencies
  std::string no_question_reason;  // why cited_questions is empty
};

SmokeQuestions sample_questions();

// Asks the site for its newest pages, and makes questions from their titles.
SmokeQuestions find_questions(const Remote& site, const SmokeWishes& options, std::stop_token stop);

}  // namespace stoka::serve
