#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "model/claim.h"
#include "pipeline/chosen_pages.h"
#include "pipeline/continuation.h"
#include "pipeline/profile.h"
#include "pipeline/site_answers.h"
#include "pipeline/site_words.h"
#include "pipeline/turn.h"
#include "session/turn.h"
#include "text/normalize.h"
#include "text/words.h"

namespace stoka::pipeline {
namespace {

// Checks that an id is a UUID or empty, and returns it in lower case, as the store has it.
Result<std::string> parse_id(std::string_view what, const std::string& id) {
  if (id.empty()) return id;
  return parse_uuid(what, id, "leave it out to start a new one");
}

Result<> load_session(Engine& engine, const TurnRequest& request, Turn& turn) {
  STOKA_ASSIGN(const std::string session_id, parse_id("session", request.session_id));
  Caller caller{{}, request.subject, request.remote};
  STOKA_ASSIGN(caller.visitor_id, parse_id("visitor", request.visitor_id));
  const Engine::Parts& parts = engine.parts();
  STOKA_ASSIGN(VisitorLookup lookup, look_up_visitor(parts.sessions, caller));
  caller.visitor_id = std::move(lookup.id);
  std::optional<Visitor>& visitor = lookup.stored;
  std::optional<Session> stored;
  std::optional<Visitor> owner;
  if (!session_id.empty()) {
    STOKA_ASSIGN(stored, parts.sessions.session(session_id));
  }
  if (stored) {
    if (visitor && visitor->id == stored->visitor_id) {
      owner = visitor;
    } else {
      STOKA_ASSIGN(owner, parts.sessions.visitor(stored->visitor_id));
    }
  }
  const SessionClaim claim = stored ? claim_session(*stored, owner, caller) : SessionClaim::foreign;
  if (claim == SessionClaim::own && !visitor) visitor = std::move(owner);
  if (visitor) turn.visitor = std::move(*visitor);
  if (stored && claim != SessionClaim::foreign && !session::is_stale(*stored, parts.clock.now())) {
    turn.session = std::move(*stored);
    // The slugs that were shown are not shown again, but what was said in the session, its topics
    // and its visitor are not used.
    if (claim == SessionClaim::unproven) {
      turn.session.exchanges.clear();
      turn.session.explored_topics.clear();
      turn.visitor = {};
      turn.visitor.id = parts.ids.uuid();
    }
  } else {
    turn.session.id = stored || session_id.empty() ? parts.ids.uuid() : session_id;
    std::string visitor_id = caller.visitor_id;
    if (visitor_id.empty() && claim == SessionClaim::own) visitor_id = stored->visitor_id;
    if (visitor_id.empty()) visitor_id = turn.visitor.id;
    turn.session.visitor_id = visitor_id.empty() ? parts.ids.uuid() : visitor_id;
  }
  const bool is_new_session = turn.session.turns == 0;
  turn.returning = !turn.visitor.id.empty() && claim != SessionClaim::unproven &&
                   (is_new_session || turn.visitor.first_seen < turn.session.started_at);
  if (turn.visitor.id.empty()) turn.visitor.id = turn.session.visitor_id;
  return {};
}

void set_canned_reply(Turn& turn, const golden::Golden& golden, std::string_view reply) {
  turn.canned_reply = golden.reply(reply, turn.session.turns);
}

std::set<std::string, std::less<>> as_set(const std::vector<std::string>& items) {
  return {items.begin(), items.end()};
}

// Whether the question names the page: the title has every content word of the question.
bool is_named(const Document& page, std::string_view query) {
  std::set<std::string> title;
  for (const text::Word& word : text::words(page.title)) title.insert(text::stem(word.text));
  bool has_content = false;
  for (const text::Word& word : text::words(query)) {
    if (text::is_stop_word(word.text)) continue;
    has_content = true;
    if (!title.contains(text::stem(word.text))) return false;
  }
  return has_content;
}

bool has_cited(const Session& session, std::string_view slug) {
  for (const Exchange& exchange : session.exchanges)
    for (const CitationRecord& citation : exchange.citations)
      if (citation.slug == slug) return true;
  return false;
}

// Finds out whether a page that the session has cited answers the question best by far.
void find_page_to_return_to(const Engine& engine, Turn& turn, const std::vector<Hit>& hits) {
  constexpr double kLead = 0.1;  // the least lead over the best page that was not shown
  const Hit* cited = nullptr;
  double unshown = 0;
  for (const Hit& hit : hits) {
    if (!turn.session.has_shown(hit.chunk.slug))
      unshown = std::max(unshown, hit.raw_score);
    else if ((!cited || hit.raw_score > cited->raw_score) &&
             has_cited(turn.session, hit.chunk.slug))
      cited = &hit;
  }
  if (!cited || cited->raw_score < engine.settings().thresholds.adjacent ||
      cited->raw_score < unshown + kLead)
    return;
  turn.return_to = cited->chunk.slug;
  turn.return_score = cited->raw_score;
}

// Cites a further passage of the page that was shown before and answers the question best. If no
// passage is left, the reply gives the title and address of the page.
Result<bool> return_to_page(Engine& engine, Turn& turn, const Catalog& catalog) {
  const Document* page = turn.return_to.empty() ? nullptr : catalog.find(turn.return_to);
  if (!page) return false;
  std::vector<Hit> ranked = std::exchange(turn.ranked, {});
  STOKA_ASSIGN(const bool cited, cite_further(engine, turn, *page, Passages::nearest));
  turn.ranked.insert(turn.ranked.end(), std::make_move_iterator(ranked.begin()),
                     std::make_move_iterator(ranked.end()));
  if (!cited) point_at(engine, turn, *page);
  if (turn.return_score < engine.settings().thresholds.direct)
    turn.confidence = Confidence::adjacent;
  return true;
}

Result<> search_index(Engine& engine, Turn& turn, const Catalog& catalog, Stopwatch& watch,
                      std::stop_token stop) {
  const Engine::Parts& parts = engine.parts();
  turn.interests = engine.interests(turn.visitor, turn.page, catalog);
  turn.return_to.clear();

  retrieve::Query query;
  query.text = session::effective_query(turn.query, turn.route, turn.session);
  // If the question needs no words from the session, a page that was shown may answer it best.
  const bool may_return = query.text == turn.query && turn.about.empty();
  if (query.text == turn.query && !turn.about.empty())
    query.text = fmt::format("{} {}", turn.about, turn.query);
  if (turn.route == Route::followup) {
    query.bias_topic = turn.session.current_topic();
    if (!may_return) query.exclude_slugs = as_set(turn.session.shown_slugs);
  }
  for (const session::Interest& interest : turn.interests)
    query.interests.emplace_back(interest.tag, interest.weight);
  STOKA_ASSIGN(Candidates found, engine.candidates(std::move(query), stop));
  turn.reranker_error = std::move(found.reranker_error);
  std::move(found.stages.begin(), found.stages.end(), std::back_inserter(turn.stages));
  watch.restart();
  if (may_return) find_page_to_return_to(engine, turn, found.hits);

  rerank::PolicyContext context{turn.query, as_set(turn.session.shown_slugs), turn.session.turns,
                                parts.clock.today()};
  for (const std::string& slug : turn.page.seen_slugs)
    if (const Document* page = catalog.find(slug); !page || !is_named(*page, turn.query))
      context.shown.insert(slug);
  turn.ranked = rerank::apply_policy(std::move(found.hits), context, engine.settings().policy);
  rerank::ConfidenceResult result =
      rerank::classify_confidence(turn.ranked, engine.settings().thresholds);
  turn.confidence = result.confidence;
  turn.low_confidence = result.low_confidence;
  turn.topic = session::topic(turn.route, turn.ranked, turn.session);
  watch.lap("policy");
  return {};
}

// A search reads the store several times. If an index run changes the index between the reads, the
// search is run once more.
Result<> search_consistently(Engine& engine, Turn& turn, const Catalog& catalog, Stopwatch& watch,
                             std::stop_token stop) {
  for (int attempt = 1;; ++attempt) {
    auto found = search_index(engine, turn, catalog, watch, stop);
    STOKA_ASSIGN(store::IndexStats after, engine.parts().index.stats());
    if (after.generation == catalog.generation() || attempt == 2) return found;
  }
}

// Answers a question for which the session or the catalogue is enough. Returns false if the
// question must be searched for.
Result<bool> answer_intent(Engine& engine, Turn& turn, const Catalog& catalog,
                           std::stop_token stop) {
  turn.interests = engine.interests(turn.visitor, turn.page, catalog);
  STOKA_ASSIGN(bool answered, continue_conversation(engine, turn, catalog, stop));
  if (!answered) {
    STOKA_ASSIGN(answered, answer_about_site(engine, turn, catalog, stop));
    if (answered && turn.canned_reply.empty()) turn.route = Route::fresh;
  }
  if (!answered) return false;
  if (turn.canned_reply.empty()) turn.topic = session::topic(turn.route, turn.ranked, turn.session);
  return true;
}

// Loads the whole documents that may be cited, because a quote may come from any part of them.
Result<> load_sources(Engine& engine, Turn& turn) {
  for (const Hit& hit : turn.ranked) {
    if (turn.session.has_shown(hit.chunk.slug)) continue;
    STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
                 engine.parts().index.document_chunks(hit.chunk.slug));
    cite::CitationSource source{hit, {}, 0};
    for (store::StoredChunk& chunk : chunks) {
      if (chunk.id == hit.id) source.chunk_index = source.document_chunks.size();
      source.document_chunks.push_back(std::move(chunk.chunk.content));
    }
    // The document is empty if an index run has removed it since it was found.
    if (!source.document_chunks.empty()) turn.sources.push_back(std::move(source));
  }
  return {};
}

}  // namespace

Result<std::string> parse_uuid(std::string_view what, std::string_view id, std::string hint) {
  if (is_uuid(id)) return to_lower(id);
  return fail(ErrorKind::usage,
              fmt::format("the {} is not a UUID: '{}'", what, text::one_line(id).substr(0, 40)),
              std::move(hint));
}

Result<std::string> clean_query(std::string_view query) {
  std::string cleaned = text::clean_query(query);
  if (cleaned.empty())
    return fail(ErrorKind::usage,
                query.empty() ? "the question is empty" : "the question has nothing visible in it",
                "ask something, e.g. stoka chat \"what do you think about constraints\"");
  if (size_t length = text::count_code_points(cleaned); length > kMaxQueryLength)
    return fail(
        ErrorKind::usage,
        fmt::format("the question has {} characters, at most {} are read", length, kMaxQueryLength),
        "shorten it");
  return cleaned;
}

void build_prompt(Engine& engine, Turn& turn) {
  prompt::Input input{turn.query, {},           turn.route,   turn.confidence, turn.low_confidence,
                      turn.page,  turn.visitor, turn.session, turn.returning};
  for (const cite::CitationSource& source : turn.sources) input.hits.push_back(source.hit);
  for (const session::Interest& interest : turn.interests) input.interests.push_back(interest.tag);
  if (const auto catalog = engine.catalog())
    input.exchanges = engine.parts().golden.exchanges_in(
        [&](std::string_view slug) { return (*catalog)->find(slug) != nullptr; });
  turn.prompt = prompt::build_messages(input, engine.parts().golden, engine.settings().prompt);
}

Result<Turn> open_turn(Engine& engine, const TurnRequest& request) {
  const Engine::Parts& parts = engine.parts();
  Turn turn;
  turn.started = parts.clock.monotonic();
  Stopwatch watch(parts.clock, turn.stages);
  STOKA_ASSIGN(turn.query, clean_query(request.query));
  turn.page = request.page;
  turn.subject = request.subject;
  STOKA_TRY(load_session(engine, request, turn));
  watch.lap("session");

  SiteWordLookup site(parts.index, [&] { return engine.catalog(); });
  route::RouteDecision decision = parts.router.decide(turn.query, turn.session.turns, site.words());
  if (!site.outcome()) return fail(site.outcome().error());
  turn.route = decision.route;
  turn.rule = decision.rule;
  turn.intent = std::move(decision.intent);
  watch.lap("route");
  if (!decision.reply.empty()) set_canned_reply(turn, parts.golden, decision.reply);
  return turn;
}

Result<> find_sources(Engine& engine, Turn& turn, std::stop_token stop) {
  if (!turn.canned_reply.empty()) return {};
  const Engine::Parts& parts = engine.parts();
  if (auto index = engine.check_index(stop); !index) {
    if (index.error().kind != ErrorKind::data) return fail(index.error());
    turn.route = Route::nothing;
    turn.confidence = Confidence::nothing;
    turn.index_error = index.error();
    return {};
  }
  STOKA_ASSIGN(const std::shared_ptr<const Catalog> catalog, engine.catalog());
  turn.site = engine.site_facts(*catalog);
  Stopwatch watch(parts.clock, turn.stages);
  STOKA_ASSIGN(const bool answered, answer_intent(engine, turn, *catalog, stop));
  watch.lap("intent");
  if (!turn.canned_reply.empty()) return {};
  if (!answered) {
    STOKA_TRY(search_consistently(engine, turn, *catalog, watch, stop));
    STOKA_ASSIGN(const bool returned, return_to_page(engine, turn, *catalog));
    if (!turn.canned_reply.empty()) return {};
    if (!returned && turn.confidence != Confidence::nothing) STOKA_TRY(load_sources(engine, turn));
  }
  if (turn.sources.empty()) {
    turn.route = Route::nothing;
    turn.confidence = Confidence::nothing;
    turn.low_confidence = false;
    turn.topic.clear();
    set_canned_reply(turn, parts.golden, "nothing");
    return {};
  }
  if (parts.generator.reads_prompt()) build_prompt(engine, turn);
  watch.lap("prompt");
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "interrupted");
  return {};
}

Result<Turn> prepare(Engine& engine, const TurnRequest& request, std::stop_token stop) {
  STOKA_ASSIGN(Turn turn, open_turn(engine, request));
  STOKA_TRY(find_sources(engine, turn, stop));
  return turn;
}

}  // namespace stoka::pipeline
