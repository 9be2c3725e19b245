#include "pipeline/continuation.h"

#include <algorithm>

#include "base/url.h"
#include "pipeline/chosen_pages.h"
#include "pipeline/discover.h"
#include "text/normalize.h"
#include "text/words.h"

namespace stoka::pipeline {
namespace {

// The factors for the score of a related page with another type, and with another author.
constexpr double kOtherType = 1.5;
constexpr double kOtherAuthor = 1.2;
constexpr size_t kNeighbours = 20;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text::fold(text))) out.push_back(std::move(word.text));
  return out;
}

bool has_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(any.begin(), any.end(), word) != any.end();
  });
}

// Whether "it" or "they" is the subject of a question: "is it finished?", "why was it rolled back?"
bool asks_of_it(const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i)
    if ((words[i] == "it" || words[i] == "they") &&
        has_any({words[i - 1]}, {"is", "was", "are", "were", "does", "do", "did", "has", "have",
                                 "had", "can", "could", "will", "would", "should"}))
      return true;
  return false;
}

const Document* open_page(const Turn& turn, const Catalog& catalog) {
  return turn.page.page.empty() ? nullptr : catalog.find_page(turn.page.page);
}

// The page that "it" in a question stands for: the first page cited by the latest answer that has
// citations. The result is nullptr if the session has cited nothing.
const Document* last_cited(const Turn& turn, const Catalog& catalog) {
  const auto& exchanges = turn.session.exchanges;
  for (auto exchange = exchanges.rbegin(); exchange != exchanges.rend(); ++exchange)
    for (const CitationRecord& citation : exchange->citations)
      if (const Document* page = catalog.find(citation.slug)) return page;
  return nullptr;
}

// The page that a question refers to. "This page" means the open page; "it" means the page cited
// last, or the open page if nothing was cited.
const Document* referent(const Turn& turn, const Catalog& catalog) {
  const Document* open = open_page(turn, catalog);
  const std::vector<std::string> words = words_of(turn.query);
  if (open && has_any(words, {"this"}) && has_any(words, {"page", "post", "article", "essay"}))
    return open;
  const Document* cited = last_cited(turn, catalog);
  return cited ? cited : open;
}

// The pages that the session has cited, each once, in order.
std::vector<const Document*> cited_pages(const Turn& turn, const Catalog& catalog) {
  std::vector<const Document*> out;
  for (const Exchange& exchange : turn.session.exchanges)
    for (const CitationRecord& citation : exchange.citations) {
      const Document* page = catalog.find(citation.slug);
      if (page && std::find(out.begin(), out.end(), page) == out.end()) out.push_back(page);
    }
  return out;
}

bool reply_unclear(Engine& engine, Turn& turn) {
  reply_with(engine, turn, "talk.unclear");
  turn.confidence = Confidence::nothing;
  return true;
}

enum class View { same, other };

// Cites the page most closely related to `page` that the visitor has not seen. View::other prefers
// a page of another type or author, which is more likely to differ in its view of the matter.
Result<bool> cite_neighbour(Engine& engine, Turn& turn, const Catalog& catalog,
                            const Document& page, View view, std::string_view line,
                            std::stop_token stop) {
  retrieve::Query query;
  query.text = related_query(page);
  query.exclude_slugs = seen_pages(turn, catalog);
  query.exclude_slugs.insert(page.slug);
  for (const session::Interest& interest : turn.interests)
    query.interests.emplace_back(interest.tag, interest.weight);
  const std::string text = query.text;
  STOKA_ASSIGN(Candidates found, engine.candidates(std::move(query), stop));
  turn.reranker_error = std::move(found.reranker_error);
  std::move(found.stages.begin(), found.stages.end(), std::back_inserter(turn.stages));
  rerank::PolicyOptions policy = engine.settings().policy;
  policy.max_per_slug = 1;
  policy.keep = kNeighbours;
  std::vector<Hit> ranked = rerank::apply_policy(
      std::move(found.hits), {text, {}, 0, engine.parts().clock.today()}, policy);
  const auto weight = [&](const Hit& hit) {
    double out = hit.score;
    const Document* other = catalog.find(hit.chunk.slug);
    if (view == View::same || !other) return out;
    if (other->type != page.type) out *= kOtherType;
    if (!other->author.empty() && other->author != page.author) out *= kOtherAuthor;
    return out;
  };
  const auto best = std::max_element(ranked.begin(), ranked.end(), [&](const Hit& a, const Hit& b) {
    return weight(a) < weight(b);
  });
  if (best == ranked.end()) {
    reply_with(engine, turn, "site.end");
    return true;
  }
  open_with(engine, turn, line);
  STOKA_TRY(add_source(engine, turn, *best));
  turn.confidence = best->score >= engine.settings().thresholds.direct ? Confidence::direct
                                                                       : Confidence::adjacent;
  return !turn.sources.empty();
}

Result<bool> answer_more(Engine& engine, Turn& turn, const Catalog& catalog, std::stop_token stop) {
  const Document* page = last_cited(turn, catalog);
  if (!page) page = open_page(turn, catalog);
  if (!page) return reply_unclear(engine, turn);
  STOKA_ASSIGN(const bool cited, cite_further(engine, turn, *page, Passages::onwards));
  if (!cited)
    return cite_neighbour(engine, turn, catalog, *page, View::same, "talk.neighbour", stop);
  open_with(engine, turn, "talk.more");
  return true;
}

// Adds the page to the reading history, then cites a related page, if possible with another view.
Result<bool> answer_read(Engine& engine, Turn& turn, const Catalog& catalog, std::stop_token stop) {
  const Document* page = referent(turn, catalog);
  if (!page) return reply_unclear(engine, turn);
  const HistoryEntry reading{page->slug, engine.parts().clock.now(), 100};
  auto saved = engine.parts().sessions.update_visitor(turn.session.visitor_id, std::nullopt,
                                                      std::span(&reading, 1), reading.at);
  if (!saved) engine.parts().log.warning("the reading was not saved: " + saved.error().message);
  turn.visitor.history.push_back(reading);
  return cite_neighbour(engine, turn, catalog, *page, View::other, "talk.read", stop);
}

// Cites the newest unseen page that is not newer than the page cited last.
Result<bool> answer_before(Engine& engine, Turn& turn, const Catalog& catalog) {
  const Document* page = last_cited(turn, catalog);
  if (!page) return reply_unclear(engine, turn);
  const Document* best = nullptr;
  for (const Document* other : unseen_pages(turn, catalog))
    if (other->date && page->date && *other->date <= *page->date &&
        (!best || *other->date > *best->date))
      best = other;
  if (!best) {
    reply_with(engine, turn, "site.end");
    return true;
  }
  open_with(engine, turn, "talk.before");
  return cite_pages(engine, turn, std::span(&best, 1), "", 1);
}

Result<bool> answer_again(Engine& engine, Turn& turn, const Catalog& catalog) {
  const std::vector<const Document*> cited = cited_pages(turn, catalog);
  const std::vector<std::string> words = words_of(turn.query);
  const Document* last = last_cited(turn, catalog);
  const Document* page = nullptr;
  const auto at = [&](size_t index) { return index < cited.size() ? cited[index] : nullptr; };
  if (has_any(words, {"first", "1st"})) {
    page = at(0);
  } else if (has_any(words, {"second", "2nd"})) {
    page = at(1);
  } else if (has_any(words, {"third", "3rd"})) {
    page = at(2);
  } else {
    const bool product = has_any(words, {"product"});
    for (auto item = cited.rbegin(); item != cited.rend() && !page; ++item)
      if (product ? (*item)->type == "product" : *item != last || has_any(words, {"last"}))
        page = *item;
  }
  if (!page) return reply_unclear(engine, turn);
  STOKA_ASSIGN(const bool found, cite_further(engine, turn, *page, Passages::onwards));
  if (found)
    open_with(engine, turn, "talk.again", {{"title", page->title}});
  else
    point_at(engine, turn, *page);
  return true;
}

// Replies with one line made from the metadata of the page, such as its author or its date.
bool answer_from_metadata(Engine& engine, Turn& turn, const Catalog& catalog) {
  const Document* page = referent(turn, catalog);
  if (!page) return reply_unclear(engine, turn);
  const std::string& name = turn.intent.name;
  const std::string link = safe_link(page->url, engine.settings().site_url);
  const std::string date = page->date ? short_date(*page->date, Date{}) : std::string();
  const bool known = name == "talk.who"    ? !page->author.empty()
                     : name == "talk.when" ? !date.empty()
                     : name == "talk.link" ? !link.empty()
                                           : true;
  reply_with(engine, turn, known ? name : name + "_unknown",
             {{"title", page->title},
              {"author", page->author},
              {"date", date},
              {"time", reading_time(page->reading_minutes)},
              {"link", link}});
  return true;
}

// Asks the visitor to define the last content word of the question, or to name a word.
bool answer_define(Engine& engine, Turn& turn) {
  const std::vector<std::string> words = words_of(turn.query);
  const bool asks_for_definition = has_any(words, {"define", "explain", "mean", "means"});
  std::string word;
  for (const std::string& candidate : words)
    if (!text::is_stop_word(candidate) && candidate != "really" && candidate != "actually")
      word = candidate;
  if (asks_for_definition || word.empty())
    reply_with(engine, turn, "talk.define_what");
  else
    reply_with(engine, turn, "talk.define", {{"word", word}});
  turn.confidence = Confidence::nothing;
  return true;
}

// The first page that was cited when the session had the same question before, or nullptr.
const Document* answered_before(const Turn& turn, const Catalog& catalog) {
  const std::vector<std::string> asked = words_of(turn.query);
  for (const Exchange& exchange : turn.session.exchanges)
    if (words_of(exchange.user) == asked)
      for (const CitationRecord& citation : exchange.citations)
        if (const Document* page = catalog.find(citation.slug)) return page;
  return nullptr;
}

// Answers a follow-up about "it" from the page cited last if the page has all words of the
// question. Otherwise the title of the page is added to the search.
Result<bool> answer_about_it(Engine& engine, Turn& turn, const Catalog& catalog) {
  if (turn.route != Route::followup) return false;
  if (!asks_of_it(words_of(turn.query))) return false;
  const Document* page = last_cited(turn, catalog);
  if (!page) return false;
  STOKA_ASSIGN(const WordsFound words, words_found(engine, *page, turn.query));
  if (words.wanted == 0) return false;
  turn.about = page->title;
  if (words.found < words.wanted) return false;
  return cite_further(engine, turn, *page, Passages::nearest);
}

}  // namespace

Result<bool> continue_conversation(Engine& engine, Turn& turn, const Catalog& catalog,
                                   std::stop_token stop) {
  const std::string name = turn.intent.name;
  if (name.empty()) {
    const Document* page = answered_before(turn, catalog);
    if (!page) return answer_about_it(engine, turn, catalog);
    point_at(engine, turn, *page);
    return true;
  }
  if (name == "talk.correct") {
    if (turn.intent.rest.empty()) return reply_unclear(engine, turn);
    turn.query = turn.intent.rest;
    turn.route = Route::fresh;
    return false;
  }
  if (name == "talk.more") return answer_more(engine, turn, catalog, stop);
  if (name == "talk.read") return answer_read(engine, turn, catalog, stop);
  if (name == "talk.before") return answer_before(engine, turn, catalog);
  if (name == "talk.again") return answer_again(engine, turn, catalog);
  if (name == "talk.define") return answer_define(engine, turn);
  if (name == "talk.vague") return reply_unclear(engine, turn);
  if (name == "talk.challenge") {
    const Document* page = referent(turn, catalog);
    if (!page) return reply_unclear(engine, turn);
    return cite_neighbour(engine, turn, catalog, *page, View::other, name, stop);
  }
  if (name == "talk.who" || name == "talk.when" || name == "talk.long" || name == "talk.link")
    return answer_from_metadata(engine, turn, catalog);
  return false;
}

}  // namespace stoka::pipeline
