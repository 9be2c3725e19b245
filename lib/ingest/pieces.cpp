#include "ingest/pieces.h"

#include <algorithm>

#include "text/sentences.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

class Cutter {
 public:
  Cutter(size_t limit, std::vector<Piece>& out) : limit_(limit), out_(out) {}

  // `text` follows what came before after `joint`.
  void add(std::string_view text, Joint joint) {
    size_t tokens = text::estimate_tokens(text);
    if (tokens <= limit_) {
      out_.push_back({std::string(text), joint, tokens, false});
    } else if (text.find_first_of(" \t\n") != std::string_view::npos) {
      by_words(text, joint);
    } else {
      by_characters(text, joint);
    }
  }

 private:
  // Greedily as many words to a piece as fit; the white space between them is kept as it is.
  void by_words(std::string_view text, Joint joint) {
    size_t begin = 0, end = 0, tokens = 0;
    for (size_t at = 0; at < text.size();) {
      size_t word = at;
      while (word < text.size() && is_blank(text[word])) ++word;
      size_t word_end = word;
      while (word_end < text.size() && !is_blank(text[word_end])) ++word_end;
      // White space may cost a token, so it is counted with its word.
      size_t more = text::estimate_tokens(text.substr(at, word_end - at));
      if (end > begin && tokens + more > limit_) {
        add(text.substr(begin, end - begin), joint);
        joint = Joint::space;
        begin = word;
        tokens = 0;
      }
      tokens += more;
      end = word_end;
      at = word_end;
      if (tokens > limit_) {  // one word, longer than a piece
        by_characters(text.substr(begin, end - begin), joint);
        joint = Joint::space;
        begin = end;
        while (begin < text.size() && is_blank(text[begin])) ++begin;
        at = end = begin;
        tokens = 0;
      }
    }
    if (end > begin) add(text.substr(begin, end - begin), joint);
  }

  void by_characters(std::string_view text, Joint joint) {
    size_t begin = 0, tokens = 0;
    for (size_t at = 0; at < text.size();) {
      size_t from = at;
      text::next_code_point(text, at);
      size_t more = text::estimate_tokens(text.substr(from, at - from));
      if (from > begin && tokens + more > limit_) {
        out_.push_back({std::string(text.substr(begin, from - begin)), joint, tokens, false});
        joint = Joint::none;
        begin = from;
        tokens = 0;
      }
      tokens += more;
    }
    out_.push_back({std::string(text.substr(begin)), joint, tokens, false});
  }

  size_t limit_;
  std::vector<Piece>& out_;
};

}  // namespace

std::string_view separator(Joint joint) {
  constexpr std::string_view kSeparators[] = {"", " ", "\n", "\n\n"};
  return kSeparators[static_cast<int>(joint)];
}

Paragraph cut_paragraph(const Block& block, size_t limit) {
  Paragraph out;
  out.heading = block.kind == BlockKind::heading;
  Cutter cutter(limit, out.pieces);
  Joint joint = Joint::paragraph;
  if (block.kind == BlockKind::code || block.kind == BlockKind::row) {
    for (size_t at = 0; at <= block.text.size();) {
      size_t end = std::min(block.text.find('\n', at), block.text.size());
      std::string_view line = std::string_view(block.text).substr(at, end - at);
      if (line.find_first_not_of(" \t") != std::string_view::npos) {
        cutter.add(line, joint);
        joint = Joint::line;
      }
      at = end + 1;
    }
  } else {
    size_t before = 0;
    for (const text::Span& span : text::sentences(block.text)) {
      // CJK sentences follow one another without a space, and a hard break is a break.
      std::string_view gap = std::string_view(block.text).substr(before, span.begin - before);
      if (!out.pieces.empty())
        joint = gap.empty()                                ? Joint::none
                : gap.find('\n') != std::string_view::npos ? Joint::line
                                                           : Joint::space;
      cutter.add(span.in(block.text), joint);
      before = span.end;
    }
  }
  if (out.pieces.empty()) cutter.add(block.text, joint);
  for (Piece& piece : out.pieces) piece.code = block.kind == BlockKind::code;
  for (const Piece& piece : out.pieces)
    out.tokens += piece.tokens + (&piece == &out.pieces.front() ? 0 : piece.gap());
  return out;
}

std::vector<Piece> tail_words(const Piece& piece, size_t limit) {
  std::string_view text = piece.text;
  size_t begin = text.size(), tokens = 0;
  for (size_t at = text.size(); at > 0;) {
    size_t word = text.find_last_of(" \t\n", at - 1);
    word = word == std::string_view::npos ? 0 : word + 1;
    size_t more = text::estimate_tokens(text.substr(word, at - word)) + 1;
    if (tokens + more > limit) break;
    tokens += more;
    if (word < at) begin = word;
    at = word > 0 ? word - 1 : 0;
  }
  if (begin == text.size() || begin == 0) return {};
  return {{std::string(text.substr(begin)), Joint::paragraph, tokens, piece.code}};
}

}  // namespace stoka::ingest
