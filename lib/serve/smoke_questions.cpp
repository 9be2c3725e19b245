#include "serve/smoke_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "session/interests.h"
#include "text/normalize.h"

namespace stoka::serve {
namespace {

constexpr const char* kOfftopic = "best javascript framework?";
constexpr const char* kNothing = "quantum gravity research";
constexpr int kNewest = 4;        // pages that the site is asked for
constexpr size_t kMostAbout = 3;  // of them are asked about, until one is cited
constexpr int kKnocks = 3;        // to learn how far away the site is

std::string tell_me_about(std::string_view title) {
  return "tell me about " + text::squeeze(text::one_line(title));
}

std::string spoken_slug(std::string slug) {
  std::replace(slug.begin(), slug.end(), '-', ' ');
  return slug;
}

// The quickest of a few requests that ask nothing.
double network_ms(const Remote& site, const std::stop_token& stop) {
  double quickest = 0;
  for (int i = 0; i < kKnocks; ++i) {
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
  out.about = {{"tell me about bounded execution", "philosophy-bounded-execution"}};
  out.off = {kOfftopic};
  out.nothing = {kNothing};
  out.page = "/blog/philosophy-bounded-execution";
  return out;
}

SmokeQuestions find_questions(const Remote& site, const SmokeWishes& wishes, std::stop_token stop) {
  SmokeQuestions out;
  out.sample = false;
  out.network_ms = network_ms(site, stop);
  // A site may well write about one of them.
  out.off = {kOfftopic, "what will the weather be tomorrow", "write my homework"};
  out.nothing = {kNothing, "zither varnish for left-handed glassblowers"};
  if (!wishes.void_.empty()) out.nothing = {wishes.void_};

  pipeline::DiscoverRequest request;
  request.limit = kNewest;
  const auto newest = site.discover(request, stop);
  std::vector<Citation> pages;
  if (newest)
    for (const pipeline::Recommendation& item : newest->items) pages.push_back(item.citation);
  // There are as many others to recommend as there are pages beside the one.
  if (newest) out.recommended = std::min(out.recommended, pages.empty() ? 0 : pages.size() - 1);
  // The last part of a page's address is its slug, which one with a slash has not.
  std::stable_partition(pages.begin(), pages.end(), [](const Citation& page) {
    return page.slug.find('/') == std::string::npos;
  });

  if (!wishes.ask.empty() || !wishes.cites.empty()) {
    const bool asked = !wishes.ask.empty();
    out.about = {{asked ? wishes.ask : tell_me_about(spoken_slug(wishes.cites)), wishes.cites}};
  } else {
    for (const Citation& page : pages)
      if (out.about.size() < kMostAbout && !page.title.empty())
        out.about.push_back({tell_me_about(page.title), page.slug});
  }
  if (out.about.empty())
    out.trouble =
        newest ? "the site recommends no page to ask about; name a question with --ask"
               : newest.error().message + "; what to ask about is not known, name it with --ask";
  out.page = !wishes.page.empty() ? wishes.page : pages.empty() ? "/" : "/" + pages.front().slug;
  return out;
}

}  // namespace stoka::serve
