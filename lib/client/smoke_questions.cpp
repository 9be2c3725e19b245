// The questions of the acceptance checks: fixed ones for the sample site, and questions made from
// the newest pages for another site.
#include <algorithm>
#include <chrono>
#include <utility>

#include "client/smoke.h"
#include "session/interests.h"
#include "text/normalize.h"

namespace stoka::client {
namespace {

constexpr const char* kOfftopic = "best javascript framework?";
constexpr const char* kUnanswerable = "quantum gravity research";
constexpr int kNewestPages = 4;           // the number of pages to request from the site
constexpr size_t kMaxCitedQuestions = 3;  // the most questions about the newest pages
constexpr int kNetworkProbes = 3;         // the number of requests that measure the round trip time

std::string tell_me_about(std::string_view title) {
  return "tell me about " + text::collapse_whitespace(text::one_line(title));
}

std::string spoken_slug(std::string slug) {
  std::replace(slug.begin(), slug.end(), '-', ' ');
  return slug;
}

// Returns the duration of the fastest of a few requests that the server answers at once.
double network_ms(const SiteClient& site, const std::stop_token& stop) {
  double quickest = 0;
  for (int i = 0; i < kNetworkProbes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!site.get("/healthz", stop)) return 0;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    quickest = i == 0 ? took.count() : std::min(quickest, took.count());
  }
  return quickest;
}

}  // namespace

SmokeQuestions sample_questions() {
  SmokeQuestions out;
  out.cited_questions = {{"tell me about bounded execution", "philosophy-bounded-execution"}};
  out.offtopic = {kOfftopic};
  out.unanswerable = {kUnanswerable};
  out.page = "/blog/philosophy-bounded-execution";
  return out;
}

SmokeQuestions find_questions(const SiteClient& site, const SmokeOptions& options,
                              std::stop_token stop) {
  SmokeQuestions out;
  out.sample = false;
  out.network_ms = network_ms(site, stop);
  // Several off-topic questions are asked, because a site may have a page about one of them.
  out.offtopic = {kOfftopic, "what will the weather be tomorrow", "write my homework"};
  out.unanswerable = {kUnanswerable, "zither varnish for left-handed glassblowers"};
  if (!options.unanswerable.empty()) out.unanswerable = {options.unanswerable};

  pipeline::DiscoverRequest request;
  request.limit = kNewestPages;
  const auto newest = site.discover(request, stop);
  std::vector<Citation> pages;
  if (newest)
    for (const pipeline::Recommendation& item : newest->items) pages.push_back(item.citation);
  // A small site can recommend only its other pages.
  if (newest)
    out.min_recommendations =
        std::min(out.min_recommendations, pages.empty() ? 0 : pages.size() - 1);
  // Pages whose slug has no slash come first: their address ends with the slug.
  std::stable_partition(pages.begin(), pages.end(), [](const Citation& page) {
    return page.slug.find('/') == std::string::npos;
  });

  if (!options.question.empty() || !options.expected_slug.empty()) {
    const bool asked = !options.question.empty();
    out.cited_questions = {
        {asked ? options.question : tell_me_about(spoken_slug(options.expected_slug)),
         options.expected_slug}};
  } else {
    for (const Citation& page : pages)
      if (out.cited_questions.size() < kMaxCitedQuestions && !page.title.empty())
        out.cited_questions.push_back({tell_me_about(page.title), page.slug});
  }
  if (out.cited_questions.empty())
    out.no_question_reason =
        newest ? "the site recommends no page to ask about; give a question with --ask"
               : newest.error().message + "; give a question to ask with --ask";
  out.page = !options.page.empty() ? options.page : pages.empty() ? "/" : "/" + pages.front().slug;
  return out;
}

}  // namespace stoka::client
