#include "ingest/chunker.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/pieces.h"
#include "text/code_lines.h"
#include "text/normalize.h"
#include "text/tokens.h"
#include "text/words.h"

namespace stoka::ingest {
namespace {

struct Section {
  std::string heading;
  std::vector<Paragraph> paragraphs;
};

bool same_text(std::string_view a, std::string_view b) { return text::fold(a) == text::fold(b); }

std::vector<Section> sections_of(const Document& document, std::span<const Block> blocks,
                                 size_t piece_limit) {
  std::vector<Section> out(1);
  for (const Block& block : blocks) {
    bool heading = block.kind == BlockKind::heading;
    if (heading && block.level <= 2) {
      bool title = block.level == 1 && same_text(block.text, document.title);
      out.push_back({title ? std::string() : block.text, {}});
    } else {
      out.back().paragraphs.push_back(cut_paragraph(block, piece_limit));
    }
  }
  std::erase_if(out, [](const Section& section) {
    return std::all_of(section.paragraphs.begin(), section.paragraphs.end(),
                       [](const Paragraph& p) { return p.heading; });
  });
  return out;
}

// Fills chunks of one section, one after the other.
class Packer {
 public:
  Packer(size_t max_tokens, size_t overlap_tokens) : max_(max_tokens), overlap_(overlap_tokens) {}

  std::vector<std::string> run(const std::vector<Paragraph>& paragraphs) {
    for (size_t i = 0; i < paragraphs.size(); ++i) {
      // A heading goes where its first paragraph goes.
      size_t ahead = paragraphs[i].tokens;
      if (paragraphs[i].heading && i + 1 < paragraphs.size())
        ahead += 1 + paragraphs[i + 1].pieces[0].tokens;
      if (tokens_ + 1 + ahead > max_ && 1 + ahead + overlap_ <= max_) close();
      for (const Piece& piece : paragraphs[i].pieces) add(piece);
    }
    if (fresh_ > 0) emit();
    return std::move(out_);
  }

 private:
  // What a piece adds to the chunk: nothing stands before the first.
  size_t cost(const Piece& piece) const {
    return piece.tokens + (current_.empty() ? 0 : piece.gap());
  }

  void add(const Piece& piece) {
    if (tokens_ + cost(piece) > max_) close();
    // The overlap gives way to a piece that needs the room.
    while (fresh_ == 0 && !current_.empty() && tokens_ + cost(piece) > max_) drop_first();
    tokens_ += cost(piece);
    current_.push_back(piece);
    ++fresh_;
  }

  void drop_first() {
    tokens_ -= current_.front().tokens;
    current_.erase(current_.begin());
    if (!current_.empty()) tokens_ -= current_.front().gap();
  }

  // Ends the chunk and begins the next one with the overlap.
  void close() {
    if (fresh_ == 0) return;
    emit();
    size_t first = current_.size(), kept = 0;
    while (first > 0 && kept + current_[first - 1].tokens + current_[first - 1].gap() <= overlap_) {
      --first;
      kept += current_[first].tokens + current_[first].gap();
    }
    std::vector<Piece> overlap(current_.begin() + static_cast<std::ptrdiff_t>(first),
                               current_.end());
    if (overlap.empty() && overlap_ > 0) overlap = tail_words(current_.back(), overlap_);
    current_.clear();
    tokens_ = fresh_ = 0;
    for (Piece& piece : overlap) {
      tokens_ += cost(piece);
      current_.push_back(std::move(piece));
    }
  }

  void emit() {
    std::string content;
    for (const Piece& piece : current_) {
      const bool first = content.empty();
      if (!first) content += separator(piece.joint);
      if (piece.code && (first || content.ends_with('\n'))) content += text::kCodeIndent;
      content += piece.text;
    }
    out_.push_back(std::move(content));
  }

  size_t max_, overlap_;
  std::vector<Piece> current_;
  size_t tokens_ = 0;  // an upper bound of the estimate for what is in current_
  size_t fresh_ = 0;   // pieces in current_ that are not overlap
  std::vector<std::string> out_;
};

// What stands for a document that has no text of its own.
std::string bare_content(const Document& document, std::span<const Block> blocks,
                         size_t max_tokens) {
  std::string content = document.title;
  size_t tokens = text::estimate_tokens(content);
  auto add = [&](std::string_view line) {
    size_t more = 1 + text::estimate_tokens(line);
    if (line.empty() || same_text(line, document.title) || tokens + more > max_tokens) return;
    content.append(content.empty() ? "" : "\n\n").append(line);
    tokens += more;
  };
  add(document.description);
  for (const Block& block : blocks) add(block.text);
  return content;
}

}  // namespace

std::string_view name(PrefixMode mode) {
  constexpr std::string_view kNames[] = {"none", "title", "full"};
  return kNames[static_cast<int>(mode)];
}

Result<PrefixMode> parse_prefix_mode(std::string_view text) {
  for (PrefixMode mode : {PrefixMode::none, PrefixMode::title, PrefixMode::full})
    if (text == name(mode)) return mode;
  return fail(ErrorKind::config, fmt::format("unknown prefix mode '{}'", text),
              "use none, title or full");
}

std::string ChunkOptions::describe() const {
  return fmt::format("v{} max={} overlap={} prefix={} analysis={}", kChunkerVersion, max_tokens,
                     overlap_tokens, name(prefix), text::kAnalysisVersion);
}

std::vector<Chunk> chunk(const Document& document, std::span<const Block> blocks,
                         const ChunkOptions& options) {
  size_t max = std::max<size_t>(options.max_tokens, 16);
  size_t overlap = std::min(options.overlap_tokens, max / 2);
  Chunk like;
  like.slug = document.slug;
  like.type = document.type;
  like.title = document.title;
  like.tags = document.tags;
  like.date = document.date;
  like.reading_minutes = document.reading_minutes;
  like.url = document.url;
  std::vector<Chunk> out;
  auto add = [&](const std::string& section, std::string content) {
    out.push_back(like);
    out.back().index = static_cast<int>(out.size()) - 1;
    out.back().section = section;
    out.back().content = std::move(content);
  };
  for (const Section& section : sections_of(document, blocks, max - overlap - 1))
    for (std::string& content : Packer(max, overlap).run(section.paragraphs))
      add(section.heading, std::move(content));
  if (out.empty()) add("", bare_content(document, blocks, max));
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

namespace {

// Calls visit(text before, name in braces) for each place of a template, then once with what is
// left and no name. A brace that opens nothing is text.
template <class Visit>
void each_place(std::string_view pattern, Visit visit) {
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

Result<> check_document_template(std::string_view pattern) {
  constexpr std::string_view kNames[] = {"text", "content", "title", "section", "tags", "type"};
  bool has_text = false;
  std::string unknown;
  if (pattern.find("{}") != std::string_view::npos)
    return fail(ErrorKind::config, "the document template has empty braces",
                "e.g. \"passage: {text}\"");
  each_place(pattern, [&](std::string_view, std::string_view place) {
    has_text = has_text || place == "text" || place == "content";
    if (!place.empty() &&
        std::find(std::begin(kNames), std::end(kNames), place) == std::end(kNames))
      unknown = place;
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
  each_place(pattern, [&](std::string_view before, std::string_view place) {
    out += before;
    if (place == "text") out += embedding_text(chunk, mode);
    if (place == "content") out += chunk.content;
    if (place == "title") out += chunk.title;
    if (place == "section") out += chunk.section;
    if (place == "tags") out += fmt::format("{}", fmt::join(chunk.tags, ", "));
    if (place == "type") out += chunk.type;
  });
  return out;
}

}  // namespace stoka::ingest
