// One chat turn in three phases:
//   prepare  routes, embeds, retrieves, reranks, applies the policy, builds the prompt. Blocks, and
//            holds no connection when it returns.
//   stream   turns the generator's text into the events ready, token and cite, without the store.
//   commit   stores the turn. Blocks.
// run_turn() runs the three phases in a row. A server runs them on threads of its choice.
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

inline constexpr size_t kMaxQueryLength = 2000;  // in code points, after clean_query()

struct TurnRequest {
  std::string query;
  std::string session_id;  // a UUID, or empty for a new session
  std::string visitor_id;  // a UUID, or empty for a new visitor
  std::string subject;     // the subject of a verified token; usually empty
  PageContext page;
  // Whether the request comes from another machine. If so, a session id alone does not prove that
  // the session is the caller's, and without a proof what was said in it is not used.
  bool remote = false;
};

// A prepared turn: everything that is known before the first word of the answer.
struct Turn {
  std::string query;  // the question in the form that clean_query() returns
  PageContext page;
  Session session;  // the session as it was before this turn
  Visitor visitor;
  std::string subject;
  bool returning = false;  // whether the visitor was known before this session began
  Route route = Route::fresh;
  std::string rule;                  // the rule of the router that decided
  route::Intent intent;              // what the question asks for beside its route; may be empty
  std::string return_to;             // slug of a page that was shown and answers best; may be empty
  double return_score = 0;           // the score of that page
  std::string about;                 // title of the page that "it" stands for; may be empty
  std::string opening;               // the first line of an answer without a model; may be empty
  std::string canned_reply;          // the whole reply, if the generator is not called
  std::optional<Error> index_error;  // if the index is empty: the events are ready and this error
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::vector<Hit> ranked;     // hits after the policy, best first, with receipts
  std::string reranker_error;  // the error of the reranker; empty if it succeeded
  std::vector<session::Interest> interests;
  golden::SiteFacts site;  // set if something was searched for
  std::vector<cite::CitationSource>
      sources;            // what may be cited: `ranked` without slugs shown before
  prompt::Prompt prompt;  // the prompt; empty if the generator does not read it
  std::string topic;
  std::vector<StageTiming> stages;  // the time of each stage, in order
  std::chrono::nanoseconds started{};
};

// The result of the stream phase.
struct StreamResult {
  cite::AnswerSummary summary;
  bool ready_sent = false;
  // The reason why the generator ended; meaningful only if it was called and did not fail.
  generate::FinishReason finish = generate::FinishReason::complete;
  std::vector<StageTiming> stages;  // the time to the first word, and the time of the rest
  // The error of the stream. Text sent before it is kept; nothing was sent if ready_sent is false.
  std::optional<Error> error;
};

// The result of run_turn().
struct TurnResult {
  Turn turn;
  StreamResult stream_result;
  Session session;  // the session after this turn
  bool persisted = false;
};

// Returns the query without control characters and superfluous space. Fails with a usage error if
// the result is empty, has nothing visible in it or is longer than kMaxQueryLength.
Result<std::string> clean_query(std::string_view query);

// Returns the id of a "visitor" or "session" in lower case, as the store has it. Fails with a usage
// error, which has the hint, if the id is not a UUID.
Result<std::string> parse_uuid(std::string_view what, std::string_view id, std::string hint);

Result<Turn> prepare(Engine& engine, const TurnRequest& request, std::stop_token stop);
// The two steps of prepare(). open_turn() loads the session and chooses the route, which may have a
// canned reply. find_sources() searches and builds the prompt, unless there is a canned reply.
Result<Turn> open_turn(Engine& engine, const TurnRequest& request);
Result<> find_sources(Engine& engine, Turn& turn, std::stop_token stop);

// Builds the prompt even if the configured generator does not read one, so that it can be shown.
void build_prompt(Engine& engine, Turn& turn);

// The stream phase as a push interface: the caller drives the generator and passes on what it
// writes. A streamer is not thread safe. The engine and the turn must outlive it.
class TurnStreamer {
 public:
  TurnStreamer(Engine& engine, const Turn& turn, EventSink sink);
  TurnStreamer(const TurnStreamer&) = delete;
  TurnStreamer& operator=(const TurnStreamer&) = delete;

  // If false, the generator is not called, and finish() sends the whole reply.
  bool needs_generator() const { return turn_.canned_reply.empty() && !turn_.index_error; }
  // The request for the generator. It refers to data of this object and of the turn.
  generate::GenerationRequest request() const;
  void accepted();                    // the generator accepted the request: sends ready
  void text(std::string_view delta);  // the next piece of the generator's text
  // Ends the stream; called once, with the result of the generator. Sends no done or error event.
  StreamResult finish(Result<generate::FinishReason> end);

 private:
  void send_ready();

  Engine& engine_;
  const Turn& turn_;
  EventSink sink_;
  std::vector<Hit> hits_;
  StreamResult result_;
  std::optional<cite::AnswerStream> answer_;
  Stopwatch watch_;
};

// The whole stream phase with the engine's generator. Sends ready, tokens and citations, but not
// done or error: the caller sends last_event() after the commit.
StreamResult stream(Engine& engine, const Turn& turn, const EventSink& sink, std::stop_token stop);

// The record of a streamed turn for the store.
TurnRecord turn_record(const Engine& engine, const Turn& turn, const StreamResult& result);
Result<Session> commit(Engine& engine, const Turn& turn, const StreamResult& result);

// The last event of a turn, done or error. `turns` is the number of turns that the session now has.
Event last_event(const Engine& engine, const Turn& turn, const StreamResult& result, int turns);

// Runs all three phases and sends the last event. Returns an error only if it happened before the
// first event; a later error is sent as an event and is in the result. A turn is stored even if it
// was cancelled in the stream phase.
Result<TurnResult> run_turn(Engine& engine, const TurnRequest& request, const EventSink& sink,
                            std::stop_token stop = {});

}  // namespace stoka::pipeline
