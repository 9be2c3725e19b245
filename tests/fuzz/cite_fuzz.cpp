// The stream of a model: CitationParser, which separates text from citation tags, and AnswerStream,
// which turns both into the events of an answer.
#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "base/ascii.h"
#include "cite/answer_stream.h"
#include "fuzz/targets.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using namespace stoka::cite;

// Whether the text contains the complete beginning of a tag, such as "<cite ".
bool has_citation_tag(std::string_view text) {
  const std::string lower = to_lower(text);
  for (const std::string_view start : {"<cite", "</cite"})
    for (size_t at = lower.find(start); at != std::string::npos; at = lower.find(start, at + 1)) {
      const std::string_view next = std::string_view(lower).substr(at + start.size(), 1);
      if (next == ">" || (next == "/" && start == "<cite")) return true;
      if (!next.empty() && is_ascii_space(next.front())) return true;
    }
  return false;
}

struct ParsedTags {
  std::string seen;                // text, and tags as "{slug|quote}"
  std::vector<std::string> texts;  // what is before, between and after the tags
  size_t malformed = 0;
  bool operator==(const ParsedTags&) const = default;
};

struct TagRecorder final : TagSink {
  ParsedTags out{{}, {""}, 0};

  void text(std::string_view text) override {
    check(!text.empty(), "the parser passes on no empty text");
    check(text::is_valid_utf8(text), "each piece of text is valid UTF-8 by itself");
    out.seen += text;
    out.texts.back() += text;
  }
  void tag(const std::string& slug, const std::string& quote) override {
    check(!slug.empty(), "a tag has a slug");
    for (const std::string& value : {slug, quote}) {
      check(text::is_valid_utf8(value), "the value of an attribute is valid UTF-8");
      check(value.size() <= 3 * kMaxTagBytes, "U+FFFD for every byte is the longest value");
      check(std::none_of(value.begin(), value.end(),
                         [](char c) { return static_cast<unsigned char>(c) < ' '; }),
            "the value of an attribute has no control characters");
      check(
          !value.starts_with(' ') && !value.ends_with(' ') && value.find("  ") == std::string::npos,
          "white space in the value of an attribute is collapsed");
    }
    out.seen += "{" + slug + "|" + quote + "}";
    out.texts.emplace_back();
  }
};

ParsedTags parse_tags(const Pieces& pieces) {
  TagRecorder recorder;
  CitationParser parser(recorder);
  for (const std::string_view piece : pieces) parser.push(piece);
  parser.finish();
  recorder.out.malformed = parser.malformed();
  return recorder.out;
}

void check_parser(std::string_view input) {
  const ParsedTags parsed = parse_in_splits(input, parse_tags);
  // Text around a tag that is dropped, as </cite> always is, may look like a tag once it is joined.
  const bool has_dropped =
      parsed.malformed > 0 || to_lower(input).find("</cite") != std::string::npos;
  if (has_dropped) return;
  for (const std::string& text : parsed.texts)
    check(!has_citation_tag(text), "nothing of a tag is text");
  if (!has_citation_tag(input) && input.find('<') == std::string_view::npos)
    check(parsed.texts.size() == 1, "there is no tag without '<'");
}

std::vector<CitationSource> answer_sources() {
  const auto source = [](std::string slug, std::vector<std::string> document, size_t at) {
    CitationSource out;
    out.hit.chunk.slug = std::move(slug);
    out.hit.chunk.title = "On " + out.hit.chunk.slug;
    out.hit.chunk.url = "/blog/" + out.hit.chunk.slug;
    out.hit.chunk.content = document.at(at);
    out.document_chunks = std::move(document);
    out.chunk_index = at;
    return out;
  };
  return {source("bounded",
                 {"Autonomy without constraint is just chaos with better marketing.",
                  "Every agent had a kill switch & nobody used it."},
                 0),
          source("immortal",
                 {"Before it.\n\n    code();\n",
                  "A system that can\u2019t describe its own death isn\u2019t immortal. It\u2019s "
                  "just lucky. \u6570\u636E\u5E93\u7D22\u5F15\u662F\u4EC0\u4E48\u3002"},
                 1),
          source("code", {"    int main() {}\n"}, 0)};
}

void check_citation(const Citation& citation, const std::vector<CitationSource>& sources) {
  for (const CitationSource& source : sources) {
    if (source.hit.chunk.slug != citation.slug) continue;
    const auto& chunks = source.document_chunks;
    check(citation.quote.empty() || std::any_of(chunks.begin(), chunks.end(),
                                                [&](const std::string& chunk) {
                                                  return text::collapse_whitespace(chunk).find(
                                                             citation.quote) != std::string::npos;
                                                }),
          "a quote is in the cited document");
    return;
  }
  check(false, "the cited document is among the sources");
}

void check_visible(std::string_view text) {
  check(text::is_valid_utf8(text), "the answer is valid UTF-8");
  size_t controls = 0;
  text::replace_controls(text, {}, &controls);
  check(controls == 0, "the answer has no control characters");
  for (size_t at = 0; at < text.size();)
    check(!text::is_emoji(text::next_code_point(text, at)), "the answer has no emoji");
}

struct Answered {
  std::string seen;  // tokens, and citations as "{slug|quote}"
  std::string text;
  std::vector<size_t> counts;
  bool operator==(const Answered&) const = default;
};

Answered answer(const Pieces& pieces) {
  static const std::vector<CitationSource> sources = answer_sources();
  static const GuardRules rules{
      {"hi", "hi there", "great question", "sorry for *", "stoka:", "you're right *"}};
  constexpr size_t kMaxCitations = 2;
  Answered out;
  size_t tokens = 0, citations = 0;
  std::set<std::string> cited;
  AnswerStream stream(sources, {"shown"}, rules, "kill switch",
                      [&](const Event& event) {
                        if (const auto* token = std::get_if<TokenEvent>(&event)) {
                          check(!token->text.empty(), "a token is not empty");
                          check_visible(token->text);
                          out.seen += token->text;
                          ++tokens;
                          return;
                        }
                        const auto* cite = std::get_if<CiteEvent>(&event);
                        check(cite != nullptr, "the stream has tokens and citations only");
                        check_citation(cite->citation, sources);
                        check(cited.insert(cite->citation.slug).second, "a document is cited once");
                        out.seen += "{" + cite->citation.slug + "|" + cite->citation.quote + "}";
                        ++citations;
                      },
                      {kMaxCitations, {}});
  const auto expect_few_tokens = [&] {
    check(tokens <= citations + 1, "a push emits one token, and one before each citation");
    tokens = citations = 0;
  };
  for (const std::string_view piece : pieces) {
    stream.push(piece);
    expect_few_tokens();
  }
  stream.finish();
  expect_few_tokens();

  const AnswerSummary& summary = stream.summary();
  check_visible(summary.text);
  check(summary.text == text::collapse_whitespace(summary.text) ||
            summary.text.find('\n') != std::string::npos,
        "white space in a line is collapsed");
  check(summary.text.find("\n\n\n") == std::string::npos, "there is at most one empty line");
  check(summary.citations.size() <= kMaxCitations, "there are not too many citations");
  check(summary.citations.size() == summary.cited_slugs.size() &&
            cited.size() == summary.citations.size(),
        "the summary has the citations that were emitted");
  out.text = summary.text;
  out.counts = {summary.dropped_unknown, summary.dropped_repeated, summary.dropped_malformed,
                summary.dropped_excess,  summary.repaired,         summary.replaced};
  return out;
}

}  // namespace

void fuzz_cite(std::string_view input) {
  check_parser(input);
  parse_in_splits(input, answer);
}

}  // namespace stoka::fuzz
