#include "pipeline/site_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "base/url.h"
#include "pipeline/chosen_pages.h"
#include "pipeline/discover.h"
#include "text/normalize.h"
#include "text/words.h"

namespace stoka::pipeline {
namespace {

using Pages = std::vector<const Document*>;

constexpr size_t kNamesInLine = 8;

std::vector<std::string> folded_words(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text::fold(text))) out.push_back(std::move(word.text));
  return out;
}

bool has_word(std::span<const std::string> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether a word asks for what is new or belongs to a date, and therefore names no subject.
bool is_about_time(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "new",       "newest",   "latest",   "recent",  "recently", "lately",    "fresh",
      "changed",   "change",   "changes",  "shipped", "ship",     "news",      "updates",
      "update",    "released", "release",  "version", "last",     "published", "publish",
      "week",      "month",    "year",     "since",   "today",    "posts",     "post",
      "yesterday", "around",   "releases", "days",    "visit",    "write",     "wrote",
      "written",   "whats",    "page",     "pages",   "site",     "blog",      "time"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool asks_for_new(std::span<const std::string> words) {
  for (std::string_view word : {"new", "newest", "latest", "recent", "recently", "lately", "fresh",
                                "changed", "shipped", "news", "updates", "last"})
    if (has_word(words, word)) return true;
  return false;
}

// The words that name the subject of a question, without those of a date or a version number.
std::vector<std::string> subject_words(std::string_view text) {
  std::vector<std::string> out;
  for (std::string& word : folded_words(text)) {
    const bool has_digit = std::any_of(word.begin(), word.end(), is_ascii_digit);
    if (!has_digit && !text::is_stop_word(word) && !is_about_time(word))
      out.push_back(std::move(word));
  }
  return out;
}

// How many of the words have a stem that also occurs in the title, slug or tags of the page.
size_t named_words(const Document& page, const std::vector<std::string>& words) {
  std::set<std::string> stems;
  for (const std::string& word :
       folded_words(fmt::format("{} {} {}", page.title, page.slug, fmt::join(page.tags, " "))))
    stems.insert(text::stem(word));
  return static_cast<size_t>(std::count_if(words.begin(), words.end(), [&](const std::string& w) {
    return stems.contains(text::stem(w));
  }));
}

void newest_first(Pages& pages) {
  std::stable_sort(pages.begin(), pages.end(),
                   [](const Document* a, const Document* b) { return a->date > b->date; });
}

// -- functions for version numbers

using Version = std::vector<int>;

// Parses a version such as "v2", "1.88" or "1.88.0." into numbers, without zeros at the end. A
// whole number without a v is not a version.
std::optional<Version> parse_version(std::string_view token) {
  while (!token.empty() && !is_ascii_digit(token.back())) token.remove_suffix(1);
  while (!token.empty() && !is_ascii_digit(token.front()) && token.front() != 'v')
    token.remove_prefix(1);
  const bool has_v = token.starts_with('v');
  if (has_v) token.remove_prefix(1);
  Version out;
  bool has_dot = false;
  while (!token.empty()) {
    const size_t end = std::min(token.find('.'), token.size());
    const std::optional<int> number = parse_number<int>(token.substr(0, end));
    if (!number || *number < 0) return std::nullopt;
    out.push_back(*number);
    has_dot = has_dot || end < token.size();
    token.remove_prefix(std::min(end + 1, token.size()));
  }
  if (out.empty() || (!has_v && !has_dot)) return std::nullopt;
  while (out.size() > 1 && out.back() == 0) out.pop_back();
  return out;
}

std::vector<Version> versions(std::string_view text) {
  const std::string folded = text::fold(text);
  std::vector<Version> out;
  for (std::string_view rest = folded; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(" ,;:()/\"'"), rest.size());
    if (auto version = parse_version(rest.substr(0, end))) out.push_back(std::move(*version));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// The versions in a slug, which has hyphens between the numbers: "rust-1-88-0".
std::vector<Version> slug_versions(std::string_view slug) {
  std::string dotted(slug);
  for (size_t i = 1; i + 1 < dotted.size(); ++i) {
    const bool between = is_ascii_digit(dotted[i - 1]) && is_ascii_digit(dotted[i + 1]);
    if (dotted[i] == '-') dotted[i] = between ? '.' : ' ';
  }
  return versions(dotted);
}

// -- functions for the names in a reply

std::string counted(std::map<std::string, size_t> counts, bool with_numbers, size_t limit) {
  std::vector<std::pair<std::string, size_t>> items(counts.begin(), counts.end());
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (items.size() > limit) items.resize(limit);
  std::vector<std::string> names;
  for (auto& [name, count] : items)
    names.push_back(with_numbers ? fmt::format("{} {}", count, name) : std::move(name));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool reply_with_names(Engine& engine, Turn& turn, std::string_view line, std::string names,
                      size_t count = 0) {
  if (names.empty())
    reply_with(engine, turn, "site.absent");
  else
    reply_with(engine, turn, line, {{"names", names}, {"count", std::to_string(count)}});
  return true;
}

// The name in the title of a product: "Lanternfish" from "Lanternfish: An E-Paper Handheld".
std::string product_name(const Document& page) {
  return page.title.substr(0, page.title.find(": "));
}

// -- functions that answer one intent each

Result<bool> answer_best(Engine& engine, Turn& turn, const Catalog& catalog) {
  Pages unseen = unseen_pages(turn, catalog);
  if (unseen.empty()) {
    reply_with(engine, turn, "site.end");
    return true;
  }
  const auto is_of = [](std::vector<std::string_view> types) {
    return [types](const Document* page) {
      return std::find(types.begin(), types.end(), page->type) != types.end();
    };
  };
  // Chooses essays, or else any documents but products and plain pages, or else all documents.
  Pages chosen;
  std::copy_if(unseen.begin(), unseen.end(), std::back_inserter(chosen),
               is_of({"philosophy", "essay"}));
  if (chosen.empty())
    std::remove_copy_if(unseen.begin(), unseen.end(), std::back_inserter(chosen),
                        is_of({"product", "page"}));
  if (chosen.empty()) chosen = unseen;
  const auto interest = [&](const Document* page) {
    double best = 0;
    for (const session::Interest& wanted : turn.interests)
      if (has_word(page->tags, wanted.tag)) best = std::max(best, wanted.weight);
    return best;
  };
  std::stable_sort(chosen.begin(), chosen.end(), [&](const Document* a, const Document* b) {
    const double of_a = interest(a), of_b = interest(b);
    if (of_a != of_b) return of_a > of_b;
    if (a->reading_minutes != b->reading_minutes) return a->reading_minutes > b->reading_minutes;
    return a->date > b->date;
  });
  open_with(engine, turn, "site.best");
  return cite_pages(engine, turn, chosen, "", 1);
}

Result<bool> answer_new(Engine& engine, Turn& turn, const Catalog& catalog) {
  const std::vector<std::string> words = folded_words(turn.query);
  const std::optional<DateWindow> window = date_window(words, engine.parts().clock.today());
  if (!window && !asks_for_new(words)) return false;
  std::vector<std::string> subject = subject_words(turn.intent.rest);
  // The name of a month or a year belongs to the date and is not a subject.
  if (window)
    std::erase_if(subject, [&](const std::string& word) {
      return window->name.find(word) != std::string::npos ||
             date_window(std::vector<std::string>{"in", word}, window->to).has_value();
    });
  Pages pages, newest;
  for (const store::DocumentInfo& info : catalog.documents()) {
    const Document& page = info.document;
    if (info.chunks == 0 || !page.date) continue;
    newest.push_back(&page);
    if (window && (*page.date < window->from || *page.date > window->to)) continue;
    if (named_words(page, subject) == subject.size()) pages.push_back(&page);
  }
  if (newest.empty() || (pages.empty() && !subject.empty())) return false;
  newest_first(newest);
  newest_first(pages);
  if (pages.empty()) {
    const Document& last = *newest.front();
    reply_with(
        engine, turn, "site.none",
        {{"window", window->name}, {"title", last.title}, {"date", short_date(*last.date, {})}});
    return true;
  }
  const Document& first = *pages.front();
  std::erase_if(pages, [&](const Document* page) { return turn.session.has_shown(page->slug); });
  if (pages.empty()) {
    point_at(engine, turn, first);
    return true;
  }
  open_with(engine, turn, "site.new");
  return cite_pages(engine, turn, pages, turn.intent.rest, 2);
}

Result<bool> answer_next(Engine& engine, Turn& turn, const Catalog& catalog, std::stop_token stop) {
  DiscoverRequest request;
  request.page = turn.page;
  request.limit = 1;
  request.framing = false;
  request.visitor_id = turn.visitor.id;
  request.subject = turn.subject;
  auto& seen = request.page.seen_slugs;
  seen.insert(seen.end(), turn.session.shown_slugs.begin(), turn.session.shown_slugs.end());
  if (!catalog.find_page(request.page.page) && !turn.session.exchanges.empty()) {
    // If no page is open, the recommendation is for the page that was cited last.
    for (auto e = turn.session.exchanges.rbegin(); e != turn.session.exchanges.rend(); ++e) {
      if (e->citations.empty()) continue;
      const Document* page = catalog.find(e->citations.front().slug);
      if (page) request.page.page = page->url.empty() ? page->slug : page->url;
      break;
    }
  }
  STOKA_ASSIGN(Recommendations found, discover(engine, request, stop));
  Pages pages;
  for (const Hit& hit : found.hits)
    if (const Document* page = catalog.find(hit.chunk.slug)) pages.push_back(page);
  if (pages.empty()) {
    reply_with(engine, turn, "site.end");
    return true;
  }
  open_with(engine, turn, "site.next");
  return cite_pages(engine, turn, pages, "", 1);
}

Result<bool> answer_named_page(Engine& engine, Turn& turn, const Catalog& catalog) {
  for (const std::string& name : turn.intent.pages)
    for (const store::DocumentInfo& info : catalog.documents()) {
      const Document& page = info.document;
      const bool is_named = page.slug == name || page.slug == "page-" + name ||
                            text::fold(page.title) == text::fold(name) ||
                            (!page.url.empty() && page_slug(page.url) == name);
      if (!is_named || info.chunks == 0) continue;
      if (turn.session.has_shown(page.slug)) {
        point_at(engine, turn, page);
        return true;
      }
      open_with(engine, turn, "site.page");
      const Document* pages[] = {&page};
      return cite_pages(engine, turn, pages, "", 1);
    }
  const bool has_line = engine.parts().golden.replies.contains(turn.intent.name);
  reply_with(engine, turn, has_line ? std::string_view(turn.intent.name) : "site.absent");
  return true;
}

// Names the products and cites the newest one that the session has not shown.
Result<bool> answer_products(Engine& engine, Turn& turn, const Catalog& catalog) {
  std::map<std::string, size_t> names;
  Pages pages;
  for (const store::DocumentInfo& info : catalog.documents()) {
    if (info.document.type != "product") continue;
    names[product_name(info.document)] = 1;
    if (info.chunks > 0 && !turn.session.has_shown(info.document.slug))
      pages.push_back(&info.document);
  }
  const std::string line = counted(std::move(names), false, 2 * kNamesInLine);
  newest_first(pages);
  if (line.empty() || pages.empty()) return reply_with_names(engine, turn, "site.products", line);
  open_with(engine, turn, "site.products", {{"names", line}});
  return cite_pages(engine, turn, pages, "", 1);
}

bool answer_with_numbers(Engine& engine, Turn& turn, const Catalog& catalog) {
  const std::string& name = turn.intent.name;
  std::map<std::string, size_t> types, tags, authors;
  size_t count = 0;
  for (const store::DocumentInfo& info : catalog.documents()) {
    const Document& page = info.document;
    ++count;
    ++types[page.type];
    for (const std::string& tag : page.tags) ++tags[tag];
    if (!page.author.empty()) ++authors[page.author];
  }
  if (name == "site.count")
    return reply_with_names(engine, turn, name, counted(std::move(types), true, kNamesInLine),
                            count);
  if (name == "site.topics")
    return reply_with_names(engine, turn, name, counted(std::move(tags), false, kNamesInLine));
  if (name == "site.authors")
    return reply_with_names(engine, turn, name, counted(std::move(authors), false, kNamesInLine));
  return false;
}

}  // namespace

const Document* version_page(const Catalog& catalog, std::string_view query) {
  const std::vector<Version> wanted = versions(query);
  if (wanted.empty()) return nullptr;
  const std::vector<std::string> subject = subject_words(query);
  const Document* best = nullptr;
  size_t most = 0;
  for (const store::DocumentInfo& info : catalog.documents()) {
    const Document& page = info.document;
    if (info.chunks == 0) continue;
    std::vector<Version> has = versions(page.title);
    for (Version& version : slug_versions(page.slug)) has.push_back(std::move(version));
    const bool matches = std::any_of(wanted.begin(), wanted.end(), [&](const Version& version) {
      return std::find(has.begin(), has.end(), version) != has.end();
    });
    if (!matches) continue;
    const size_t named = named_words(page, subject);
    if (named == 0 && !subject.empty()) continue;
    if (best && (named < most || (named == most && page.date <= best->date))) continue;
    best = &page;
    most = named;
  }
  return best;
}

Result<bool> answer_about_site(Engine& engine, Turn& turn, const Catalog& catalog,
                               std::stop_token stop) {
  const std::string& name = turn.intent.name;
  if (name.empty() || name == "site.new") {
    if (const Document* page = version_page(catalog, turn.query)) {
      STOKA_ASSIGN(const bool cited, cite_further(engine, turn, *page, Passages::nearest));
      if (cited)
        open_with(engine, turn, "site.version");
      else
        point_at(engine, turn, *page);
      return true;
    }
  }
  if (!name.starts_with("site.")) return false;
  if (!turn.intent.pages.empty()) return answer_named_page(engine, turn, catalog);
  if (name == "site.products") return answer_products(engine, turn, catalog);
  if (name == "site.best") return answer_best(engine, turn, catalog);
  if (name == "site.new") return answer_new(engine, turn, catalog);
  if (name == "site.next") return answer_next(engine, turn, catalog, stop);
  return answer_with_numbers(engine, turn, catalog);
}

}  // namespace stoka::pipeline
