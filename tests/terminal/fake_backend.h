#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/chat_backend.h"

namespace stoka::terminal {

// Answers each query with "answer N to QUERY" and a citation. Three queries are special: "wait"
// waits for a stop, "fail" fails before the first event, "break" fails after it.
class FakeBackend final : public pipeline::ChatBackend {
 public:
  Session new_session(std::string visitor_id) override {
    ++sessions;
    Session out;
    out.id = "session-id";
    out.visitor_id = visitor_id.empty() ? "visitor-id" : visitor_id + "'";
    return out;
  }
  Result<Answer> ask(Session& session, const std::string& query, const PageContext& page,
                     const EventSink& sink, std::stop_token stop) override {
    queries.push_back(query);
    pages_asked_on.push_back(page.page);
    if (query == "fail")
      return fail(ErrorKind::data, "there is no index", "run 'stoka index PATH'");
    ++turns;
    session.turns = turns;
    session.explored_topics = {"a topic"};
    sink(ReadyEvent{"session", "visitor", Route::fresh});
    if (query == "break") {
      sink(TokenEvent{"half"});
      sink(ErrorEvent{"the generator went away", true});
      return Answer{};
    }
    if (query == "wait") {
      sink(TokenEvent{"waiting for ever "});
      std::mutex mutex;
      std::condition_variable_any changed;
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, std::chrono::seconds(30), [] { return false; });
      if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
    }
    sink(TokenEvent{"answer " + std::to_string(turns) + " to " + query});
    Citation citation;
    citation.slug = "essay-" + std::to_string(turns);
    citation.title = "Essay " + std::to_string(turns);
    citation.type = "blog";
    citation.url = site + "/blog/" + citation.slug;
    sink(CiteEvent{citation});
    session.shown_slugs.push_back(citation.slug);
    sink(DoneEvent{turns, Confidence::direct, 1});
    return Answer{{}, "route new\n  essay 0.9\x1b[2J\n", {}};
  }
  std::vector<std::string> pages() override { return {"/blog/one", "/blog/two", "/about"}; }

  // The REPL does not call these.
  Result<pipeline::Turn> prompt(const Session&, const std::string&, const PageContext&,
                                std::stop_token) override {
    return fail(ErrorKind::internal, "not expected");
  }
  Result<pipeline::Recommendations> discover(const pipeline::DiscoverRequest&) override {
    return fail(ErrorKind::internal, "not expected");
  }
  Result<pipeline::Ambient> context(const std::string&) override {
    return fail(ErrorKind::internal, "not expected");
  }
  Result<std::string> opening_hint() override { return fail(ErrorKind::internal, "not expected"); }

  std::vector<std::string> queries;
  std::vector<std::string> pages_asked_on;
  std::string site;
  int turns = 0;
  int sessions = 0;
};

}  // namespace stoka::terminal
