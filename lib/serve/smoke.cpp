#include "serve/smoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "serve/event_reader.h"
#include "text/normalize.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::serve {
namespace {

constexpr std::string_view kChat = "/api/stoka/chat";
constexpr const char* kBounded = "tell me about bounded execution";
constexpr std::string_view kSlug = "philosophy-bounded-execution";
constexpr double kLeastScore = 0.60;
constexpr size_t kMostTokens = 40;
constexpr double kQuick = 150;  // ms
constexpr double kCached = 50;  // ms
constexpr int kTries = 3;       // at being quick
constexpr size_t kVisitors = 10;
constexpr size_t kMostShown = 80;  // bytes of an answer in a detail

struct Verdict {
  Checked::How how;
  std::string detail;
  bool ok() const { return how == Checked::How::ok; }
};

Verdict ok(std::string detail = {}) { return {Checked::How::ok, std::move(detail)}; }
Verdict bad(std::string why) { return {Checked::How::failed, std::move(why)}; }
Verdict skipped(std::string why) { return {Checked::How::skipped, std::move(why)}; }

class Timer {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What came of one question.
struct Said {
  std::string wrong;     // empty: a whole answer, ready first and done last
  bool limited = false;  // by the rate limit
  ReadyEvent ready;
  DoneEvent done;
  std::string text;
  std::vector<Citation> cites;
  double ms = 0;

  const Citation* cite(std::string_view slug) const {
    const auto found = std::find_if(cites.begin(), cites.end(),
                                    [&](const Citation& one) { return one.slug == slug; });
    return found == cites.end() ? nullptr : &*found;
  }
  std::string slugs() const {
    std::string out;
    for (const Citation& one : cites) out += (out.empty() ? "" : ", ") + text::one_line(one.slug);
    return out.empty() ? "nothing" : out;
  }
  std::string route() const { return std::string(name(ready.route)); }
};

std::string in_words(const Error& error) {
  return error.message + (error.hint.empty() ? "" : ". " + error.hint);
}

void hear(const net::Answer& answer, Said& out) {
  EventReader reader([&](const Event& event) {
    if (const auto* ready = std::get_if<ReadyEvent>(&event)) out.ready = *ready;
    if (const auto* token = std::get_if<TokenEvent>(&event)) out.text += token->text;
    if (const auto* cite = std::get_if<CiteEvent>(&event)) out.cites.push_back(cite->citation);
    if (const auto* done = std::get_if<DoneEvent>(&event)) out.done = *done;
    if (const auto* error = std::get_if<ErrorEvent>(&event))
      out.wrong = "error event: " + text::one_line(error->message);
  });
  Result<> how = reader.push(answer.body);
  if (how) how = reader.end();
  if (!how) out.wrong = "not the events of an answer: " + how.error().message;
}

Said ask(const Remote& site, const pipeline::TurnRequest& request, const std::stop_token& stop) {
  Said out;
  const Timer timer;
  const auto answer = site.post(kChat, Remote::chat_body(request), stop);
  out.ms = timer.ms();
  if (!answer) {
    out.wrong = in_words(answer.error());
  } else if (answer->status == 200 && answer->content_type == "text/event-stream") {
    hear(*answer, out);
  } else {
    out.limited = answer->status == 429;
    out.wrong = out.limited
                    ? "refused by the rate limit; STOKA_CHAT_LIMIT=0 on the server lifts it"
                    : fmt::format("HTTP {}: {}", answer->status, in_words(site.refusal(*answer)));
  }
  return out;
}

struct Context {
  const Remote& site;
  const SmokeHouse* house;
  std::stop_token stop;
  ReadyEvent first = {};             // of check 2
  bool first_cited = false;          // check 2 had its citation
  std::set<std::string> cited = {};  // by the site, to anybody here

  Said ask(const char* query, const ReadyEvent& session = {}) {
    pipeline::TurnRequest request;
    request.query = query;
    request.session_id = session.session_id;
    request.visitor_id = session.visitor_id;
    Said out = serve::ask(site, request, stop);
    for (const Citation& one : out.cites) cited.insert(one.slug);
    return out;
  }

  // Asked again while only the time is wrong.
  template <class Look>
  Verdict ask_quickly(const char* query, const Look& look) {
    double quickest = 0;
    for (int i = 0; i < kTries; ++i) {
      const Said said = ask(query);
      if (!said.wrong.empty()) return bad(said.wrong);
      Verdict verdict = look(said);
      quickest = i == 0 ? said.ms : std::min(quickest, said.ms);
      if (!verdict.ok()) return verdict;
      if (said.ms <= kQuick) return ok(fmt::format("{}, {:.1f} ms", verdict.detail, said.ms));
    }
    return bad(fmt::format("takes {:.0f} ms, at most {:.0f} are good", quickest, kQuick));
  }

  // Whether the site has a page for it.
  Result<bool> has_page(const std::string& slug) const {
    STOKA_ASSIGN(const net::Answer answer, site.get(Remote::open_path(slug), stop));
    if (answer.status != 302 && answer.status != 404) return fail(site.refusal(answer));
    return answer.status == 302;
  }
  // Nothing: all have one.
  template <class Slugs>
  std::optional<std::string> without_page(const Slugs& slugs) const {
    for (const std::string& slug : slugs) {
      const auto page = has_page(slug);
      if (!page) return in_words(page.error());
      if (!*page) return fmt::format("cites {}, which is not there", text::one_line(slug));
    }
    return std::nullopt;
  }
};

std::string shown(const std::string& text) {
  const std::string line = text::squeeze(text::one_line(text));
  if (line.size() <= kMostShown) return line;
  return line.substr(0, text::floor_border(line, kMostShown)) + "…";
}

Verdict identity(Context& context) {
  return context.ask_quickly("what is this?", [](const Said& said) {
    const size_t tokens = text::estimate_tokens(said.text);
    if (said.ready.route != Route::meta) return bad("route is " + said.route());
    if (!said.cites.empty()) return bad("cites " + said.slugs());
    if (!said.text.ends_with('?')) return bad("does not end with a question: " + shown(said.text));
    if (tokens > kMostTokens) return bad(fmt::format("is {} tokens long", tokens));
    return ok(fmt::format("{} tokens", tokens));
  });
}

Verdict citation(Context& context) {
  const Said said = context.ask(kBounded);
  if (!said.wrong.empty()) return bad(said.wrong);
  context.first = said.ready;
  if (said.ready.route != Route::fresh) return bad("route is " + said.route());
  const Citation* const cite = said.cite(kSlug);
  if (cite == nullptr) return bad(fmt::format("cites {}, and not {}", said.slugs(), kSlug));
  context.first_cited = true;
  if (cite->score < kLeastScore) return bad(fmt::format("score is {:.2f}", cite->score));
  return ok(fmt::format("score {:.2f}, {:.1f} ms", cite->score, said.ms));
}

Verdict memory(Context& context) {
  if (!context.first_cited) return bad(fmt::format("check 2 was not shown {}", kSlug));
  const Said said = context.ask(kBounded, context.first);
  if (!said.wrong.empty()) return bad(said.wrong);
  if (said.ready.session_id != context.first.session_id) return bad("answers in another session");
  if (said.cite(kSlug) != nullptr) return bad(fmt::format("cites {} again", kSlug));
  return ok("cites " + said.slugs());
}

Verdict refusal(Context& context) {
  return context.ask_quickly("best javascript framework?", [](const Said& said) {
    if (said.ready.route != Route::offtopic) return bad("route is " + said.route());
    if (!said.cites.empty()) return bad("cites " + said.slugs());
    if (said.text != "wrong terminal.") return bad("says: " + shown(said.text));
    return ok("wrong terminal");
  });
}

Verdict honesty(Context& context) {
  const Said said = context.ask("quantum gravity research");
  if (!said.wrong.empty()) return bad(said.wrong);
  if (said.ready.route == Route::nothing)
    return said.cites.empty() ? ok("void") : bad("void, and cites " + said.slugs());
  if (said.done.confidence != Confidence::adjacent)
    return bad(fmt::format("confidence is {}", name(said.done.confidence)));
  std::vector<std::string> slugs;
  for (const Citation& one : said.cites) slugs.push_back(one.slug);
  if (auto wrong = context.without_page(slugs)) return bad(*wrong);
  return ok("adjacent, cites " + said.slugs());
}

Verdict recommendations(Context& context) {
  pipeline::DiscoverRequest request;
  request.page.page = fmt::format("/blog/{}", kSlug);
  const auto found = context.site.discover(request, context.stop);
  if (!found) return bad(in_words(found.error()));
  std::string slugs;
  for (const pipeline::Recommendation& item : found->items) {
    if (item.citation.slug == kSlug) return bad("recommends the page itself");
    context.cited.insert(item.citation.slug);
    slugs += (slugs.empty() ? "" : ", ") + text::one_line(item.citation.slug);
  }
  if (found->items.size() != 3)
    return bad(fmt::format("{} recommendations{}{}", found->items.size(), slugs.empty() ? "" : ": ",
                           slugs));
  return ok(slugs);
}

Verdict hint(Context& context) {
  double first = 0, second = 0;
  for (int i = 0; i <= kTries; ++i) {
    const Timer timer;
    const auto ambient = context.site.context("/", context.stop);
    const double ms = timer.ms();
    if (!ambient) return bad(in_words(ambient.error()));
    if (ambient->hint.empty()) return bad("no hint");
    if (i == 0) first = ms;
    if (i > 0) second = i == 1 ? ms : std::min(second, ms);
    if (i > 0 && second <= kCached)
      return ok(fmt::format("{:.1f} ms, then {:.1f} ms", first, second));
  }
  return bad(
      fmt::format("the second call takes {:.0f} ms, at most {:.0f} are good", second, kCached));
}

constexpr const char* kOwn = "needs a server of its own: stoka smoke without --url";

Verdict no_reranker(Context& context) {
  if (context.house == nullptr) return skipped(kOwn);
  pipeline::TurnRequest request;
  request.query = kBounded;
  const Said said = ask(context.house->without_reranker, request, context.stop);
  if (!said.wrong.empty()) return bad(said.wrong);
  if (said.cites.empty()) return bad("cites nothing");
  if (!context.house->reranker_warned()) return bad("no warning was logged");
  return ok(fmt::format("cites {}, and warns", said.slugs()));
}

Verdict no_embedder(Context& context) {
  if (context.house == nullptr) return skipped(kOwn);
  pipeline::TurnRequest request;
  request.query = kBounded;
  const auto answer =
      context.house->without_embedder.post(kChat, Remote::chat_body(request), context.stop);
  if (!answer) return bad(in_words(answer.error()));
  if (answer->status != 503) return bad(fmt::format("HTTP {}, not 503", answer->status));
  if (answer->content_type != "application/problem+json")
    return bad("a 503 of the type " + answer->content_type);
  return ok("503: " + in_words(context.house->without_embedder.refusal(*answer)));
}

// The questions of checks 1 to 5, by as many visitors at once.
Verdict crowd(Context& context) {
  std::mutex mutex;  // of what follows
  std::map<std::string, size_t> wrong;
  size_t answered = 0;
  size_t limited = 0;
  const auto visit = [&] {
    Context own{context.site, nullptr, context.stop};
    ReadyEvent session;
    for (const char* query : {"what is this?", kBounded, kBounded, "best javascript framework?",
                              "quantum gravity research"}) {
      const Said said = own.ask(query, query == kBounded ? session : ReadyEvent());
      if (query == kBounded) session = said.ready;
      const std::lock_guard lock(mutex);
      if (said.wrong.empty())
        ++answered;
      else if (said.limited)
        ++limited;
      else
        ++wrong[said.wrong];
    }
    const std::lock_guard lock(mutex);
    context.cited.merge(own.cited);
  };
  const Timer timer;
  {
    std::vector<std::jthread> visitors;
    for (size_t i = 0; i < kVisitors; ++i) visitors.emplace_back(visit);
  }
  const double ms = timer.ms();
  const auto most = std::max_element(wrong.begin(), wrong.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (most != wrong.end()) return bad(fmt::format("{} times: {}", most->second, most->first));
  if (answered < kVisitors)
    return bad(fmt::format("only {} of {} answered, the rest refused by the rate limit", answered,
                           answered + limited));
  return ok(fmt::format("{} of {} answered in {:.0f} ms{}", answered, answered + limited, ms,
                        limited > 0 ? ", the rest refused by the rate limit" : ""));
}

Verdict real_slugs(Context& context) {
  if (context.house == nullptr) {
    if (context.cited.empty()) return skipped("nothing was cited");
    if (auto wrong = context.without_page(context.cited)) return bad(*wrong);
    return ok(fmt::format("{} slugs that were cited here", context.cited.size()));
  }
  const auto slugs = context.house->store.all_shown_slugs();
  if (!slugs) return bad(in_words(slugs.error()));
  const auto documents = context.house->store.documents();
  if (!documents) return bad(in_words(documents.error()));
  if (slugs->empty()) return bad("no session was shown anything");
  std::set<std::string> indexed;
  for (const store::DocumentInfo& info : *documents) indexed.insert(info.document.slug);
  for (const std::string& slug : *slugs)
    if (!indexed.contains(slug)) return bad(fmt::format("{} is not", text::one_line(slug)));
  return ok(fmt::format("{} slugs of all sessions", slugs->size()));
}

struct Row {
  const char* name;
  Verdict (*check)(Context& context);
};

constexpr Row kRows[] = {
    {"what is this? is answered with a question", identity},
    {"bounded execution is cited", citation},
    {"what was shown is not cited again", memory},
    {"what is off topic is refused in two words", refusal},
    {"what is not there is not made up", honesty},
    {"discover recommends three others", recommendations},
    {"context has a hint, and keeps it at hand", hint},
    {"without its reranker it still cites", no_reranker},
    {"without its embedder it is a 503", no_embedder},
    {"ten visitors at once are all answered", crowd},
    {"every slug shown is in the index", real_slugs},
};

}  // namespace

std::vector<Checked> smoke(const Remote& site, const SmokeHouse* house,
                           const std::function<void(const Checked&)>& told, std::stop_token stop) {
  Context context{site, house, std::move(stop)};
  std::vector<Checked> out;
  for (const Row& row : kRows) {
    Verdict verdict = row.check(context);
    if (context.stop.stop_requested()) break;
    out.push_back(
        {static_cast<int>(out.size()) + 1, row.name, verdict.how, text::one_line(verdict.detail)});
    told(out.back());
  }
  return out;
}

}  // namespace stoka::serve
