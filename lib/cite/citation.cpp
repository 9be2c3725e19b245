#include "cite/citation.h"

#include <utility>
#include <vector>

#include "base/url.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::cite {
namespace {

constexpr size_t kMaxWholeQuote = 64;  // a quote of at most so many code points is written in full
constexpr size_t kMinEnd = 20;         // the fewest code points of each end of a longer quote

// Splits a text where a browser sees a word boundary: at spaces, and after the punctuation of
// scripts that have no spaces. Text fragments match only whole words.
std::vector<std::string_view> words(std::string_view text) {
  constexpr std::u32string_view kStops = U"\u3001\u3002\uFF01\uFF0C\uFF1A\uFF1B\uFF1F";
  std::vector<std::string_view> out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    const char32_t c = text::next_code_point(text, at);
    const bool stop = kStops.find(c) != std::u32string_view::npos;
    if (c != ' ' && !stop) continue;
    const size_t end = stop ? at : before;
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = at;
  }
  if (begin < text.size()) out.push_back(text.substr(begin));
  return out;
}

// The shortest run of whole words at the beginning of a text that has kMinEnd code points.
std::string_view first_words(std::string_view text, const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) {
    const auto run = text.substr(0, static_cast<size_t>(word.end() - text.begin()));
    if (text::count_code_points(run) >= kMinEnd) return run;
  }
  return text;
}

// The shortest run of whole words at the end of a text that has kMinEnd code points.
std::string_view last_words(std::string_view text, const std::vector<std::string_view>& words) {
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    const auto run = text.substr(static_cast<size_t>(word->begin() - text.begin()));
    if (text::count_code_points(run) >= kMinEnd) return run;
  }
  return text;
}

}  // namespace

std::string text_fragment(std::string_view quote) {
  // A hyphen, a comma and an ampersand are syntax in a text fragment, so they are encoded too.
  constexpr std::string_view kPlain = "._~";
  const std::string text = text::collapse_whitespace(quote);
  if (text.empty()) return {};
  std::string out = "#:~:text=";
  if (text::count_code_points(text) > kMaxWholeQuote) {
    const std::vector<std::string_view> parts = words(text);
    const std::string_view first = first_words(text, parts);
    const std::string_view last = last_words(text, parts);
    if (first.size() + last.size() < text.size())
      return out + percent_encode(first, kPlain) + ',' + percent_encode(last, kPlain);
  }
  return out + percent_encode(text, kPlain);
}

Citation make_citation(const Hit& hit, std::string quote, const CitationContext& showing) {
  const Chunk& chunk = hit.chunk;
  Citation out;
  out.slug = chunk.slug;
  out.title = chunk.title;
  out.quote = std::move(quote);
  out.type = chunk.type;
  out.reading_time = reading_time(chunk.reading_minutes);
  if (chunk.date) out.date = short_date(*chunk.date, showing.today);
  out.url = safe_link(chunk.url, showing.site);
  if (!out.url.empty() && out.url.find('#') == std::string::npos) {
    const std::string fragment = text_fragment(out.quote);
    if (out.url.size() + fragment.size() <= kMaxLinkBytes) out.url += fragment;
  }
  out.score = hit.score;
  if (chunk.type == "product") out.kind = CiteKind::product;
  out.published = chunk.date;
  return out;
}

}  // namespace stoka::cite
