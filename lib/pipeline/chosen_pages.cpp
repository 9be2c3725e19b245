#include "pipeline/chosen_pages.h"

#include <algorithm>

#include "base/url.h"
#include "text/normalize.h"
#include "text/pull_quote.h"
#include "text/sentences.h"
#include "text/words.h"

namespace stoka::pipeline {
namespace {

// The score of the first chosen page. The score of each further page is lower by kChosenStep.
constexpr double kChosenScore = 0.95;
constexpr double kChosenStep = 0.01;
// How many passages of a page a session shows, its card included.
constexpr size_t kMaxPassages = 5;
// A shorter sentence does not count as shown merely because a longer quote contains it.
constexpr size_t kMinSentenceBytes = 20;

std::set<std::string> query_stems(std::string_view query) {
  std::set<std::string> out;
  for (const text::Word& word : text::words(query))
    if (!text::is_stop_word(word.text)) out.insert(text::stem(word.text));
  return out;
}

size_t shared_stems(const std::set<std::string>& stems, std::string_view content) {
  if (stems.empty()) return 0;
  std::set<std::string> found;
  for (const text::Word& word : text::words(content))
    if (std::string stem = text::stem(word.text); stems.contains(stem)) found.insert(stem);
  return found.size();
}

// The quotes of the page that the session has shown, oldest first.
std::vector<std::string> shown_quotes(const Session& session, std::string_view slug) {
  std::vector<std::string> out;
  for (const Exchange& exchange : session.exchanges)
    for (const CitationRecord& citation : exchange.citations)
      if (citation.slug == slug && !citation.quote.empty())
        out.push_back(text::collapse_whitespace(citation.quote));
  return out;
}

// Returns the content without the sentences that the quotes show. Sets `last` to true if the last
// of the quotes occurs in the content.
std::string without_shown(const std::string& content, const std::vector<std::string>& quotes,
                          bool& last) {
  std::string out;
  size_t kept_from = 0;
  for (const text::Span& span : text::sentences(content)) {
    const std::string sentence = text::collapse_whitespace(span.in(content));
    const auto quote = std::find_if(quotes.begin(), quotes.end(), [&](const std::string& shown) {
      return sentence.find(shown) != std::string::npos ||
             (sentence.size() >= kMinSentenceBytes && shown.find(sentence) != std::string::npos);
    });
    if (quote == quotes.end()) continue;
    if (*quote == quotes.back()) last = true;
    out += content.substr(kept_from, span.begin - kept_from);
    kept_from = span.end;
  }
  return out + content.substr(std::min(kept_from, content.size()));
}

Hit chosen_hit(store::StoredChunk chunk, double score) {
  Hit hit;
  hit.id = chunk.id;
  hit.chunk = std::move(chunk.chunk);
  hit.raw_score = hit.score = score;
  return hit;
}

}  // namespace

Result<> add_source(Engine& engine, Turn& turn, Hit hit) {
  STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
               engine.parts().index.document_chunks(hit.chunk.slug));
  if (chunks.empty()) return {};
  cite::CitationSource source{hit, {}, 0};
  for (store::StoredChunk& chunk : chunks) {
    if (chunk.id == hit.id) source.chunk_index = source.document_chunks.size();
    source.document_chunks.push_back(std::move(chunk.chunk.content));
  }
  turn.sources.push_back(std::move(source));
  turn.ranked.push_back(std::move(hit));
  return {};
}

Result<bool> cite_pages(Engine& engine, Turn& turn, std::span<const Document* const> pages,
                        std::string_view query, size_t limit) {
  const std::set<std::string> stems = query_stems(query);
  for (const Document* page : pages) {
    if (turn.sources.size() >= limit) break;
    STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
                 engine.parts().index.document_chunks(page->slug));
    if (chunks.empty()) continue;
    size_t best = 0, most = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const size_t shared = shared_stems(stems, chunks[i].chunk.content);
      if (shared > most) {
        most = shared;
        best = i;
      }
    }
    const double score = kChosenScore - kChosenStep * static_cast<double>(turn.sources.size());
    STOKA_TRY(add_source(engine, turn, chosen_hit(std::move(chunks[best]), score)));
  }
  turn.confidence = Confidence::direct;
  turn.low_confidence = false;
  return !turn.sources.empty();
}

Result<bool> cite_further(Engine& engine, Turn& turn, const Document& page, Passages order) {
  if (!turn.session.has_shown(page.slug)) {
    const Document* pages[] = {&page};
    return cite_pages(engine, turn, pages, turn.query, 1);
  }
  const std::vector<std::string> quotes = shown_quotes(turn.session, page.slug);
  if (quotes.size() >= kMaxPassages) return false;
  STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
               engine.parts().index.document_chunks(page.slug));
  const size_t count = chunks.size();
  const std::set<std::string> stems = query_stems(turn.query);
  size_t last_shown = 0;
  struct Passage {
    size_t index = 0;
    size_t shared = 0;    // words of the question that the passage has
    bool quoted = false;  // whether a sentence of the passage was shown
  };
  std::vector<Passage> passages;
  for (size_t i = 0; i < count; ++i) {
    std::string& content = chunks[i].chunk.content;
    bool is_last = false;
    std::string left = quotes.empty() ? content : without_shown(content, quotes, is_last);
    if (is_last) last_shown = i;
    const bool quoted = left != content;
    content = std::move(left);
    if (!text::best_sentence(content, turn.query).empty())
      passages.push_back({i, shared_stems(stems, content), quoted});
  }
  if (passages.empty()) return false;
  const auto distance = [&](const Passage& p) { return (p.index + count - last_shown) % count; };
  const bool nearest = order == Passages::nearest;
  const Passage chosen =
      *std::min_element(passages.begin(), passages.end(), [&](const Passage& a, const Passage& b) {
        if (nearest && a.shared != b.shared) return a.shared > b.shared;
        if (a.quoted != b.quoted) return b.quoted;
        return distance(a) < distance(b);
      });
  Hit hit = chosen_hit(std::move(chunks[chosen.index]), kChosenScore);
  // Only this passage may be quoted, without the sentences that were shown before.
  cite::CitationSource source{hit, {hit.chunk.content}, 0, true};
  turn.sources.push_back(std::move(source));
  turn.ranked.push_back(std::move(hit));
  turn.confidence = Confidence::direct;
  turn.low_confidence = false;
  return true;
}

Result<WordsFound> words_found(Engine& engine, const Document& page, std::string_view query) {
  const std::set<std::string> stems = query_stems(query);
  STOKA_ASSIGN(std::vector<store::StoredChunk> chunks,
               engine.parts().index.document_chunks(page.slug));
  std::string text = page.title;
  for (const store::StoredChunk& chunk : chunks) text += "\n" + chunk.chunk.content;
  return WordsFound{shared_stems(stems, text), stems.size()};
}

std::string filled(std::string_view line, Values values) {
  std::string out;
  while (!line.empty()) {
    const size_t open = line.find('{');
    out += line.substr(0, open);
    if (open == std::string_view::npos) break;
    line.remove_prefix(open);
    const size_t close = line.find('}');
    const std::string_view name =
        close == std::string_view::npos ? std::string_view() : line.substr(1, close - 1);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& item) { return item.first == name; });
    const size_t taken = value == values.end() ? 1 : close + 1;
    out += value == values.end() ? "{" : text::one_line(value->second);
    line.remove_prefix(taken);
  }
  return out;
}

void reply_with(const Engine& engine, Turn& turn, std::string_view name, Values values) {
  turn.canned_reply = filled(engine.parts().golden.reply(name, turn.session.turns), values);
  turn.route = Route::meta;
}

void point_at(const Engine& engine, Turn& turn, const Document& page) {
  const std::string link = safe_link(page.url, engine.settings().site_url);
  reply_with(engine, turn, "talk.above", {{"title", page.title}, {"link", link}});
  while (turn.canned_reply.ends_with(' ')) turn.canned_reply.pop_back();
}

void open_with(const Engine& engine, Turn& turn, std::string_view name, Values values) {
  turn.opening = filled(engine.parts().golden.reply(name, turn.session.turns), values);
}

std::set<std::string, std::less<>> seen_pages(const Turn& turn, const Catalog& catalog) {
  std::set<std::string, std::less<>> out(turn.session.shown_slugs.begin(),
                                         turn.session.shown_slugs.end());
  out.insert(turn.page.seen_slugs.begin(), turn.page.seen_slugs.end());
  for (const HistoryEntry& reading : turn.visitor.history) out.insert(reading.slug);
  if (!turn.page.page.empty())
    if (const Document* open = catalog.find_page(turn.page.page)) out.insert(open->slug);
  return out;
}

std::vector<const Document*> unseen_pages(const Turn& turn, const Catalog& catalog) {
  const std::set<std::string, std::less<>> seen = seen_pages(turn, catalog);
  std::vector<const Document*> out;
  for (const store::DocumentInfo& info : catalog.documents())
    if (info.chunks > 0 && !seen.contains(info.document.slug)) out.push_back(&info.document);
  return out;
}

}  // namespace stoka::pipeline
