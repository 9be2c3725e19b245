#include "pipeline/turn.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoka::pipeline {
namespace {

// Appended to the stored text of an incomplete answer, so that later turns can tell.
constexpr std::string_view kCutOff = " [cut off]";

// Sends a canned reply word by word, like the answer of a model; the space precedes the word.
void send_words(std::string_view text, const EventSink& sink) {
  while (!text.empty()) {
    size_t end = std::min(text.find(' ', 1), text.size());
    sink(TokenEvent{std::string(text.substr(0, end))});
    text.remove_prefix(end);
  }
}

// The grounds for what the answer of a model may state.
cite::Grounds grounds_for(const Turn& turn) {
  cite::Grounds out;
  out.add(turn.query);
  out.add(turn.page.page_title);
  for (const Hit& hit : turn.ranked) out.add(hit.chunk);
  for (const Exchange& exchange : turn.session.exchanges) {
    out.add(exchange.user);
    for (const CitationRecord& citation : exchange.citations) {
      out.add(citation.title);
      out.add(citation.quote);
    }
  }
  return out;
}

}  // namespace

TurnStreamer::TurnStreamer(Engine& engine, const Turn& turn, EventSink sink)
    : engine_(engine),
      turn_(turn),
      sink_(std::move(sink)),
      watch_(engine.parts().clock, result_.stages) {
  if (!needs_generator()) return;
  for (const cite::CitationSource& source : turn.sources) hits_.push_back(source.hit);
  cite::AnswerOptions options{.citation_context = engine.showing()};
  // The claims of the built-in voice, which writes only golden lines and quotes, are not checked.
  if (engine.parts().generator.reads_prompt())
    options.claims = {grounds_for(turn),
                      engine.parts().golden.reply("nothing", turn.session.turns)};
  answer_.emplace(
      turn.sources,
      std::set<std::string>{turn.session.shown_slugs.begin(), turn.session.shown_slugs.end()},
      engine.parts().guard, turn.query, sink_, std::move(options));
}

generate::GenerationRequest TurnStreamer::request() const {
  generate::GenerationRequest out;
  out.messages = turn_.prompt.messages;
  out.query = turn_.query;
  out.same_topic = turn_.route == Route::followup && !hits_.empty() &&
                   hits_.front().chunk.has_tag(turn_.session.current_topic());
  out.opening = turn_.opening;
  out.confidence = turn_.confidence;
  out.low_confidence = turn_.low_confidence;
  out.hits = hits_;
  for (const cite::CitationSource& source : turn_.sources)
    out.documents.emplace_back(source.document_chunks);
  out.turns = turn_.session.turns;
  out.session_id = turn_.session.id;
  out.site = turn_.site;
  return out;
}

void TurnStreamer::send_ready() {
  if (std::exchange(result_.ready_sent, true)) return;
  sink_(ReadyEvent{turn_.session.id, turn_.visitor.id, turn_.route});
}

void TurnStreamer::accepted() { send_ready(); }

void TurnStreamer::text(std::string_view delta) {
  if (result_.stages.empty()) watch_.lap("first word");
  answer_->push(delta);
}

StreamResult TurnStreamer::finish(Result<generate::FinishReason> finish) {
  if (!needs_generator()) {
    send_ready();
    result_.error = turn_.index_error;
    if (!turn_.index_error) send_words(turn_.canned_reply, sink_);
    result_.summary.text = turn_.canned_reply;
    return std::move(result_);
  }
  watch_.lap("answer");
  if (!finish)
    result_.error = finish.error();
  else
    result_.finish = *finish;
  if (!result_.ready_sent && result_.error) return std::move(result_);
  send_ready();
  answer_->finish(!result_.error && result_.finish != generate::FinishReason::truncated);
  result_.summary = answer_->summary();
  if (result_.finish == generate::FinishReason::truncated)
    result_.error = Error(ErrorKind::protocol, "the answer was cut off", "ask again");
  else if (!result_.error && result_.summary.text.empty() && result_.summary.cited_slugs.empty())
    result_.error = Error(ErrorKind::protocol, "no part of the answer could be shown", "ask again");
  if (size_t unknown = result_.summary.dropped_unknown; unknown > 0)
    engine_.parts().log.info(
        fmt::format("dropped {} citation(s) of slugs that were not retrieved", unknown));
  for (const cite::Intervention& one : result_.summary.interventions)
    engine_.parts().log.info(fmt::format("the answer of the model was changed: {} ({})",
                                         cite::to_string(one.kind), one.count));
  return std::move(result_);
}

StreamResult stream(Engine& engine, const Turn& turn, const EventSink& sink, std::stop_token stop) {
  TurnStreamer streamer(engine, turn, sink);
  if (!streamer.needs_generator()) return streamer.finish(generate::FinishReason::complete);
  return streamer.finish(generate::generate_blocking(
      engine.loops(), engine.parts().generator, streamer.request(), [&] { streamer.accepted(); },
      [&](std::string_view delta) { streamer.text(delta); }, stop));
}

TurnRecord turn_record(const Engine& engine, const Turn& turn, const StreamResult& result) {
  TurnRecord record;
  record.session_id = turn.session.id;
  record.visitor_id = turn.session.visitor_id;
  record.subject = turn.subject;
  record.cited_slugs = result.summary.cited_slugs;
  const bool is_void = result.summary.is_void;
  if (!is_void) record.topic = turn.topic;
  // A canned reply, the void reply or an answer without text is not kept as an exchange: a
  // follow-up cannot refer to it, and a question that was turned away must not reach a model as a
  // message.
  if (turn.canned_reply.empty() && !is_void && !result.summary.text.empty()) {
    record.exchange = {turn.query, result.summary.text, {}};
    for (const Citation& citation : result.summary.citations)
      record.exchange.citations.push_back(
          {citation.slug, citation.title, citation.quote, citation.url});
    if (result.error) record.exchange.assistant += kCutOff;
  }
  record.at = engine.parts().clock.now();
  return record;
}

Result<Session> commit(Engine& engine, const Turn& turn, const StreamResult& result) {
  return engine.parts().sessions.commit_turn(turn_record(engine, turn, result));
}

Event last_event(const Engine& engine, const Turn& turn, const StreamResult& result, int turns) {
  if (result.error) return ErrorEvent{result.error->message, retryable(result.error->kind)};
  auto elapsed = engine.parts().clock.monotonic() - turn.started;
  const bool is_void = result.summary.is_void;
  return DoneEvent{turns, is_void ? Confidence::nothing : turn.confidence,
                   std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count()};
}

Result<TurnResult> run_turn(Engine& engine, const TurnRequest& request, const EventSink& sink,
                            std::stop_token stop) {
  STOKA_ASSIGN(Turn turn, prepare(engine, request, stop));
  TurnResult out{std::move(turn), {}, {}, false};
  out.stream_result = stream(engine, out.turn, sink, stop);
  if (!out.stream_result.ready_sent) return fail(*out.stream_result.error);
  auto session = commit(engine, out.turn, out.stream_result);
  out.persisted = session.has_value();
  if (session) {
    out.session = std::move(*session);
  } else {
    out.session = out.turn.session;
    ++out.session.turns;
  }
  sink(last_event(engine, out.turn, out.stream_result, out.session.turns));
  // The visitor has the answer, so a turn that could not be stored is not an error for them.
  if (!session) engine.parts().log.warning("this turn was not saved: " + session.error().message);
  return out;
}

}  // namespace stoka::pipeline
