#include "ingest/segment.h"

#include <algorithm>

#include "text/sentences.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

class SegmentSplitter {
 public:
  SegmentSplitter(size_t max_tokens, std::vector<Segment>& out)
      : max_tokens_(max_tokens), out_(out) {}

  // `separator` stands between `text` and the previous segment.
  void add(std::string_view text, Separator separator) {
    size_t tokens = text::estimate_tokens(text);
    if (tokens <= max_tokens_) {
      out_.push_back({std::string(text), separator, tokens, false});
    } else if (text.find_first_of(" \t\n") != std::string_view::npos) {
      by_words(text, separator);
    } else {
      by_characters(text, separator);
    }
  }

 private:
  // Puts as many words as fit into each segment. White space between words of a segment is kept.
  void by_words(std::string_view text, Separator separator) {
    size_t begin = 0, end = 0, tokens = 0;
    for (size_t at = 0; at < text.size();) {
      size_t word = at;
      while (word < text.size() && is_blank(text[word])) ++word;
      size_t word_end = word;
      while (word_end < text.size() && !is_blank(text[word_end])) ++word_end;
      // White space may cost a token, so it is counted with the word that follows it.
      size_t more = text::estimate_tokens(text.substr(at, word_end - at));
      if (end > begin && tokens + more > max_tokens_) {
        add(text.substr(begin, end - begin), separator);
        separator = Separator::space;
        begin = word;
        tokens = 0;
      }
      tokens += more;
      end = word_end;
      at = word_end;
      if (tokens > max_tokens_) {  // a single word that exceeds a segment
        by_characters(text.substr(begin, end - begin), separator);
        separator = Separator::space;
        begin = end;
        while (begin < text.size() && is_blank(text[begin])) ++begin;
        at = end = begin;
        tokens = 0;
      }
    }
    if (end > begin) add(text.substr(begin, end - begin), separator);
  }

  void by_characters(std::string_view text, Separator separator) {
    size_t begin = 0, tokens = 0;
    for (size_t at = 0; at < text.size();) {
      size_t from = at;
      text::next_code_point(text, at);
      size_t more = text::estimate_tokens(text.substr(from, at - from));
      if (from > begin && tokens + more > max_tokens_) {
        out_.push_back({std::string(text.substr(begin, from - begin)), separator, tokens, false});
        separator = Separator::none;
        begin = from;
        tokens = 0;
      }
      tokens += more;
    }
    out_.push_back({std::string(text.substr(begin)), separator, tokens, false});
  }

  size_t max_tokens_;
  std::vector<Segment>& out_;
};

}  // namespace

std::string_view to_string(Separator separator) {
  constexpr std::string_view kSeparators[] = {"", " ", "\n", "\n\n"};
  return kSeparators[static_cast<int>(separator)];
}

SegmentedBlock split_block(const Block& block, size_t max_tokens) {
  SegmentedBlock out;
  out.heading = block.kind == BlockKind::heading;
  SegmentSplitter splitter(max_tokens, out.segments);
  Separator separator = Separator::paragraph;
  if (block.kind == BlockKind::code || block.kind == BlockKind::row) {
    for (size_t at = 0; at <= block.text.size();) {
      size_t end = std::min(block.text.find('\n', at), block.text.size());
      std::string_view line = std::string_view(block.text).substr(at, end - at);
      if (line.find_first_not_of(" \t") != std::string_view::npos) {
        splitter.add(line, separator);
        separator = Separator::line;
      }
      at = end + 1;
    }
  } else {
    size_t before = 0;
    for (const text::Span& span : text::sentences(block.text)) {
      // CJK sentences have no space between them; a hard line break stays a line break.
      std::string_view gap = std::string_view(block.text).substr(before, span.begin - before);
      if (!out.segments.empty())
        separator = gap.empty()                                ? Separator::none
                    : gap.find('\n') != std::string_view::npos ? Separator::line
                                                               : Separator::space;
      splitter.add(span.in(block.text), separator);
      before = span.end;
    }
  }
  if (out.segments.empty()) splitter.add(block.text, separator);
  for (Segment& segment : out.segments) segment.code = block.kind == BlockKind::code;
  for (const Segment& segment : out.segments)
    out.tokens +=
        segment.tokens + (&segment == &out.segments.front() ? 0 : segment.separator_tokens());
  return out;
}

std::vector<Segment> trailing_words(const Segment& segment, size_t max_tokens) {
  std::string_view text = segment.text;
  size_t begin = text.size(), tokens = 0;
  for (size_t at = text.size(); at > 0;) {
    size_t word = text.find_last_of(" \t\n", at - 1);
    word = word == std::string_view::npos ? 0 : word + 1;
    size_t more = text::estimate_tokens(text.substr(word, at - word)) + 1;
    if (tokens + more > max_tokens) break;
    tokens += more;
    if (word < at) begin = word;
    at = word > 0 ? word - 1 : 0;
  }
  if (begin == text.size() || begin == 0) return {};
  return {{std::string(text.substr(begin)), Separator::paragraph, tokens, segment.code}};
}

}  // namespace stoka::ingest
