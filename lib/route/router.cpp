#include "route/router.h"

#include <algorithm>
#include <span>

#include "text/normalize.h"
#include "text/words.h"

namespace stoka::route {
namespace {

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text)) out.push_back(std::move(word.text));
  return out;
}

bool starts_with(std::span<const std::string_view> words, const std::vector<std::string>& opener) {
  return words.size() >= opener.size() && std::equal(opener.begin(), opener.end(), words.begin());
}

bool contains(std::span<const std::string_view> words, const std::vector<std::string>& phrase) {
  return std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end();
}

// The number of words that spaces separate, which is how the router measures a question.
size_t count_tokens(std::string_view folded) {
  return folded.empty() ? 0
                        : 1 + static_cast<size_t>(std::count(folded.begin(), folded.end(), ' '));
}

}  // namespace

Result<Router> Router::make(const golden::RouterData& data) {
  Router out;
  for (const golden::RouterRule& rule : data.rules) {
    if (rule.is_intent()) {
      IntentRule intent{rule.name, rule.pages, {}};
      for (const std::string& source : rule.patterns) {
        STOKA_ASSIGN(Pattern pattern, Pattern::compile(source));
        intent.patterns.push_back(std::move(pattern));
      }
      out.intents_.push_back(std::move(intent));
      continue;
    }
    Route route = rule.name.starts_with("meta.") ? Route::meta : Route::offtopic;
    Rule compiled{rule.name, rule.reply, route, {}};
    for (const std::string& source : rule.patterns) {
      STOKA_ASSIGN(Pattern pattern, Pattern::compile(source));
      compiled.patterns.push_back(std::move(pattern));
    }
    out.rules_.push_back(std::move(compiled));
  }
  // Rules of meta come first, whatever the order in the file.
  std::stable_sort(out.rules_.begin(), out.rules_.end(), [](const Rule& a, const Rule& b) {
    return a.route == Route::meta && b.route != Route::meta;
  });
  for (const std::string& signal : data.offtopic_signals)
    out.signals_.push_back({signal, plain_words(signal)});
  for (const std::string& opener : data.followup_openers)
    out.openers_.push_back(plain_words(opener));
  out.offtopic_reply_ = data.offtopic_reply;
  out.not_content_ = data.not_content;
  out.followup_max_words_ = static_cast<size_t>(std::max(0, data.followup_max_words));
  return out;
}

std::string Router::site_word(const Signal& signal, std::span<const std::string_view> words,
                              const SiteWords& site) const {
  for (std::string_view word : words) {
    const bool is_content =
        !text::is_stop_word(word) &&
        std::find(not_content_.begin(), not_content_.end(), word) == not_content_.end();
    if (is_content && site.names && site.names(word)) return std::string(word);
  }
  // A signal of several words ("best javascript") asks for an opinion. The site may use these words
  // without having such an opinion.
  if (signal.words.size() == 1 && site.discusses && site.discusses(signal.words[0]))
    return signal.words[0];
  return "";
}

Intent Router::find_intent(std::string_view folded, std::span<const text::Word> analysed,
                           std::span<const std::string_view> words) const {
  for (const IntentRule& rule : intents_)
    for (const Pattern& pattern : rule.patterns)
      if (const std::optional<size_t> end = pattern.match_end(words)) {
        std::string rest(*end < analysed.size() ? folded.substr(analysed[*end].begin) : "");
        return {rule.name, std::move(rest), rule.pages};
      }
  return {};
}

RouteDecision Router::decide(std::string_view query, int turns, const SiteWords& site) const {
  std::string folded = text::fold(query);
  std::vector<text::Word> analysed = text::words(folded);
  std::vector<std::string_view> words(analysed.size());
  std::transform(analysed.begin(), analysed.end(), words.begin(),
                 [](const text::Word& word) { return std::string_view(word.text); });

  for (const Rule& rule : rules_)
    for (const Pattern& pattern : rule.patterns)
      if (pattern.matches(words)) return {rule.route, rule.name, rule.reply, "", "", {}};

  RouteDecision out;
  for (const Signal& signal : signals_) {
    if (!contains(words, signal.words)) continue;
    out.signal = signal.text;
    out.site_word = site_word(signal, words, site);
    if (out.site_word.empty())
      return {Route::offtopic, "offtopic:" + signal.text, offtopic_reply_, signal.text, "", {}};
    break;
  }

  out.intent = find_intent(folded, analysed, words);
  const bool opens = std::any_of(
      openers_.begin(), openers_.end(),
      [&](const std::vector<std::string>& opener) { return starts_with(words, opener); });
  const bool is_short = count_tokens(folded) <= followup_max_words_;
  const bool follows = turns >= 1 && (opens || is_short);
  out.route = follows ? Route::followup : Route::fresh;
  out.rule = !follows ? "new" : opens ? "followup.opener" : "followup.short";
  return out;
}

}  // namespace stoka::route
