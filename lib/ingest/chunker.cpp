#include "ingest/chunker.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/code_lines.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/tokens.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::ingest {
namespace {

// The separator between a segment and the one before it.
enum class Separator { none, space, line, paragraph };

// Returns the characters of a separator, such as "\n\n".
std::string_view characters_of(Separator separator) {
  constexpr std::string_view kSeparators[] = {"", " ", "\n", "\n\n"};
  return kSeparators[static_cast<int>(separator)];
}

// The unit that chunks are packed from: a sentence, a line of code, or a part of a sentence or line
// that is too long for one chunk.
struct Segment {
  std::string text;
  Separator separator = Separator::paragraph;
  size_t tokens = 0;
  bool code = false;

  // How many tokens the separator adds to the estimate of a chunk.
  size_t separator_tokens() const {
    return separator == Separator::line || separator == Separator::paragraph ? 1 : 0;
  }
};

struct SegmentedBlock {
  std::vector<Segment> segments;  // never empty
  size_t tokens = 0;              // the tokens of all segments and of the separators between them
  bool heading = false;           // a heading belongs to the block that follows it
};

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
      // White space may add a token, so it is counted with the word that follows it.
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
      if (tokens > max_tokens_) {  // a single word is longer than a segment may be
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

// Splits a text into segments of at most `max_tokens` tokens.
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
      // CJK sentences have no space between them; a hard line break is kept.
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

// The last words of a segment, as many as fit into `max_tokens` tokens, as a list of one segment.
// The list is empty if the last word does not fit, or if all words fit.
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

struct Section {
  std::string heading;
  std::vector<SegmentedBlock> paragraphs;
};

bool is_same_text(std::string_view a, std::string_view b) { return text::fold(a) == text::fold(b); }

std::vector<Section> split_sections(const Document& document, std::span<const Block> blocks,
                                    size_t max_segment_tokens) {
  std::vector<Section> out(1);
  for (const Block& block : blocks) {
    bool heading = block.kind == BlockKind::heading;
    if (heading && block.level <= 2) {
      bool title = block.level == 1 && is_same_text(block.text, document.title);
      out.push_back({title ? std::string() : block.text, {}});
    } else {
      out.back().paragraphs.push_back(split_block(block, max_segment_tokens));
    }
  }
  std::erase_if(out, [](const Section& section) {
    return std::all_of(section.paragraphs.begin(), section.paragraphs.end(),
                       [](const SegmentedBlock& block) { return block.heading; });
  });
  return out;
}

// Packs the segments of one section greedily into chunks.
class ChunkPacker {
 public:
  ChunkPacker(size_t max_tokens, size_t overlap_tokens)
      : max_tokens_(max_tokens), overlap_tokens_(overlap_tokens) {}

  std::vector<std::string> run(const std::vector<SegmentedBlock>& paragraphs) {
    for (size_t i = 0; i < paragraphs.size(); ++i) {
      // A heading is not separated from the beginning of its first paragraph.
      size_t ahead = paragraphs[i].tokens;
      if (paragraphs[i].heading && i + 1 < paragraphs.size())
        ahead += 1 + paragraphs[i + 1].segments[0].tokens;
      if (tokens_ + 1 + ahead > max_tokens_ && 1 + ahead + overlap_tokens_ <= max_tokens_)
        finish_chunk();
      for (const Segment& segment : paragraphs[i].segments) add(segment);
    }
    if (new_segments_ > 0) emit();
    return std::move(out_);
  }

 private:
  // How many tokens the segment adds to the chunk. The first one has no separator.
  size_t cost(const Segment& segment) const {
    return segment.tokens + (current_.empty() ? 0 : segment.separator_tokens());
  }

  void add(const Segment& segment) {
    if (tokens_ + cost(segment) > max_tokens_) finish_chunk();
    // If the segment does not fit behind the overlap, the overlap is shortened.
    while (new_segments_ == 0 && !current_.empty() && tokens_ + cost(segment) > max_tokens_)
      drop_first();
    tokens_ += cost(segment);
    current_.push_back(segment);
    ++new_segments_;
  }

  void drop_first() {
    tokens_ -= current_.front().tokens;
    current_.erase(current_.begin());
    if (!current_.empty()) tokens_ -= current_.front().separator_tokens();
  }

  // Ends the chunk and begins the next one with the overlap: as many whole segments as fit, or the
  // last words of the last segment.
  void finish_chunk() {
    if (new_segments_ == 0) return;
    emit();
    size_t first = current_.size(), kept = 0;
    while (first > 0 &&
           kept + current_[first - 1].tokens + current_[first - 1].separator_tokens() <=
               overlap_tokens_) {
      --first;
      kept += current_[first].tokens + current_[first].separator_tokens();
    }
    std::vector<Segment> overlap(current_.begin() + static_cast<std::ptrdiff_t>(first),
                                 current_.end());
    if (overlap.empty() && overlap_tokens_ > 0)
      overlap = trailing_words(current_.back(), overlap_tokens_);
    current_.clear();
    tokens_ = new_segments_ = 0;
    for (Segment& segment : overlap) {
      tokens_ += cost(segment);
      current_.push_back(std::move(segment));
    }
  }

  void emit() {
    std::string content;
    for (const Segment& segment : current_) {
      const bool first = content.empty();
      if (!first) content += characters_of(segment.separator);
      if (segment.code && (first || content.ends_with('\n'))) content += text::kCodeIndent;
      content += segment.text;
    }
    out_.push_back(std::move(content));
  }

  size_t max_tokens_, overlap_tokens_;
  std::vector<Segment> current_;
  size_t tokens_ = 0;        // an upper bound for the token estimate of current_
  size_t new_segments_ = 0;  // segments in current_ that are not overlap
  std::vector<std::string> out_;
};

// The content of a document that has no text: its title, description and headings.
std::string content_without_text(const Document& document, std::span<const Block> blocks,
                                 size_t max_tokens) {
  std::string content = document.title;
  size_t tokens = text::estimate_tokens(content);
  auto add = [&](std::string_view line) {
    size_t more = 1 + text::estimate_tokens(line);
    if (line.empty() || is_same_text(line, document.title) || tokens + more > max_tokens) return;
    content.append(content.empty() ? "" : "\n\n").append(line);
    tokens += more;
  };
  add(document.description);
  for (const Block& block : blocks) add(block.text);
  return content;
}

// Calls visit(text before it, name in braces) for each placeholder of a template, and at the end
// once with the remaining text and an empty name. A brace that is never closed is text.
template <class Visit>
void for_each_placeholder(std::string_view pattern, Visit visit) {
  while (true) {
    size_t open = pattern.find('{');
    size_t close = open == std::string_view::npos ? open : pattern.find('}', open);
    if (close == std::string_view::npos) break;
    visit(pattern.substr(0, open), pattern.substr(open + 1, close - open - 1));
    pattern.remove_prefix(close + 1);
  }
  visit(pattern, std::string_view());
}

}  // namespace

std::string_view to_string(PrefixMode mode) {
  constexpr std::string_view kNames[] = {"none", "title", "full"};
  return kNames[static_cast<int>(mode)];
}

Result<PrefixMode> parse_prefix_mode(std::string_view text) {
  for (PrefixMode mode : {PrefixMode::none, PrefixMode::title, PrefixMode::full})
    if (text == to_string(mode)) return mode;
  return fail(ErrorKind::config, fmt::format("unknown prefix mode '{}'", text),
              "use none, title or full");
}

std::string ChunkOptions::describe() const {
  return fmt::format("v{} max={} overlap={} prefix={} analysis={}", kChunkerVersion, max_tokens,
                     overlap_tokens, to_string(prefix), text::kAnalysisVersion);
}

std::vector<Chunk> chunk(const Document& document, std::span<const Block> blocks,
                         const ChunkOptions& options) {
  size_t max = std::max<size_t>(options.max_tokens, 16);
  size_t overlap = std::min(options.overlap_tokens, max / 2);
  Chunk common;
  common.slug = document.slug;
  common.type = document.type;
  common.title = document.title;
  common.tags = document.tags;
  common.date = document.date;
  common.reading_minutes = document.reading_minutes;
  common.url = document.url;
  std::vector<Chunk> out;
  auto add = [&](const std::string& section, std::string content) {
    out.push_back(common);
    out.back().index = static_cast<int>(out.size()) - 1;
    out.back().section = section;
    out.back().content = std::move(content);
  };
  for (const Section& section : split_sections(document, blocks, max - overlap - 1))
    for (std::string& content : ChunkPacker(max, overlap).run(section.paragraphs))
      add(section.heading, std::move(content));
  if (out.empty()) add("", content_without_text(document, blocks, max));
  return out;
}

std::string embedding_text(const Chunk& chunk, PrefixMode mode) {
  if (mode == PrefixMode::none) return chunk.content;
  std::string out = fmt::format("[{}] {}\n", chunk.type, chunk.title);
  if (mode == PrefixMode::full) {
    if (!chunk.tags.empty()) out += fmt::format("Tags: {}\n", fmt::join(chunk.tags, ", "));
    if (!chunk.section.empty()) out += fmt::format("Section: {}\n", chunk.section);
  }
  return out + "\n" + chunk.content;
}

Result<> check_document_template(std::string_view pattern) {
  constexpr std::string_view kNames[] = {"text", "content", "title", "section", "tags", "type"};
  bool has_text = false;
  std::string unknown;
  if (pattern.find("{}") != std::string_view::npos)
    return fail(ErrorKind::config, "the document template has empty braces",
                "e.g. \"passage: {text}\"");
  for_each_placeholder(pattern, [&](std::string_view, std::string_view placeholder) {
    has_text = has_text || placeholder == "text" || placeholder == "content";
    if (!placeholder.empty() &&
        std::find(std::begin(kNames), std::end(kNames), placeholder) == std::end(kNames))
      unknown = placeholder;
  });
  if (!unknown.empty())
    return fail(ErrorKind::config, fmt::format("the document template has unknown {{{}}}", unknown),
                "use {text}, {content}, {title}, {section}, {tags}, {type}");
  if (!has_text)
    return fail(ErrorKind::config, "the document template has neither {text} nor {content}",
                "e.g. \"passage: {text}\"");
  return {};
}

std::string fill_document_template(std::string_view pattern, const Chunk& chunk, PrefixMode mode) {
  std::string out;
  for_each_placeholder(pattern, [&](std::string_view before, std::string_view placeholder) {
    out += before;
    if (placeholder == "text") out += embedding_text(chunk, mode);
    if (placeholder == "content") out += chunk.content;
    if (placeholder == "title") out += chunk.title;
    if (placeholder == "section") out += chunk.section;
    if (placeholder == "tags") out += fmt::format("{}", fmt::join(chunk.tags, ", "));
    if (placeholder == "type") out += chunk.type;
  });
  return out;
}

}  // namespace stoka::ingest
