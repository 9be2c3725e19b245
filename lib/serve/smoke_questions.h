// What the acceptance checks ask a site: of the sample site what is known of it, of another one
// what its own index tells of itself.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "serve/remote.h"

namespace stoka::serve {

// What the person who runs the checks wants asked. Empty: found out, or the usual question.
struct SmokeWishes {
  std::string ask = {};    // a question that the site has a page about
  std::string cites = {};  // the slug of that page
  std::string page = {};   // a page for which others are to be recommended
  std::string void_ = {};  // a question that the site has nothing about
};

struct SmokeQuestions {
  struct About {
    std::string query;
    std::string slug;  // that it must cite; empty: any
  };
  bool sample = true;                // the content is that of the sample site
  std::vector<About> about;          // one of them must cite its page
  std::vector<std::string> off;      // one of them must be off topic
  std::vector<std::string> nothing;  // one of them must not be answered with certainty
  std::string page;                  // to recommend others for
  size_t recommended = 3;            // how many there must be
  double network_ms = 0;             // that an answer takes on its way, whatever is asked
  std::string trouble;               // why there is no question about the content
};

SmokeQuestions sample_questions();

// Asks the site for its newest pages. Titles become questions.
SmokeQuestions find_questions(const Remote& site, const SmokeWishes& wishes, std::stop_token stop);

}  // namespace stoka::serve
