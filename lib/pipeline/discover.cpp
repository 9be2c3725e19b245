#include "pipeline/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/json.h"
#include "base/url.h"
#include "cite/answer_stream.h"
#include "pipeline/profile.h"
#include "pipeline/turn.h"
#include "session/interests.h"
#include "text/normalize.h"
#include "text/pull_quote.h"

namespace stoka::pipeline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxRecommendations = 10;

Result<Citation> cite(Engine& engine, const Hit& hit, std::string_view query) {
  const Chunk& chunk = hit.chunk;
  STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
               engine.parts().index.document_chunks(chunk.slug));
  std::vector<std::string> document;
  for (store::StoredChunk& part : chunks) document.push_back(std::move(part.chunk.content));
  return cite::make_citation(hit, text::best_sentence(chunk.content, document, query),
                             engine.showing());
}

std::set<std::string, std::less<>> seen_slugs(const DiscoverRequest& request, const Document* page,
                                              const Visitor& visitor) {
  std::set<std::string, std::less<>> out(request.page.seen_slugs.begin(),
                                         request.page.seen_slugs.end());
  for (const HistoryEntry& reading : visitor.history) out.insert(reading.slug);
  if (page) out.insert(page->slug);
  return out;
}

// The first chunks of the newest `count` documents that are not in `skip`, as hits without a score.
Result<std::vector<Hit>> newest(Engine& engine, const Catalog& catalog,
                                const std::set<std::string, std::less<>>& skip, size_t count) {
  std::vector<const Document*> documents;
  for (const store::DocumentInfo& info : catalog.documents())
    if (info.chunks > 0 && !skip.contains(info.document.slug)) documents.push_back(&info.document);
  std::stable_sort(documents.begin(), documents.end(),
                   [](const Document* a, const Document* b) { return a->date > b->date; });
  std::vector<Hit> out;
  for (size_t i = 0; i < documents.size() && out.size() < count; ++i) {
    STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
                 engine.parts().index.document_chunks(documents[i]->slug));
    if (chunks.empty()) continue;
    Hit hit;
    hit.id = chunks.front().id;
    hit.chunk = std::move(chunks.front().chunk);
    out.push_back(std::move(hit));
  }
  return out;
}

// Cleans a framing line, which a model wrote and which is not trusted: removes tags and what the
// voice guard forbids, and joins several lines into one.
std::optional<std::string> guard_line(const std::optional<std::string>& line,
                                      const cite::GuardRules& rules) {
  if (!line) return std::nullopt;
  cite::AnswerStream answer({}, {}, rules, "", [](const Event&) {});
  answer.push(*line);
  answer.finish();
  std::string out = text::one_line(answer.summary().text);
  return out.empty() ? std::nullopt : std::optional(out);
}

// Picks a line by the slug, so that a page always gets the same one.
const std::string& pick_line(const Document& document, const std::vector<std::string>& lines) {
  size_t sum = 0;
  for (unsigned char c : document.slug) sum += c;
  return lines[sum % lines.size()];
}

Json cite_json(const Citation& citation) { return Json::parse(data_json(CiteEvent{citation})); }

}  // namespace

std::string related_query(const Document& document) {
  return fmt::format("{} {} {}", document.title, fmt::join(document.tags, " "),
                     document.description);
}

Result<Recommendations> discover(Engine& engine, const DiscoverRequest& request,
                                 std::stop_token stop) {
  if (request.limit < 1 || request.limit > kMaxRecommendations)
    return fail(ErrorKind::usage, fmt::format("the limit must be 1 to {}, not {}",
                                              kMaxRecommendations, request.limit));
  if (!request.visitor_id.empty()) STOKA_TRY(parse_uuid("visitor", request.visitor_id, {}));
  STOKA_TRY(engine.check_index(stop));
  STOKA_ASSIGN(std::shared_ptr<const Catalog> catalog, engine.catalog());
  STOKA_ASSIGN(VisitorLookup lookup,
               look_up_visitor(engine.parts().sessions,
                               {to_lower(request.visitor_id), request.subject, request.remote}));
  const Visitor visitor = lookup.stored ? std::move(*lookup.stored) : Visitor();
  const Document* page = catalog->find_page(request.page.page);
  std::vector<session::Interest> interests = engine.interests(visitor, request.page, *catalog);
  std::set<std::string, std::less<>> skip = seen_slugs(request, page, visitor);

  retrieve::Query query;
  if (page)
    query.text = related_query(*page);
  else if (!request.page.page_title.empty())
    query.text = text::clean_query(request.page.page_title);
  for (const session::Interest& interest : interests) {
    query.interests.emplace_back(interest.tag, interest.weight);
    if (!page) query.text += " " + interest.tag;
  }
  query.exclude_slugs = skip;

  Recommendations out;
  std::vector<Hit> ranked;
  const std::string query_text = query.text;
  if (!query_text.empty()) {
    STOKA_ASSIGN(Candidates found, engine.candidates(std::move(query), stop));
    rerank::PolicyOptions policy = engine.settings().policy;
    policy.max_per_slug = 1;
    policy.keep = static_cast<size_t>(request.limit);
    ranked = rerank::apply_policy(std::move(found.hits),
                                  {query_text, {}, 0, engine.parts().clock.today()}, policy);
    out.confidence = rerank::classify_confidence(ranked, engine.settings().thresholds).confidence;
  }
  size_t limit = static_cast<size_t>(request.limit);
  if (ranked.size() < limit) {
    for (const Hit& hit : ranked) skip.insert(hit.chunk.slug);
    STOKA_ASSIGN(std::vector<Hit> filler, newest(engine, *catalog, skip, limit - ranked.size()));
    std::move(filler.begin(), filler.end(), std::back_inserter(ranked));
  }
  std::vector<std::optional<std::string>> framings(ranked.size());
  if (request.framing) framings = engine.parts().generator.frame(ranked, stop);
  for (size_t i = 0; i < ranked.size(); ++i) {
    STOKA_ASSIGN(Citation citation, cite(engine, ranked[i], query_text));
    out.items.push_back({std::move(citation), guard_line(framings[i], engine.parts().guard)});
  }
  // A list with items is at least adjacent, even if no item answers the query.
  if (!out.items.empty() && out.confidence == Confidence::nothing)
    out.confidence = Confidence::adjacent;
  out.hits = std::move(ranked);
  out.interests = std::move(interests);
  return out;
}

Result<Ambient> ambient(Engine& engine, const std::string& page, std::stop_token stop) {
  const golden::Golden& golden = engine.parts().golden;
  STOKA_ASSIGN(std::shared_ptr<const Catalog> catalog, engine.catalog());
  const Document* document = catalog->find_page(page);
  Ambient out;
  const std::string path = page_path(page);
  // A page such as "/" has a hint of its own, which is used even if the page is a document as well.
  const golden::SiteFacts site = engine.site_facts(*catalog);
  if (out.hint = golden.hint(path, site); !out.hint.empty()) return out;
  if (!document) {
    out.hint = golden.hint_below(path, site);
    return out;
  }
  if (document->type == "product") {
    out.hint = pick_line(*document, golden.product_hints);
    return out;
  }
  DiscoverRequest request;
  request.page.page = page;
  request.limit = 1;
  request.framing = false;
  STOKA_ASSIGN(Recommendations found, discover(engine, request, stop));
  if (found.items.empty()) return out;
  out.hint = pick_line(*document, golden.post_hints);
  out.citation = std::move(found.items.front().citation);
  return out;
}

std::string to_json(const Recommendations& recommendations) {
  Json items = Json::array();
  for (const Recommendation& item : recommendations.items) {
    Json body = cite_json(item.citation);
    body["framing"] = item.framing ? Json(*item.framing) : Json(nullptr);
    items.push_back(std::move(body));
  }
  return to_json_text(Json{{"recommendations", std::move(items)},
                           {"confidence", to_string(recommendations.confidence)}});
}

std::string to_json(const Ambient& ambient) {
  return to_json_text(
      Json{{"hint", ambient.hint.empty() ? Json(nullptr) : Json(ambient.hint)},
           {"cite", ambient.citation ? cite_json(*ambient.citation) : Json(nullptr)}});
}

}  // namespace stoka::pipeline
