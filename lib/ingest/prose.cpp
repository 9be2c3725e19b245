#include "ingest/prose.h"

#include <algorithm>
#include <array>

namespace stoka::ingest {
namespace {

constexpr size_t kMaxTag = 4096;        // bytes of a tag of a template language
constexpr size_t kMaxJsx = 1024;        // bytes of a component's tag or an expression
constexpr size_t kMaxProseLabel = 200;  // bytes of what stands in brackets on one line

std::string_view bare(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(" \t\n-<>%"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\n-<>%") + 1 - begin);
}

// Looks for one needle from growing places without reading anything twice.
class Finder {
 public:
  Finder(std::string_view text, std::string_view needle) : text_(text), needle_(needle) {}
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

// Prose between code fences.
class Prose {
 public:
  Prose(std::string_view text, Dialect dialect, std::string& out)
      : text_(text), mdx_(dialect == Dialect::mdx), out_(out) {}

  void run() {
    while (at_ < text_.size()) {
      size_t next = std::min(text_.find_first_of("`{[<\\", at_), text_.size());
      out_.append(text_, at_, next - at_);
      at_ = next;
      if (at_ == text_.size()) break;
      if (!special()) out_ += text_[at_++];
    }
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  // Whether something that is more than a character stood here and has been dealt with.
  bool special() {
    switch (text_[at_]) {
      case '\\':
        return copy(std::min<size_t>(2, text_.size() - at_));
      case '`':
        return code_span();
      case '{':
        return template_tag() || attributes() || (mdx_ && expression());
      case '[':
        return bracket();
      case '<':
        return mdx_ && component();
    }
    return false;
  }

  bool copy(size_t bytes) {
    out_.append(text_, at_, bytes);
    at_ += bytes;
    return true;
  }

  bool code_span() {
    size_t run = std::min(text_.find_first_not_of('`', at_), text_.size()) - at_;
    size_t end = closing_run(at_ + run, run);
    return copy(end == std::string_view::npos ? run : end - at_);
  }

  // The end of the next run of exactly so many backticks before a blank line.
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

  bool template_tag() {
    bool variable = rest().starts_with("{{"), statement = rest().starts_with("{%");
    if (!variable && !statement) return false;
    size_t close = (variable ? close_variable_ : close_statement_).from(at_ + 2);
    if (close == std::string_view::npos || close - at_ > kMaxTag) return false;
    std::string_view inner = bare(text_.substr(at_ + 2, close - at_ - 2));
    size_t end = close + 2;
    size_t name_end = std::min(inner.find_first_of(" \t\n("), inner.size());
    std::string_view name = inner.substr(0, name_end);
    if (variable && rest().starts_with("{{{")) ++end;  // handlebars: three braces
    at_ = std::min(end, text_.size());
    if (name == "highlight") {
      verbatim(inner.substr(name_end), variable ? "{{" : "{%",
               variable ? "/highlight" : "endhighlight");
    } else if (name == "comment" && statement) {
      skip_comment();
    }
    return true;
  }

  // What follows, up to the closing tag of that name, as a code fence with that info string.
  void verbatim(std::string_view info, std::string_view opener, std::string_view closing_name) {
    for (size_t at = at_;
         (at = text_.find(opener, at)) != std::string_view::npos && at - at_ <= 16 * kMaxTag;
         at += 2) {
      size_t name = std::min(text_.find_first_not_of(" <%-", at + 2), text_.size());
      if (!text_.substr(name).starts_with(closing_name)) continue;
      size_t close = text_.find('}', name);
      if (close == std::string_view::npos) return;
      out_ += "\n~~~~~~~~ ";
      for (const char c : bare(info)) out_ += c == '\n' || c == '"' || c == '\'' ? ' ' : c;
      out_ += '\n';
      out_.append(text_, at_, at - at_);
      out_ += "\n~~~~~~~~\n";
      at_ = std::min(close + 2, text_.size());
      return;
    }
  }

  void skip_comment() {
    size_t end = end_comment_.from(at_);
    if (end == std::string_view::npos) return;
    size_t close = text_.find("%}", end);
    if (close != std::string_view::npos) at_ = close + 2;
  }

  // {: .class}, {#id}, {.class}: kramdown and heading attributes.
  bool attributes() {
    if (rest().size() < 2 || (rest()[1] != ':' && rest()[1] != '#' && rest()[1] != '.'))
      return false;
    return drop_up_to("}");
  }

  bool drop_up_to(std::string_view end) {
    std::string_view line = rest().substr(0, kMaxProseLabel);
    line = line.substr(0, line.find('\n'));
    size_t close = line.find(end);
    if (close == std::string_view::npos) return false;
    at_ += close + end.size();
    return true;
  }

  // Footnote marks, alert markers and wiki links.
  bool bracket() {
    if (rest().starts_with("[^") || rest().starts_with("[!")) {
      std::string_view label = rest().substr(0, kMaxProseLabel);
      label = label.substr(0, label.find_first_of(" \n]", 2));
      bool whole = label.size() > 2 && rest().substr(label.size()).starts_with(']');
      bool badge = rest().starts_with("[!") &&
                   label.find('[', 2) != std::string_view::npos;  // [![image](…)](…)
      if (!whole || badge) return false;
      at_ += label.size() + 1;
      return true;
    }
    if (!rest().starts_with("[[")) return false;
    std::string_view inner = rest().substr(2, kMaxProseLabel);
    inner = inner.substr(0, inner.find_first_of("\n]["));
    if (inner.empty() || !rest().substr(2 + inner.size()).starts_with("]]")) return false;
    at_ += inner.size() + 4;
    out_ += inner.substr(inner.rfind('|') == std::string_view::npos ? 0 : inner.rfind('|') + 1);
    return true;
  }

  // The end of a brace expression that begins here, quotes and nesting respected.
  size_t balanced(size_t at, size_t limit) const {
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

  bool expression() {
    size_t end = balanced(at_, std::min(at_ + kMaxJsx, text_.size()));
    if (end == std::string_view::npos) return false;
    at_ = end;
    return true;
  }

  // <Name attribute={…}>, </Name>, <> and </>.
  bool component() {
    std::string_view tag = rest();
    size_t name = tag.starts_with("</") ? 2 : 1;
    bool fragment = tag.substr(name).starts_with('>');
    bool capital = tag.size() > name && tag[name] >= 'A' && tag[name] <= 'Z';
    if (!fragment && !capital) return false;
    size_t limit = std::min(at_ + kMaxJsx, text_.size());
    char quote = 0;
    for (size_t at = at_ + name; at < limit; ++at) {
      char c = text_[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '{') {
        at = balanced(at, limit);
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
  Finder blank_line_{text_, "\n\n"};
  Finder close_variable_{text_, "}}"};
  Finder close_statement_{text_, "%}"};
  Finder end_comment_{text_, "endcomment"};
};

}  // namespace

void strip_prose(std::string_view prose, Dialect dialect, std::string& out) {
  Prose(prose, dialect, out).run();
}

}  // namespace stoka::ingest
