#include "pipeline/turn.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoka::pipeline {
namespace {

// Ends what a session remembers of an answer that was not complete, so that no later turn takes it
// for the whole.
constexpr std::string_view kCutOff = " [cut off]";

// A canned reply leaves in pieces, like a model's answer: a word with the space before it.
void send_in_pieces(std::string_view text, const EventSink& sink) {
  while (!text.empty()) {
    size_t end = std::min(text.find(' ', 1), text.size());
    sink(TokenEvent{std::string(text.substr(0, end))});
    text.remove_prefix(end);
  }
}

// The hits must live as long as the request.
generate::Request generation_request(const Turn& turn, std::span<const Hit> hits) {
  generate::Request out;
  out.messages = turn.prompt.messages;
  out.query = turn.query;
  out.same_topic = turn.route == Route::followup && !hits.empty() &&
                   hits.front().chunk.has_tag(turn.session.current_topic());
  out.confidence = turn.confidence;
  out.low_confidence = turn.low_confidence;
  out.hits = hits;
  for (const cite::Source& source : turn.sources) out.documents.emplace_back(source.document);
  out.turns = turn.session.turns;
  return out;
}

}  // namespace

Streamed stream(Engine& engine, const Turn& turn, const EventSink& sink, std::stop_token stop) {
  const Engine::Parts& parts = engine.parts();
  Streamed out;
  auto ready = [&] {
    if (out.ready_sent) return;
    out.ready_sent = true;
    sink(ReadyEvent{turn.session.id, turn.session.visitor_id, turn.route});
  };
  if (turn.failure) {
    ready();
    out.error = turn.failure;
    return out;
  }
  if (!turn.canned.empty()) {
    ready();
    send_in_pieces(turn.canned, sink);
    out.summary.text = turn.canned;
    return out;
  }

  cite::AnswerStream answer(turn.sources,
                            {turn.session.shown_slugs.begin(), turn.session.shown_slugs.end()},
                            parts.guard, turn.query, sink);
  std::vector<Hit> hits;
  for (const cite::Source& source : turn.sources) hits.push_back(source.hit);
  Stopwatch watch(parts.clock, out.stages);
  auto finish = parts.generator.stream(
      generation_request(turn, hits), ready,
      [&](std::string_view delta) {
        if (out.stages.empty()) watch.lap("first word");
        answer.push(delta);
      },
      stop);
  watch.lap("answer");
  if (!finish)
    out.error = finish.error();
  else
    out.finish = *finish;
  if (!out.ready_sent && out.error) return out;
  ready();
  answer.finish();
  out.summary = answer.summary();
  if (out.finish == generate::Finish::truncated)
    out.error = Error(ErrorKind::protocol, "the answer was cut off", "ask again");
  else if (!out.error && out.summary.text.empty() && out.summary.cited.empty())
    out.error = Error(ErrorKind::protocol, "nothing of the answer could be shown", "ask again");
  if (size_t unknown = out.summary.dropped_unknown; unknown > 0)
    parts.log.info(fmt::format("dropped {} citation(s) of slugs that were not retrieved", unknown));
  return out;
}

Result<Session> commit(Engine& engine, const Turn& turn, const Streamed& streamed) {
  const Engine::Parts& parts = engine.parts();
  TurnRecord record;
  record.session_id = turn.session.id;
  record.visitor_id = turn.session.visitor_id;
  record.subject = turn.subject;
  record.cited = streamed.summary.cited;
  record.topic = turn.topic;
  // Canned replies are no conversation to go on from, and what they turned away must not come back
  // as a message that a model reads.
  // An answer without a word is none either.
  if (turn.canned.empty() && !streamed.summary.text.empty()) {
    record.exchange = {turn.query, streamed.summary.text, streamed.summary.cited};
    if (streamed.error) record.exchange.assistant += kCutOff;
  }
  record.at = parts.clock.now();
  return parts.store.commit_turn(record);
}

Event last_event(const Engine& engine, const Turn& turn, const Streamed& streamed, int turns) {
  if (streamed.error) return ErrorEvent{streamed.error->message, retryable(streamed.error->kind)};
  auto elapsed = engine.parts().clock.monotonic() - turn.started;
  return DoneEvent{turns, turn.confidence,
                   std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count()};
}

Result<Outcome> run_turn(Engine& engine, const TurnRequest& request, const EventSink& sink,
                         std::stop_token stop) {
  STOKA_ASSIGN(Turn turn, prepare(engine, request, stop));
  Outcome out{std::move(turn), {}, {}, false};
  out.streamed = stream(engine, out.turn, sink, stop);
  if (!out.streamed.ready_sent) return fail(*out.streamed.error);
  auto session = commit(engine, out.turn, out.streamed);
  out.persisted = session.has_value();
  if (session) {
    out.session = std::move(*session);
  } else {
    out.session = out.turn.session;
    ++out.session.turns;
  }
  sink(last_event(engine, out.turn, out.streamed, out.session.turns));
  // The visitor has the answer; that the conversation was not kept is not theirs to see as a
  // failure.
  if (!session) engine.parts().log.warning("this turn was not saved: " + session.error().message);
  return out;
}

}  // namespace stoka::pipeline
