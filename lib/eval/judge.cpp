#include "eval/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "eval/conversation.h"
#include "text/normalize.h"
#include "text/tokens.h"

namespace stoka::eval {
namespace {

constexpr size_t kMaxTerseTokens = 40;

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string cited_slugs(const Answer& answer) {
  std::vector<std::string> out;
  for (const Citation& citation : answer.citations()) out.push_back(citation.slug);
  return out.empty() ? "nothing" : fmt::format("{}", fmt::join(out, ", "));
}

// The date of a citation, without its year if `date` is in the same year.
std::string without_year(const std::string& shown, const std::optional<Date>& date) {
  const std::string year =
      date ? fmt::format(", {}", int(std::chrono::year_month_day(*date).year())) : "";
  return shown.ends_with(year) ? shown.substr(0, shown.size() - year.size()) : shown;
}

// Says how the citation differs from its document; empty if it does not.
std::string mismatch(const Citation& citation, const CitedDocuments& cited) {
  const auto found = cited.find(citation.slug);
  if (found == cited.end()) return fmt::format("{} is not published", citation.slug);
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
        return text::collapse_whitespace(content).find(citation.quote) != std::string::npos;
      });
  return quoted ? "" : fmt::format("\"{}\" is not in {}", citation.quote, citation.slug);
}

class Judge {
 public:
  Judge(const Case& test_case, const Answer& answer, const CitedDocuments& cited,
        const Phrases& phrases)
      : case_(test_case),
        answer_(answer),
        cited_(cited),
        phrases_(phrases),
        is_turn_(!test_case.conversation.empty()),
        text_(answer.text()),
        citations_(answer.citations()) {}

  std::vector<Score> run() {
    score_seed();
    score_route();
    score_confidence();
    score_citations();
    score_wording();
    if (is_turn_) score_conversation();
    return std::move(scores_);
  }

 private:
  void add(std::string name, bool ok, std::string why) {
    const bool known = std::any_of(scores_.begin(), scores_.end(),
                                   [&](const Score& score) { return score.name == name; });
    if (!known) scores_.push_back({std::move(name), ok, ok ? std::string() : std::move(why)});
  }

  void forbid(std::string_view predicate) {
    const auto why = find_predicate(predicate)->match(answer_, phrases_);
    add(fmt::format("no_{}", predicate), !why, why.value_or(""));
  }

  // Describes the best hit, which explains a refusal.
  std::string describe_best_hit() const {
    if (answer_.ranked.empty()) return "nothing was found";
    const Hit& hit = answer_.ranked.front();
    return fmt::format("the best was {} at {:.2f}", hit.chunk.slug, hit.score);
  }

  bool ends_in_question() const {
    const bool text_last = !answer_.parts.empty() && !answer_.parts.back().citation;
    return text_last && (text_.ends_with('?') || text_.ends_with("\uFF1F"));
  }
  bool ends_in_cite() const { return !answer_.parts.empty() && answer_.parts.back().citation; }

  // The first six scores in the list of judge.h.
  void score_seed() {
    if (!case_.ideal_cite.empty()) {
      const bool hit = std::any_of(case_.ideal_cite.begin(), case_.ideal_cite.end(),
                                   [&](const std::string& slug) { return answer_.cites(slug); });
      add("citation_hit", hit,
          fmt::format("wanted {}, cites {}", fmt::join(case_.ideal_cite, " or "),
                      cited_slugs(answer_)));
    }
    const size_t run = longest_run(answer_);
    add("brevity", run <= case_.max_sentences,
        fmt::format("{} sentences without a citation, at most {} are allowed", run,
                    case_.max_sentences));
    forbid("greeting");
    if (!answer_.is_canned() && !case_.model && !is_turn_)
      add("ends_provocative", ends_in_question() || !citations_.empty(),
          "neither a question at the end nor a citation");
    forbid("exclamation");
    if (case_.fail_if_summary) forbid("summary");
  }

  void score_route() {
    if (!case_.route) return;
    add("route", answer_.route == *case_.route,
        fmt::format("wanted {}, was {}", to_string(*case_.route), to_string(answer_.route)));
    const bool is_void = answer_.route == Route::nothing;
    add("void", is_void == (*case_.route == Route::nothing),
        is_void ? "refused: " + describe_best_hit()
                : fmt::format("answered with {}", cited_slugs(answer_)));
  }

  void score_confidence() {
    if (case_.confidence.empty()) return;
    const std::string got = answer_.confidence_name();
    add("confidence", got == case_.confidence,
        fmt::format(
            "{}{}, wanted {}", got,
            answer_.ranked.empty() ? "" : fmt::format(" at {:.2f}", answer_.ranked.front().score),
            case_.confidence));
  }

  void score_citations() {
    if (case_.must_cite)
      add("must_cite", *case_.must_cite == !citations_.empty(),
          *case_.must_cite ? "no citation" : fmt::format("cites {}", cited_slugs(answer_)));
    if (!case_.ideal_cite.empty() && !is_turn_) {
      const bool among =
          std::any_of(answer_.ranked.begin(), answer_.ranked.end(),
                      [&](const Hit& hit) { return contains(case_.ideal_cite, hit.chunk.slug); });
      add("citation_in_5", among,
          fmt::format("{} is not among the five best", fmt::join(case_.ideal_cite, " or ")));
    }
    if (!case_.must_not_cite.empty()) {
      const auto wrong = std::find_if(case_.must_not_cite.begin(), case_.must_not_cite.end(),
                                      [&](const std::string& slug) { return answer_.cites(slug); });
      add("not_cited", wrong == case_.must_not_cite.end(),
          wrong == case_.must_not_cite.end() ? "" : fmt::format("cites {}", *wrong));
    }
    if (citations_.empty()) return;
    std::string wrong;
    for (const Citation& citation : citations_)
      if (wrong.empty()) wrong = mismatch(citation, cited_);
    add("quote_verified", wrong.empty(), wrong);
    if (!is_turn_) forbid("repeat");
  }

  // Titles of citations count, so that a list of names may be given as citations. Quotes and dates
  // of citations do not: any citation has them.
  bool visitor_reads(const std::string& wanted) const {
    return says(text_, wanted) ||
           std::any_of(citations_.begin(), citations_.end(),
                       [&](const Citation& one) { return says(one.title, wanted); });
  }

  void score_wording() {
    if (!case_.must_end_with.empty()) {
      const std::string& end = case_.must_end_with;
      const bool ok = end == "question" ? ends_in_question()
                      : end == "cite"   ? ends_in_cite()
                                        : text_.ends_with(end);
      add("ends_with", ok, fmt::format("does not end with {}", end));
    }
    if (!case_.reply.empty())
      add("reply", text_ == case_.reply, fmt::format("not \"{}\"", case_.reply));
    if (case_.tone == "provocative")
      add("tone", ends_in_question() || ends_in_cite(),
          "ends in neither a question nor a citation");
    if (case_.tone == "terse") {
      const size_t tokens = text::estimate_tokens(text_);
      add("tone", tokens <= kMaxTerseTokens,
          fmt::format("{} tokens, at most {} are terse", tokens, kMaxTerseTokens));
    }
    if (case_.tone == "flat") {
      const auto why = find_predicate("energy")->match(answer_, phrases_);
      add("tone", !why, why.value_or(""));
    }
    if (!case_.must_say.empty()) {
      const auto missing =
          std::find_if(case_.must_say.begin(), case_.must_say.end(), [&](const auto& any_of) {
            return std::none_of(any_of.begin(), any_of.end(),
                                [&](const std::string& one) { return visitor_reads(one); });
          });
      add("said", missing == case_.must_say.end(),
          missing == case_.must_say.end()
              ? ""
              : fmt::format("does not say '{}'", fmt::join(*missing, "' or '")));
    }
    if (!case_.must_not_say.empty()) {
      const auto found =
          std::find_if(case_.must_not_say.begin(), case_.must_not_say.end(),
                       [&](const std::string& phrase) { return says(text_, phrase); });
      add("not_said", found == case_.must_not_say.end(),
          found == case_.must_not_say.end() ? "" : fmt::format("says '{}'", *found));
    }
    for (const std::string& predicate : case_.fail_if) forbid(predicate);
  }

  void score_conversation() {
    if (!case_.ideal_cite.empty() && !citations_.empty()) {
      const std::string& first = citations_.front().slug;
      add("first_citation", contains(case_.ideal_cite, first),
          fmt::format("first cites {}, wanted {}", first, fmt::join(case_.ideal_cite, " or ")));
    }
    const auto repeated = [](const std::vector<std::string>& said,
                             const std::set<std::string>& before) {
      const auto found = std::find_if(said.begin(), said.end(),
                                      [&](const auto& one) { return before.contains(one); });
      return found == said.end() ? std::string() : *found;
    };
    const std::string line = repeated(voice_lines(answer_, case_, phrases_), answer_.lines_before);
    add("no_repeated_line", line.empty(), fmt::format("says again: {}", line));
    if (citations_.empty()) return;
    const std::string quote = repeated(cited_quotes(answer_), answer_.quotes_before);
    add("no_repeated_quote", quote.empty() || says(text_, "above"),
        fmt::format("quotes again {}", quote));
  }

  const Case& case_;
  const Answer& answer_;
  const CitedDocuments& cited_;
  const Phrases& phrases_;
  const bool is_turn_;  // whether the case is a turn of a conversation
  const std::string text_;
  const std::vector<Citation> citations_;
  std::vector<Score> scores_;
};

}  // namespace

std::vector<Score> judge(const Case& test_case, const Answer& answer, const CitedDocuments& cited,
                         const Phrases& phrases) {
  return Judge(test_case, answer, cited, phrases).run();
}

}  // namespace stoka::eval
