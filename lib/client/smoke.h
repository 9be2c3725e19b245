// The acceptance checks of a site, which call the site over its URL, as a visitor does.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/site_client.h"
#include "store/store.h"

namespace stoka::client {

// The choices of the person who runs the checks. For an empty member the checks choose a value.
struct SmokeOptions {
  std::string question = {};       // a question that the site has a page about
  std::string expected_slug = {};  // the slug of the page that answers the question
  std::string page = {};           // a page for which others must be recommended
  std::string unanswerable = {};   // a question that the site has nothing about
};

struct SmokeQuestions {
  struct Question {
    std::string query;
    std::string slug;  // the slug of the page that the answer must cite; empty: any page will do
  };
  bool sample = true;                     // whether the site is the sample site
  std::vector<Question> cited_questions;  // questions of which at least one must get its page cited
  std::vector<std::string> offtopic;      // questions of which at least one must count as off topic
  // Questions of which at least one must not be answered with the confidence direct.
  std::vector<std::string> unanswerable;
  std::string page;  // the page for which others are recommended
  size_t min_recommendations = 3;
  double network_ms = 0;           // round trip time, which is added to the limits of latencies
  std::string no_question_reason;  // the reason why cited_questions is empty
};

SmokeQuestions sample_questions();

// Asks the site for its newest pages, and makes questions from their titles.
SmokeQuestions find_questions(const SiteClient& site, const SmokeOptions& options,
                              std::stop_token stop);

struct SmokeResult {
  enum class Status { ok, failed, skipped };  // the status of a check
  int number = 0;                             // the number of the check, 1 to 11
  std::string name;
  Status status = Status::failed;
  std::string detail;  // one line: what was measured, what is wrong, or why the check was skipped
};

// Objects for further checks, which only the operator of a site has.
struct SmokeFixture {
  const SiteClient& without_reranker;     // the same site, but its reranker does not answer
  const SiteClient& without_embedder;     // the same site, but its embedder does not answer
  std::function<bool()> reranker_warned;  // whether without_reranker has logged a warning
  store::Store& store;                    // the store of the site
};

// Runs the checks in order, and calls `on_result` after each of them. Without a fixture the checks
// 8 and 9 are skipped, 10 asks fewer questions, and 11 looks only at the citations of this run. A
// check of a latency takes the fastest of three tries, because one slow try may be due to the
// machine. A rate limit fails no check: a question that would use up the requests of this address
// is not asked, and its check is skipped. After a stop no further check is run, and the results of
// the rest are missing.
std::vector<SmokeResult> run_smoke_checks(const SiteClient& site, const SmokeQuestions& questions,
                                          const SmokeFixture* fixture,
                                          const std::function<void(const SmokeResult&)>& on_result,
                                          std::stop_token stop = {});

}  // namespace stoka::client
