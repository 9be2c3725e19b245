#include "ingest/prepare.h"

#include <algorithm>

#include "ingest/fence.h"
#include "ingest/prose.h"

namespace stoka::ingest {
namespace {

constexpr size_t kMaxLabel = 200;  // bytes of a footnote's name

// md4c walks all open containers on every line, so a line may open only so many.
constexpr int kMaxContainers = 64;

// The length of the list or quote marker at `at`, with the white space behind it; 0 if there is
// none.
size_t container_marker(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  if (end == line.size()) return 0;
  bool quote = end == at && line[end] == '>';
  bool marker = end > at ? line[end] == '.' || line[end] == ')'
                         : quote || line[end] == '-' || line[end] == '+' || line[end] == '*';
  if (!marker) return 0;
  size_t next = std::min(line.find_first_not_of(" \t", end + 1), line.size());
  return next == end + 1 && !quote && next < line.size() ? 0 : next - at;
}

// A line without the markers that it opens beyond the limit.
std::string flattened(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(" \t"), line.size()), kept = at;
  int count = 0;
  while (size_t length = container_marker(line, at)) {
    at += length;
    if (++count == kMaxContainers) kept = at;
  }
  if (count <= kMaxContainers) return std::string(line);
  return std::string(line.substr(0, kept)).append(line.substr(at));
}

// The rule of a table, "|-|:-:|", with three dashes a column, which md4c asks for.
bool is_table_rule(std::string_view line) {
  return line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos &&
         line.find_first_not_of(" \t|:->") == std::string_view::npos;
}

std::string widened(std::string_view rule) {
  std::string out;
  for (size_t i = 0; i < rule.size(); ++i) {
    out += rule[i];
    if (rule[i] == '-' && (i == 0 || rule[i - 1] != '-')) out += "--";
  }
  return out;
}

// An ES module statement, as MDX allows at the beginning of a block.
bool is_module_statement(std::string_view line) {
  if (line.starts_with("import ")) return line.find_first_of("'\"{*") != std::string_view::npos;
  if (!line.starts_with("export ")) return false;
  line.remove_prefix(7);
  for (std::string_view word :
       {"const ", "let ", "var ", "default ", "function ", "async ", "class ", "{", "*"})
    if (line.starts_with(word)) return true;
  return false;
}

// Walks over lines, keeps fences as they are and hands the rest on.
class Lines {
 public:
  Lines(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {
    out_.reserve(text.size());
  }

  std::string run() {
    while (at_ < text_.size()) {
      size_t end = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      std::string_view line = text_.substr(at_, end - at_);
      at_ = end;
      if (open_.length > 0) {
        inside_fence(line);
      } else {
        outside_fence(line);
      }
    }
    flush();
    return std::move(out_);
  }

 private:
  void inside_fence(std::string_view line) {
    out_ += line;
    line = line.substr(0, line.find('\n'));
    Fence fence = fence_of(line);
    if (fence.closes(open_)) open_ = {};
  }

  void outside_fence(std::string_view line) {
    std::string_view bare = line.substr(0, line.find('\n'));
    Fence fence = fence_of(bare);
    if (fence.length > 0) {
      flush();
      open_ = fence;
      out_ += line;
    } else if (dialect_ == Dialect::mdx && (module_ || is_module_statement(bare))) {
      module_ = !bare.empty();
    } else if (bare.starts_with(":::")) {
      admonition(bare);
    } else if (size_t label = footnote(bare); label > 0) {
      prose_ += "\n";
      prose_ += line.substr(label);
    } else if (is_table_rule(bare)) {
      prose_ += widened(bare) + "\n";
    } else {
      prose_ += flattened(line);
    }
  }

  // ":::tip[Title]" and ":::tip Title" leave the title, ":::" leaves nothing.
  void admonition(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(": "), line.size()));
    line.remove_prefix(std::min(line.find_first_of(" ["), line.size()));
    while (line.starts_with(' ') || line.starts_with('[')) line.remove_prefix(1);
    while (line.ends_with(']') || line.ends_with(' ')) line.remove_suffix(1);
    if (!line.starts_with('{')) prose_ += "\n" + std::string(line);
    prose_ += "\n\n";
  }

  // The length of "[^id]:" at the front of a line.
  static size_t footnote(std::string_view line) {
    if (!line.starts_with("[^")) return 0;
    size_t close = line.find("]:");
    return close == std::string_view::npos || close > kMaxLabel ? 0 : close + 2;
  }

  void flush() {
    strip_prose(prose_, dialect_, out_);
    prose_.clear();
  }

  std::string_view text_;
  Dialect dialect_;
  size_t at_ = 0;
  Fence open_;
  bool module_ = false;  // inside a module statement, which a blank line ends
  std::string prose_, out_;
};

}  // namespace

std::string prepare_markdown(std::string_view markdown, Dialect dialect) {
  return Lines(markdown, dialect).run();
}

}  // namespace stoka::ingest
