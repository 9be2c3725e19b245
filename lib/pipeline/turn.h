// One chat turn in three phases:
//   prepare  route, embed, retrieve, rerank, policy, prompt. Blocking; holds no connection when it
//            ends.
//   stream   text in, events out: ready, tokens and citations. Holds nothing of the store.
//   commit   persists the turn. Blocking.
// run_turn() runs the three in a row; a server runs their parts where it wants.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cite/answer_stream.h"
#include "model/event.h"
#include "model/session.h"
#include "pipeline/engine.h"

namespace stoka::pipeline {

inline constexpr size_t kMostQueryLength = 2000;  // code points after cleaning

struct TurnRequest {
  std::string query;
  std::string session_id;  // UUID; empty: a new session
  std::string visitor_id;  // UUID; empty: a new visitor
  std::string subject;     // of a verified token; usually empty
  PageContext page;
  // The caller is not the one machine whose sessions these are: a session that is named without
  // its visitor keeps to itself what was said in it.
  bool remote = false;
};

// A prepared turn: everything that is known before the first word.
struct Turn {
  std::string query;  // cleaned
  PageContext page;
  Session session;  // as it was before this turn
  Visitor visitor;
  std::string subject;
  bool returning = false;  // the visitor was known before this session began
  Route route = Route::fresh;
  std::string rule;              // of the router
  std::string canned;            // the whole reply, when no generator is called
  std::optional<Error> failure;  // nothing can be asked of this index: ready, then this error
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::vector<Hit> ranked;   // after the policy, best first, with receipts
  std::string not_reranked;  // why the reranker was done without; empty: it was not
  std::vector<session::Interest> interests;
  std::vector<cite::Source> sources;  // what may be cited: ranked without what was already shown
  prompt::Prompt prompt;              // built only for a generator that reads it
  std::string topic;
  std::vector<Stage> stages;  // in order
  std::chrono::nanoseconds started{};
};

// What a stream came to.
struct Streamed {
  cite::Summary summary;
  bool ready_sent = false;
  // How the generator ended, if it was called and did not fail.
  generate::Finish finish = generate::Finish::complete;
  std::vector<Stage> stages;   // until the first word, and the whole answer
  std::optional<Error> error;  // before ready: nothing was sent; after: the text so far stands
};

struct Outcome {
  Turn turn;
  Streamed streamed;
  Session session;  // after this turn
  bool persisted = false;
};

// The query cleaned and checked: a usage error when it is empty, invisible or too long.
Result<std::string> clean_query(std::string_view query);

Result<Turn> prepare(Engine& engine, const TurnRequest& request, std::stop_token stop);
// Its two halves: what takes words and the session alone, so that the turn is perhaps answered
// already (canned), and what takes retrieval.
Result<Turn> open_turn(Engine& engine, const TurnRequest& request);
Result<> find_answer(Engine& engine, Turn& turn, std::stop_token stop);

// What a model would read, whatever generator is configured: for looking at it.
void build_prompt(const Engine& engine, Turn& turn);

// The stream phase for whoever drives the generator. Not thread safe; engine and turn must outlive
// it.
class Answering {
 public:
  Answering(Engine& engine, const Turn& turn, EventSink sink);
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  // False: nobody is to be asked, finish() says it all.
  bool asks_generator() const { return turn_.canned.empty() && !turn_.failure; }
  // What the generator is asked; borrows from this and the turn.
  generate::Request request() const;
  void accepted();                    // sends ready
  void text(std::string_view delta);  // as the generator writes it
  // Once, with how the generator ended. Events may come from here too; last of all none.
  Streamed finish(Result<generate::Finish> end);

 private:
  void ready();

  Engine& engine_;
  const Turn& turn_;
  EventSink sink_;
  std::vector<Hit> hits_;
  Streamed out_;
  std::optional<cite::AnswerStream> answer_;
  Stopwatch watch_;
};

// Sends ready, then tokens and citations; never done or error, which is for whoever commits.
Streamed stream(Engine& engine, const Turn& turn, const EventSink& sink, std::stop_token stop);

// What a turn that was streamed leaves in the store.
TurnRecord turn_record(const Engine& engine, const Turn& turn, const Streamed& streamed);
Result<Session> commit(Engine& engine, const Turn& turn, const Streamed& streamed);

// Done or error: the last event of a turn that was streamed and committed.
Event last_event(const Engine& engine, const Turn& turn, const Streamed& streamed, int turns);

// All three phases and the last event. An error is one that happened before the first event; later
// ones are in the outcome and were sent as an event. A turn is persisted even when it was stopped.
Result<Outcome> run_turn(Engine& engine, const TurnRequest& request, const EventSink& sink,
                         std::stop_token stop = {});

}  // namespace stoka::pipeline
