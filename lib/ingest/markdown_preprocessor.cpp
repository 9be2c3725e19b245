#include "ingest/markdown_preprocessor.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "ingest/code_fence.h"

namespace stoka::ingest {
namespace {

constexpr size_t kMaxLabelBytes = 200;  // bytes of a footnote's name or of other text in brackets

// The most lists and quotes that a line may open, as md4c walks over all open ones on every line.
constexpr int kMaxContainers = 64;

// The length of the list or quote marker at `at` and the white space behind it, or 0.
size_t container_marker(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && is_ascii_digit(line[end])) ++end;
  if (end == line.size()) return 0;
  bool quote = end == at && line[end] == '>';
  bool marker = end > at ? line[end] == '.' || line[end] == ')'
                         : quote || line[end] == '-' || line[end] == '+' || line[end] == '*';
  if (!marker) return 0;
  size_t next = std::min(line.find_first_not_of(" \t", end + 1), line.size());
  return next == end + 1 && !quote && next < line.size() ? 0 : next - at;
}

// The line without the list and quote markers that exceed kMaxContainers.
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

// Whether a line is the delimiter row of a table: "|-|:-:|".
bool is_delimiter_row(std::string_view line) {
  return line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos &&
         line.find_first_not_of(" \t|:->") == std::string_view::npos;
}

// The delimiter row with three dashes per column, as md4c requires.
std::string widened(std::string_view rule) {
  std::string out;
  for (size_t i = 0; i < rule.size(); ++i) {
    out += rule[i];
    if (rule[i] == '-' && (i == 0 || rule[i - 1] != '-')) out += "--";
  }
  return out;
}

// Whether a line begins an ES module statement, which MDX allows at the beginning of a block.
bool is_module_statement(std::string_view line) {
  if (line.starts_with("import ")) return line.find_first_of("'\"{*") != std::string_view::npos;
  if (!line.starts_with("export ")) return false;
  line.remove_prefix(7);
  for (std::string_view word :
       {"const ", "let ", "var ", "default ", "function ", "async ", "class ", "{", "*"})
    if (line.starts_with(word)) return true;
  return false;
}

constexpr size_t kMaxTemplateTagBytes = 4096;  // bytes of a tag of a template language
constexpr size_t kMaxJsxBytes = 1024;          // bytes of a component's tag or of an expression

std::string_view trim_tag(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(" \t\n-<>%"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\n-<>%") + 1 - begin);
}

// Finds a string again and again, from growing offsets, without reading any text twice.
class ForwardFinder {
 public:
  ForwardFinder(std::string_view text, std::string_view needle) : text_(text), needle_(needle) {}
  size_t from(size_t at) {
    if (!known_ || (next_ != std::string_view::npos && next_ < at)) next_ = text_.find(needle_, at);
    known_ = true;
    return next_;
  }

 private:
  std::string_view text_, needle_;
  size_t next_ = 0;
  bool known_ = false;
};

// Removes the syntax of template languages from text without code fences. Linear time.
class InlineStripper {
 public:
  InlineStripper(std::string_view text, Dialect dialect, std::string& out)
      : text_(text), mdx_(dialect == Dialect::mdx), out_(out) {}

  void run() {
    while (at_ < text_.size()) {
      size_t next = std::min(text_.find_first_of("`{[<\\", at_), text_.size());
      out_.append(text_, at_, next - at_);
      at_ = next;
      if (at_ == text_.size()) break;
      if (!handle_construct()) out_ += text_[at_++];
    }
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  // Handles the template tag that begins at at_. Returns false if the character is ordinary text.
  bool handle_construct() {
    switch (text_[at_]) {
      case '\\':
        return copy(std::min<size_t>(2, text_.size() - at_));
      case '`':
        return copy_code_span();
      case '{':
        return strip_template_tag() || strip_attributes() || (mdx_ && strip_expression());
      case '[':
        return strip_bracket();
      case '<':
        return mdx_ && strip_component_tag();
    }
    return false;
  }

  bool copy(size_t bytes) {
    out_.append(text_, at_, bytes);
    at_ += bytes;
    return true;
  }

  bool copy_code_span() {
    size_t run = std::min(text_.find_first_not_of('`', at_), text_.size()) - at_;
    size_t end = closing_run(at_ + run, run);
    return copy(end == std::string_view::npos ? run : end - at_);
  }

  // The end of the next run of exactly `run` backticks before a blank line. Failed searches are
  // remembered, so that all searches together take linear time.
  size_t closing_run(size_t at, size_t run) {
    size_t& failed_until = no_close_until_[std::min(run, no_close_until_.size() - 1)];
    if (at < failed_until) return std::string_view::npos;
    size_t limit = std::min(blank_line_.from(at), text_.size());
    while ((at = text_.find('`', at)) < limit) {
      size_t end = std::min(text_.find_first_not_of('`', at), text_.size());
      if (end - at == run) return end;
      at = end;
    }
    failed_until = limit;
    return std::string_view::npos;
  }

  bool strip_template_tag() {
    bool variable = rest().starts_with("{{"), statement = rest().starts_with("{%");
    if (!variable && !statement) return false;
    size_t close = (variable ? close_variable_ : close_statement_).from(at_ + 2);
    if (close == std::string_view::npos || close - at_ > kMaxTemplateTagBytes) return false;
    std::string_view inner = trim_tag(text_.substr(at_ + 2, close - at_ - 2));
    size_t end = close + 2;
    size_t name_end = std::min(inner.find_first_of(" \t\n("), inner.size());
    std::string_view name = inner.substr(0, name_end);
    // Handlebars also has tags with three braces.
    at_ = rest().starts_with("{{{") && text_.substr(end).starts_with('}') ? end + 1 : end;
    if (name == "highlight") {
      append_code_fence(inner.substr(name_end), variable ? "{{" : "{%",
                        variable ? "/highlight" : "endhighlight");
    } else if (name == "comment" && statement) {
      skip_comment();
    }
    return true;
  }

  // Writes the text up to the closing tag `closing_name` as a code fence with the info string
  // `info`.
  void append_code_fence(std::string_view info, std::string_view opener,
                         std::string_view closing_name) {
    for (size_t at = at_; (at = text_.find(opener, at)) != std::string_view::npos &&
                          at - at_ <= 16 * kMaxTemplateTagBytes;
         at += 2) {
      size_t name = std::min(text_.find_first_not_of(" <%-", at + 2), text_.size());
      if (!text_.substr(name).starts_with(closing_name)) continue;
      size_t close = text_.find('}', name);
      if (close == std::string_view::npos) return;
      out_ += "\n~~~~~~~~ ";
      for (const char c : trim_tag(info)) out_ += c == '\n' || c == '"' || c == '\'' ? ' ' : c;
      out_ += '\n';
      out_.append(text_, at_, at - at_);
      out_ += "\n~~~~~~~~\n";
      at_ = close + 1;  // a second brace or the end of the line is skipped, too
      if (text_.substr(at_, 1).find_first_of("}\n") == 0) ++at_;
      return;
    }
  }

  void skip_comment() {
    size_t end = end_comment_.from(at_);
    if (end == std::string_view::npos) return;
    size_t close = text_.find("%}", end);
    if (close != std::string_view::npos) at_ = close + 2;
  }

  // Drops kramdown and heading attributes: {: .class}, {#id}, {.class}.
  bool strip_attributes() {
    if (rest().size() < 2 || (rest()[1] != ':' && rest()[1] != '#' && rest()[1] != '.'))
      return false;
    return drop_up_to("}");
  }

  bool drop_up_to(std::string_view end) {
    std::string_view line = rest().substr(0, kMaxLabelBytes);
    line = line.substr(0, line.find('\n'));
    size_t close = line.find(end);
    if (close == std::string_view::npos) return false;
    at_ += close + end.size();
    return true;
  }

  // Drops footnote marks and alert markers, and replaces wiki links with their labels.
  bool strip_bracket() {
    if (rest().starts_with("[^") || rest().starts_with("[!")) {
      std::string_view label = rest().substr(0, kMaxLabelBytes);
      label = label.substr(0, label.find_first_of(" \n]", 2));
      bool whole = label.size() > 2 && rest().substr(label.size()).starts_with(']');
      bool badge = rest().starts_with("[!") &&
                   label.find('[', 2) != std::string_view::npos;  // an image: [![image](…)](…)
      if (!whole || badge) return false;
      at_ += label.size() + 1;
      return true;
    }
    if (!rest().starts_with("[[")) return false;
    std::string_view inner = rest().substr(2, kMaxLabelBytes);
    inner = inner.substr(0, inner.find_first_of("\n]["));
    if (inner.empty() || !rest().substr(2 + inner.size()).starts_with("]]")) return false;
    at_ += inner.size() + 4;
    out_ += inner.substr(inner.rfind('|') == std::string_view::npos ? 0 : inner.rfind('|') + 1);
    return true;
  }

  // The end of the brace expression at `at`, considering quotes and nesting.
  size_t balanced_end(size_t at, size_t limit) const {
    int depth = 0;
    char quote = 0;
    for (; at < limit; ++at) {
      char c = text_[at];
      if (quote != 0) {
        if (c == '\\') ++at;
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '`' || (c == '\'' && depth > 0)) {
        quote = c;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        return at + 1;
      }
    }
    return std::string_view::npos;
  }

  bool strip_expression() {
    size_t end = balanced_end(at_, std::min(at_ + kMaxJsxBytes, text_.size()));
    if (end == std::string_view::npos) return false;
    at_ = end;
    return true;
  }

  // Drops the tag of a component: <Name attribute={…}>, </Name>, <> or </>.
  bool strip_component_tag() {
    std::string_view tag = rest();
    size_t name = tag.starts_with("</") ? 2 : 1;
    bool fragment = tag.substr(name).starts_with('>');
    bool capital = tag.size() > name && is_ascii_upper(tag[name]);
    if (!fragment && !capital) return false;
    size_t limit = std::min(at_ + kMaxJsxBytes, text_.size());
    char quote = 0;
    for (size_t at = at_ + name; at < limit; ++at) {
      char c = text_[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '{') {
        at = balanced_end(at, limit);
        if (at == std::string_view::npos) return false;
        --at;
      } else if (c == '>') {
        at_ = at + 1;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  bool mdx_;
  std::string& out_;
  size_t at_ = 0;
  std::array<size_t, 32> no_close_until_{};
  ForwardFinder blank_line_{text_, "\n\n"};
  ForwardFinder close_variable_{text_, "}}"};
  ForwardFinder close_statement_{text_, "%}"};
  ForwardFinder end_comment_{text_, "endcomment"};
};

// Goes through a page line by line, copies code fences, and strips the text between them.
class MarkdownPreprocessor {
 public:
  MarkdownPreprocessor(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {
    out_.reserve(text.size());
  }

  std::string run() {
    while (at_ < text_.size()) {
      size_t end = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      std::string_view line = text_.substr(at_, end - at_);
      at_ = end;
      if (open_fence_.length > 0) {
        read_fenced_line(line);
      } else {
        read_line(line);
      }
    }
    flush();
    return std::move(out_);
  }

 private:
  void read_fenced_line(std::string_view line) {
    out_ += line;
    if (parse_code_fence(line.substr(0, line.find('\n'))).closes(open_fence_)) open_fence_ = {};
  }

  void read_line(std::string_view line) {
    std::string_view content = line.substr(0, line.find('\n'));
    CodeFence fence = parse_code_fence(content);
    if (fence.length > 0) {
      flush();
      open_fence_ = fence;
      out_ += line;
    } else if (dialect_ == Dialect::mdx && (in_module_statement_ || is_module_statement(content))) {
      in_module_statement_ = !content.empty();
    } else if (content.starts_with(":::")) {
      append_admonition(content);
    } else if (size_t label = footnote_label_length(content); label > 0) {
      prose_ += "\n";
      prose_ += line.substr(label);
    } else if (is_delimiter_row(content)) {
      prose_ += widened(content) + "\n";
    } else {
      prose_ += flattened(line);
    }
  }

  // Replaces ":::tip[Title]" and ":::tip Title" with the title, and ":::" with nothing.
  void append_admonition(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(": "), line.size()));
    line.remove_prefix(std::min(line.find_first_of(" ["), line.size()));
    while (line.starts_with(' ') || line.starts_with('[')) line.remove_prefix(1);
    while (line.ends_with(']') || line.ends_with(' ')) line.remove_suffix(1);
    if (!line.starts_with('{')) prose_ += "\n" + std::string(line);
    prose_ += "\n\n";
  }

  // The length of "[^id]:" at the front of a line.
  static size_t footnote_label_length(std::string_view line) {
    if (!line.starts_with("[^")) return 0;
    size_t close = line.find("]:");
    return close == std::string_view::npos || close > kMaxLabelBytes ? 0 : close + 2;
  }

  void flush() {
    InlineStripper(prose_, dialect_, out_).run();
    prose_.clear();
  }

  std::string_view text_;
  Dialect dialect_;
  size_t at_ = 0;
  CodeFence open_fence_;
  bool in_module_statement_ = false;  // inside a module statement, which ends at a blank line
  std::string prose_, out_;
};

}  // namespace

std::string preprocess_markdown(std::string_view markdown, Dialect dialect) {
  return MarkdownPreprocessor(markdown, dialect).run();
}

}  // namespace stoka::ingest
