#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "terminal/conversation.h"

namespace stoka::testing {

// Answers each query with "answer N to QUERY" and a citation. Three queries are special: "wait"
// waits for a stop, "fail" fails before the first event, "break" fails after it.
class FakeConversation final : public terminal::Conversation {
 public:
  Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) override {
    queries.emplace_back(query);
    if (query == "fail")
      return fail(ErrorKind::data, "there is no index", "run 'stoka index PATH'");
    ++turns;
    sink(ReadyEvent{"session", "visitor", Route::fresh});
    if (query == "break") {
      sink(TokenEvent{"half"});
      sink(ErrorEvent{"the generator went away", true});
      return {};
    }
    if (query == "wait") {
      sink(TokenEvent{"waiting for ever "});
      std::mutex mutex;
      std::condition_variable_any changed;
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, std::chrono::seconds(30), [] { return false; });
      if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
    }
    sink(TokenEvent{"answer " + std::to_string(turns) + " to " + std::string(query)});
    Citation citation;
    citation.slug = "essay-" + std::to_string(turns);
    citation.title = "Essay " + std::to_string(turns);
    citation.type = "blog";
    citation.url = site + "/blog/" + citation.slug;
    sink(CiteEvent{citation});
    slugs.push_back(citation.slug);
    sink(DoneEvent{turns, Confidence::direct, 1});
    return {};
  }
  Result<> new_session() override {
    slugs.clear();
    ++sessions;
    return {};
  }
  Result<> set_page(std::string_view url) override {
    if (!url.starts_with('/')) return fail(ErrorKind::usage, "a page starts with '/'", "/page /x");
    page = url;
    return {};
  }
  Status status() const override { return {"session-id", "visitor-id", turns, "a topic", page}; }
  std::vector<std::string> shown_slugs() const override { return slugs; }
  std::string why() const override { return turns == 0 ? "" : "route new\n  essay 0.9\x1b[2J\n"; }
  std::string hint() override { return hint_line; }
  std::vector<std::string> pages() const override { return {"/blog/one", "/blog/two", "/about"}; }

  std::vector<std::string> queries;
  std::vector<std::string> slugs;
  std::string page;
  std::string site;
  std::string hint_line;
  int turns = 0;
  int sessions = 1;
};

}  // namespace stoka::testing
