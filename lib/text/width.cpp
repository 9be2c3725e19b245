#include "text/width.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

struct Cluster {
  size_t begin = 0;
  size_t end = 0;
  size_t width = 0;
  char32_t first = 0;
};

size_t code_point_width(char32_t c) {
  constexpr char32_t kEmojiPresentation = 0xFE0F;
  if (c == kEmojiPresentation || (c >= 0x1F1E6 && c <= 0x1F1FF))
    return 2;  // flags consist of characters in the second range, the regional indicators
  if (is_control(c) || is_ignorable(c)) return 0;
  return static_cast<size_t>(std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(c))));
}

// Iterates over the grapheme clusters of a text. A cluster is as wide as its widest code point.
class Clusters {
 public:
  explicit Clusters(std::string_view text) : text_(text) {}

  bool next(Cluster& out) {
    if (at_ >= text_.size()) return false;
    out = {at_, at_, 0, 0};
    auto byte = static_cast<unsigned char>(text_[at_]);
    bool ascii_only =
        byte < 0x80 && byte != '\r' &&
        (at_ + 1 == text_.size() || static_cast<unsigned char>(text_[at_ + 1]) < 0x80);
    char32_t c = next_code_point(text_, at_);
    out.first = c;
    out.width = code_point_width(c);
    utf8proc_int32_t state = 0;
    while (!ascii_only && at_ < text_.size()) {
      size_t following = at_;
      char32_t d = next_code_point(text_, following);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(c),
                                           static_cast<utf8proc_int32_t>(d), &state))
        break;
      out.width = std::max(out.width, code_point_width(d));
      at_ = following;
      c = d;
    }
    out.end = at_;
    return true;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Fills lines with words. A word is a run of clusters between spaces; each wide cluster is a word,
// too.
class Wrapper {
 public:
  Wrapper(size_t columns, std::vector<std::string>& lines) : columns_(columns), lines_(lines) {}

  void add(const Cluster& cluster, std::string_view bytes) {
    if (is_space(cluster.first)) {
      flush_word();
      spaces_ += bytes;
      spaces_width_ += cluster.width;
      return;
    }
    if (cluster.width > 1) flush_word();
    // A word that is wider than a line is broken where the line is full.
    if (word_width_ + cluster.width > columns_) flush_word();
    word_ += bytes;
    word_width_ += cluster.width;
    if (cluster.width > 1) flush_word();
  }

  void end_line() {
    flush_word();
    break_line();
  }

 private:
  void break_line() {
    lines_.push_back(std::move(line_));
    line_.clear();
    line_width_ = spaces_width_ = 0;
    spaces_.clear();
  }

  void flush_word() {
    if (word_.empty()) return;
    if (line_width_ + spaces_width_ + word_width_ > columns_ && !line_.empty()) break_line();
    if (spaces_width_ + word_width_ > columns_) {  // the indentation alone fills the line
      spaces_width_ = 0;
      spaces_.clear();
    }
    line_ += spaces_;
    line_ += word_;
    line_width_ += spaces_width_ + word_width_;
    word_width_ = spaces_width_ = 0;
    spaces_.clear();
    word_.clear();
  }

  size_t columns_;
  std::vector<std::string>& lines_;
  std::string line_, spaces_, word_;
  size_t line_width_ = 0, spaces_width_ = 0, word_width_ = 0;
};

}  // namespace

size_t display_width(std::string_view text) {
  size_t total = 0;
  Clusters clusters(text);
  for (Cluster cluster; clusters.next(cluster);) total += cluster.width;
  return total;
}

std::string truncate_to_width(std::string_view text, size_t columns) {
  if (columns == 0) return {};
  size_t total = 0,
         fits = 0;  // the end of the longest prefix that leaves a column for the ellipsis
  Clusters clusters(text);
  for (Cluster cluster; clusters.next(cluster);) {
    total += cluster.width;
    if (total > columns) return std::string(text.substr(0, fits)) + "…";
    if (total < columns) fits = cluster.end;
  }
  return std::string(text);
}

std::vector<std::string> wrap(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  Wrapper wrapper(std::max<size_t>(columns, 1), lines);
  Clusters clusters(text);
  for (Cluster cluster; clusters.next(cluster);) {
    if (cluster.first == '\n' || cluster.first == '\r') {
      wrapper.end_line();
    } else {
      wrapper.add(cluster, text.substr(cluster.begin, cluster.end - cluster.begin));
    }
  }
  wrapper.end_line();
  return lines;
}

}  // namespace stoka::text
