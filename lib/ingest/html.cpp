#include "ingest/html.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/entities.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

constexpr auto kBlockElements = std::to_array<std::string_view>(
    {"address", "article", "aside", "blockquote", "body",    "br",       "center",     "dd",
     "details", "dialog",  "div",   "dl",         "dt",      "fieldset", "figcaption", "figure",
     "footer",  "form",    "h1",    "h2",         "h3",      "h4",       "h5",         "h6",
     "head",    "header",  "hr",    "html",       "li",      "main",     "menu",       "nav",
     "ol",      "p",       "pre",   "section",    "summary", "table",    "tbody",      "tfoot",
     "thead",   "tr",      "ul"});
constexpr auto kDroppedElements = std::to_array<std::string_view>(
    {"iframe", "math", "object", "script", "style", "svg", "template", "textarea"});

template <class List>
bool has_element(const List& list, std::string_view name) {
  return std::binary_search(list.begin(), list.end(), name);
}

bool is_name_character(char c) { return is_ascii_alnum(c) || c == '-' || c == ':'; }

struct Tag {
  std::string name;  // the name of the element in lower case
  bool closing = false;
};

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) {}

  std::vector<Block> run() {
    while (at_ < html_.size()) {
      size_t open = std::min(html_.find('<', at_), html_.size());
      text_.append(html_, at_, open - at_);
      at_ = open;
      if (at_ < html_.size()) read_markup();
    }
    flush();
    return std::move(out_);
  }

 private:
  // Reads the tag, comment or text that begins with the '<' at at_.
  void read_markup() {
    std::string_view rest = html_.substr(at_);
    char next = rest.size() > 1 ? rest[1] : ' ';
    if (rest.starts_with("<!--")) {
      skip_past("-->");
    } else if (rest.starts_with("<![CDATA[")) {
      skip_past("]]>");
    } else if (next == '!' || next == '?') {
      skip_past(">");
    } else if (is_ascii_letter(next) ||
               (next == '/' && rest.size() > 2 && is_ascii_letter(rest[2]))) {
      apply(read_tag());
    } else {
      text_ += '<';
      ++at_;
    }
  }

  void skip_past(std::string_view end) {
    size_t found = html_.find(end, at_);
    at_ = found == std::string_view::npos ? html_.size() : found + end.size();
  }

  Tag read_tag() {
    Tag tag;
    ++at_;
    tag.closing = html_[at_] == '/';
    if (tag.closing) ++at_;
    while (at_ < html_.size() && is_name_character(html_[at_])) tag.name += to_lower(html_[at_++]);
    while (at_ < html_.size() && html_[at_] != '>') {
      char c = html_[at_++];
      if (c != '"' && c != '\'') continue;
      // A quote that is never closed is an apostrophe. A failed search for the end of a quote is
      // not repeated for that kind of quote, so that parsing takes linear time.
      size_t& known_end = c == '"' ? no_double_quote_after_ : no_single_quote_after_;
      if (at_ >= known_end) continue;
      size_t close = html_.find(c, at_);
      if (close == std::string_view::npos) {
        known_end = at_;
      } else {
        at_ = close + 1;
      }
    }
    if (at_ < html_.size()) ++at_;
    return tag;
  }

  void apply(const Tag& tag) {
    if (!tag.closing && has_element(kDroppedElements, tag.name)) return skip_element(tag.name);
    if (tag.name == "td" || tag.name == "th") {
      text_ += ' ';
    } else if (has_element(kBlockElements, tag.name)) {
      flush();
    }
    if (tag.name == "pre") pre_ = !tag.closing;
    if (tag.name.size() == 2 && tag.name[0] == 'h' && tag.name[1] >= '1' && tag.name[1] <= '6')
      level_ = tag.closing ? 0 : tag.name[1] - '0';
  }

  void skip_element(const std::string& name) {
    while (at_ < html_.size()) {
      skip_past("</");
      if (at_ >= html_.size()) return;
      at_ -= 2;
      Tag tag = html_.size() > at_ + 2 && is_ascii_letter(html_[at_ + 2]) ? read_tag() : Tag{};
      if (tag.name == name) return;
      if (tag.name.empty()) at_ += 2;
    }
  }

  void flush() {
    std::string text = text::decode_entities(text_);
    text_.clear();
    if (pre_) {
      size_t begin = std::min(text.find_first_not_of('\n'), text.size());
      text = text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
    } else {
      text = text::collapse_whitespace(text);
    }
    if (text.empty()) return;
    BlockKind kind = pre_         ? BlockKind::code
                     : level_ > 0 ? BlockKind::heading
                                  : BlockKind::paragraph;
    out_.push_back({kind, kind == BlockKind::heading ? level_ : 0, std::move(text)});
  }

  std::string_view html_;
  size_t at_ = 0;
  std::string text_;
  std::vector<Block> out_;
  bool pre_ = false;
  int level_ = 0;  // the level of the open heading
  size_t no_double_quote_after_ = static_cast<size_t>(-1);
  size_t no_single_quote_after_ = static_cast<size_t>(-1);
};

}  // namespace

std::vector<Block> parse_html(std::string_view html) { return HtmlReader(html).run(); }

}  // namespace stoka::ingest
