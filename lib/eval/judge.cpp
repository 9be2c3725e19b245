#include "eval/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/normalize.h"
#include "text/tokens.h"

namespace stoka::eval {
namespace {

constexpr size_t kTerse = 40;  // tokens

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string slugs(const Answer& answer) {
  std::vector<std::string> out;
  for (const Citation& citation : answer.citations()) out.push_back(citation.slug);
  return out.empty() ? "nothing" : fmt::format("{}", fmt::join(out, ", "));
}

// A date as a citation shows it, without the year if that is the right one.
std::string without_year(const std::string& shown, const std::optional<Date>& date) {
  const std::string year =
      date ? fmt::format(", {}", int(std::chrono::year_month_day(*date).year())) : "";
  return shown.ends_with(year) ? shown.substr(0, shown.size() - year.size()) : shown;
}

// What is not as it is published; empty: it is.
std::string fault(const Citation& citation, const Publications& published) {
  const auto found = published.find(citation.slug);
  if (found == published.end()) return fmt::format("{} is not published", citation.slug);
  const auto& [document, contents] = found->second;
  const auto is = [&](std::string_view what, const std::string& shown, const std::string& real) {
    return shown == real
               ? std::string()
               : fmt::format("{} of {} is '{}', not '{}'", what, citation.slug, real, shown);
  };
  for (const std::string& wrong :
       {is("title", citation.title, document.title), is("type", citation.type, document.type),
        is("publication date", citation.published ? iso_date(*citation.published) : "",
           document.date ? iso_date(*document.date) : ""),
        is("date", without_year(citation.date, document.date),
           document.date ? short_date(*document.date, *document.date) : ""),
        is("reading time", citation.reading_time, reading_time(document.reading_minutes))})
    if (!wrong.empty()) return wrong;
  const bool quoted =
      !citation.quote.empty() &&
      std::any_of(contents.begin(), contents.end(), [&](const std::string& content) {
        return text::squeeze(content).find(citation.quote) != std::string::npos;
      });
  return quoted ? "" : fmt::format("\"{}\" is not in {}", citation.quote, citation.slug);
}

class Judge {
 public:
  Judge(const Case& due, const Answer& answer, const Publications& published,
        const Phrases& phrases)
      : due_(due),
        answer_(answer),
        published_(published),
        phrases_(phrases),
        text_(answer.text()),
        citations_(answer.citations()) {}

  std::vector<Score> run() {
    seeds();
    route();
    confidence();
    citations();
    wording();
    return std::move(scores_);
  }

 private:
  void add(std::string name, bool ok, std::string why) {
    const bool known = std::any_of(scores_.begin(), scores_.end(),
                                   [&](const Score& score) { return score.name == name; });
    if (!known) scores_.push_back({std::move(name), ok, ok ? std::string() : std::move(why)});
  }

  void forbid(std::string_view predicate) {
    const auto why = find_predicate(predicate)->holds(answer_, phrases_);
    add(fmt::format("no_{}", predicate), !why, why.value_or(""));
  }

  // What a refusal was made of.
  std::string best() const {
    if (answer_.ranked.empty()) return "nothing was found";
    const Hit& hit = answer_.ranked.front();
    return fmt::format("the best was {} at {:.2f}", hit.chunk.slug, hit.score);
  }

  bool ends_in_question() const {
    const bool text_last = !answer_.parts.empty() && !answer_.parts.back().citation;
    return text_last && (text_.ends_with('?') || text_.ends_with("\uFF1F"));
  }
  bool ends_in_cite() const { return !answer_.parts.empty() && answer_.parts.back().citation; }

  void seeds() {
    if (!due_.ideal_cite.empty()) {
      const bool hit = std::any_of(due_.ideal_cite.begin(), due_.ideal_cite.end(),
                                   [&](const std::string& slug) { return answer_.cites(slug); });
      add("citation_hit", hit,
          fmt::format("wanted {}, cites {}", fmt::join(due_.ideal_cite, " or "), slugs(answer_)));
    }
    const size_t run = longest_run(answer_);
    add("brevity", run <= due_.max_sentences,
        fmt::format("{} sentences without a citation, at most {} are due", run,
                    due_.max_sentences));
    forbid("greeting");
    if (!answer_.canned() && !due_.model)
      add("ends_provocative", ends_in_question() || !citations_.empty(),
          "neither a question at the end nor a citation");
    forbid("exclamation");
    if (due_.fail_if_summary) forbid("summary");
  }

  void route() {
    if (!due_.route) return;
    add("route", answer_.route == *due_.route,
        fmt::format("wanted {}, was {}", name(*due_.route), name(answer_.route)));
    const bool is_void = answer_.route == Route::nothing;
    add("void", is_void == (*due_.route == Route::nothing),
        is_void ? "refused: " + best() : fmt::format("answered with {}", slugs(answer_)));
  }

  void confidence() {
    if (due_.confidence.empty()) return;
    const std::string got = answer_.confidence_name();
    add("confidence", got == due_.confidence,
        fmt::format(
            "{}{}, wanted {}", got,
            answer_.ranked.empty() ? "" : fmt::format(" at {:.2f}", answer_.ranked.front().score),
            due_.confidence));
  }

  void citations() {
    if (due_.must_cite)
      add("must_cite", *due_.must_cite == !citations_.empty(),
          *due_.must_cite ? "no citation" : fmt::format("cites {}", slugs(answer_)));
    if (!due_.ideal_cite.empty()) {
      const bool among =
          std::any_of(answer_.ranked.begin(), answer_.ranked.end(),
                      [&](const Hit& hit) { return contains(due_.ideal_cite, hit.chunk.slug); });
      add("citation_in_5", among,
          fmt::format("{} is not among the five best", fmt::join(due_.ideal_cite, " or ")));
    }
    if (!due_.must_not_cite.empty()) {
      const auto wrong = std::find_if(due_.must_not_cite.begin(), due_.must_not_cite.end(),
                                      [&](const std::string& slug) { return answer_.cites(slug); });
      add("not_cited", wrong == due_.must_not_cite.end(),
          wrong == due_.must_not_cite.end() ? "" : fmt::format("cites {}", *wrong));
    }
    if (citations_.empty()) return;
    std::string wrong;
    for (const Citation& citation : citations_)
      if (wrong.empty()) wrong = fault(citation, published_);
    add("quote_verified", wrong.empty(), wrong);
    forbid("repeat");
  }

  void wording() {
    if (!due_.must_end_with.empty()) {
      const std::string& end = due_.must_end_with;
      const bool ok = end == "question" ? ends_in_question()
                      : end == "cite"   ? ends_in_cite()
                                        : text_.ends_with(end);
      add("ends_with", ok, fmt::format("does not end with {}", end));
    }
    if (!due_.reply.empty())
      add("reply", text_ == due_.reply, fmt::format("not \"{}\"", due_.reply));
    if (due_.tone == "provocative")
      add("tone", ends_in_question() || ends_in_cite(), "ends in neither question nor citation");
    if (due_.tone == "terse") {
      const size_t tokens = text::estimate_tokens(text_);
      add("tone", tokens <= kTerse, fmt::format("{} tokens, at most {} are terse", tokens, kTerse));
    }
    if (due_.tone == "flat") {
      const auto why = find_predicate("energy")->holds(answer_, phrases_);
      add("tone", !why, why.value_or(""));
    }
    if (!due_.must_not_say.empty()) {
      const auto said =
          std::find_if(due_.must_not_say.begin(), due_.must_not_say.end(),
                       [&](const std::string& phrase) { return says(text_, phrase); });
      add("not_said", said == due_.must_not_say.end(),
          said == due_.must_not_say.end() ? "" : fmt::format("says '{}'", *said));
    }
    for (const std::string& predicate : due_.fail_if) forbid(predicate);
  }

  const Case& due_;
  const Answer& answer_;
  const Publications& published_;
  const Phrases& phrases_;
  const std::string text_;
  const std::vector<Citation> citations_;
  std::vector<Score> scores_;
};

}  // namespace

std::vector<Score> judge(const Case& due, const Answer& answer, const Publications& published,
                         const Phrases& phrases) {
  return Judge(due, answer, published, phrases).run();
}

}  // namespace stoka::eval
