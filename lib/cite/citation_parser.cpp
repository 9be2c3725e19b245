#include "cite/citation_parser.h"

#include <cstring>

#include "base/ascii.h"
#include "text/entities.h"

namespace stoka::cite {

namespace {

constexpr std::string_view kOpen = "<cite";
constexpr std::string_view kClose = "</cite";
constexpr std::string_view kLeftCurly = "\u201C";
constexpr std::string_view kRightCurly = "\u201D";

// Models close typographic quotes with either of the two characters.
bool ends_with_curly_quote(const std::string& value) {
  return value.ends_with(kLeftCurly) || value.ends_with(kRightCurly);
}

// The value of an attribute: valid UTF-8, references decoded, white space collapsed, and without
// control characters below U+0020. Decoding comes before collapsing, because a reference can stand
// for a control character.
std::string decode_value(std::string_view raw) {
  std::string valid;
  const auto append = [&](std::string_view part) { valid += part; };
  text::Utf8Sanitizer sanitizer;
  sanitizer.push(raw, append);
  sanitizer.finish(append);
  std::string out;
  bool space = false;
  for (const char c : text::decode_entities(valid)) {
    if (static_cast<unsigned char>(c) <= ' ') {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += c;
  }
  return out;
}

}  // namespace

void CitationParser::push(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::text:
        bytes = push_text(bytes);
        break;
      case State::tag_start:
        if (push_tag_start(bytes.front())) bytes.remove_prefix(1);
        break;
      case State::closing_tag:
        if (is_ascii_space(bytes.front())) {
          bytes.remove_prefix(1);
        } else {
          state_ = State::text;
          if (bytes.front() == '>') bytes.remove_prefix(1);
        }
        break;
      case State::oversized:
        push_oversized(bytes.front());
        bytes.remove_prefix(1);
        break;
      default:
        push_tag(bytes.front());
        bytes.remove_prefix(1);
    }
  }
}

void CitationParser::finish() {
  const auto text = [this](std::string_view part) { sink_.text(part); };
  switch (state_) {
    case State::text:
      sanitizer_.finish(text);
      break;
    case State::tag_start:
      // A stream that ends in "<c" more likely ends in a tag than in text. These bytes are not
      // shown, and only the beginning of an opening tag counts as malformed.
      if (start_.size() > 1 && start_[1] != '/') ++malformed_;
      break;
    case State::closing_tag:
    case State::oversized:  // an oversized tag was counted when it exceeded the limit
      break;
    default:
      drop_tag();
  }
  state_ = State::text;
  start_.clear();
}

std::string_view CitationParser::push_text(std::string_view bytes) {
  const auto* less = static_cast<const char*>(std::memchr(bytes.data(), '<', bytes.size()));
  const size_t length = less == nullptr ? bytes.size() : static_cast<size_t>(less - bytes.data());
  emit_text(bytes.substr(0, length));
  if (less == nullptr) return {};
  // A '<' cannot continue a UTF-8 sequence, so an incomplete one before it is invalid.
  sanitizer_.finish([this](std::string_view part) { sink_.text(part); });
  start_ = '<';
  state_ = State::tag_start;
  return bytes.substr(length + 1);
}

void CitationParser::emit_text(std::string_view bytes) {
  sanitizer_.push(bytes, [this](std::string_view part) { sink_.text(part); });
}

bool CitationParser::push_tag_start(char c) {
  const std::string_view full = start_.size() > 1 && start_[1] == '/' ? kClose : kOpen;
  if (start_.size() < full.size()) {
    const bool slash = start_.size() == 1 && c == '/';
    if (slash || to_lower(c) == full[start_.size()]) {
      start_ += c;
      return true;
    }
  } else if (full == kClose && (c == '>' || is_ascii_space(c))) {
    state_ = c == '>' ? State::text : State::closing_tag;
    return true;
  } else if (full == kOpen && (c == '>' || c == '/' || is_ascii_space(c))) {
    begin_tag(c);
    return true;
  }
  // The bytes begin another tag or contain a "less than" sign. The byte `c` may be the next '<'.
  state_ = State::text;
  emit_text(start_);
  return false;
}

void CitationParser::begin_tag(char c) {
  state_ = State::attributes;
  tag_bytes_ = kOpen.size();
  nested_start_ = 0;
  last_ = 0;
  name_.clear();
  value_.clear();
  slug_.clear();
  quote_.clear();
  has_quote_ = false;
  push_tag(c);
}

bool CitationParser::is_in_quotes() const {
  return state_ == State::double_quoted || state_ == State::single_quoted ||
         state_ == State::curly_quoted;
}

// Handles what can happen in every state of a tag: the next tag begins, the tag ends, or it becomes
// too long.
void CitationParser::push_tag(char c) {
  // A "<cite " inside a tag, even in quotes, means that a quote of this tag was never closed. The
  // parser drops this tag and starts over, so that the next tag is kept.
  if (nested_start_ == kOpen.size() && is_ascii_space(c)) {
    drop_tag();
    begin_tag(c);
    return;
  }
  if (c == '<') {
    nested_start_ = 1;
  } else {
    const bool continues =
        nested_start_ > 0 && nested_start_ < kOpen.size() && to_lower(c) == kOpen[nested_start_];
    nested_start_ = continues ? nested_start_ + 1 : 0;
  }
  if (c == '>' && !is_in_quotes()) {
    if (state_ == State::unquoted && value_.ends_with('/')) value_.pop_back();  // "slug=a/>"
    end_value();
    end_tag();
    return;
  }
  if (++tag_bytes_ > kMaxTagBytes) {
    oversized_quote_ = !is_in_quotes() ? '\0' : state_ == State::single_quoted ? '\'' : '"';
    drop_tag();
    state_ = State::oversized;
    tag_bytes_ = 0;
    push_oversized(c);
    return;
  }
  push_attribute(c);
  last_ = c;
}

void CitationParser::push_attribute(char c) {
  switch (state_) {
    case State::attributes:
      if (!is_ascii_space(c) && c != '/') {
        name_ = to_lower(c);
        state_ = State::attribute_name;
      }
      break;
    case State::attribute_name:
    case State::after_name:
      if (c == '=') {
        state_ = State::before_value;
      } else if (is_ascii_space(c)) {
        state_ = State::after_name;
      } else if (c == '/') {
        state_ = State::attributes;
      } else {
        if (state_ == State::after_name) name_.clear();  // the previous name had no value
        name_ += to_lower(c);
        state_ = State::attribute_name;
      }
      break;
    case State::before_value:
      if (is_ascii_space(c)) break;
      if (c == '"') {
        state_ = State::double_quoted;
      } else if (c == '\'') {
        state_ = State::single_quoted;
      } else {
        value_ = c;
        state_ = State::unquoted;
      }
      break;
    case State::double_quoted:
    case State::single_quoted:
      if (c != (state_ == State::double_quoted ? '"' : '\'')) {
        value_ += c;
      } else if (last_ == '\\') {
        value_.back() = c;  // the escaped quote character replaces the backslash
      } else {
        end_value();
      }
      break;
    case State::curly_quoted:  // a straight quote may close a typographic one
      value_ += c;
      if (c == '"') value_.pop_back();
      if (c == '"' || ends_with_curly_quote(value_)) end_value();
      break;
    case State::unquoted:
      if (is_ascii_space(c)) {
        end_value();
        break;
      }
      value_ += c;
      // A typographic quote is three bytes, so it is recognised only after the value has begun.
      if (value_ == kLeftCurly || value_ == kRightCurly) {
        value_.clear();
        state_ = State::curly_quoted;
      }
      break;
    default:
      break;
  }
}

void CitationParser::end_value() {
  if (state_ == State::curly_quoted && ends_with_curly_quote(value_)) {
    value_.resize(value_.size() - kRightCurly.size());
  }
  if (name_ == "slug" && slug_.empty()) slug_ = decode_value(value_);
  if (name_ == "quote" && !has_quote_) {
    quote_ = decode_value(value_);
    has_quote_ = true;
  }
  name_.clear();
  value_.clear();
  state_ = State::attributes;
}

void CitationParser::end_tag() {
  state_ = State::text;
  if (slug_.empty()) {
    ++malformed_;
  } else {
    sink_.tag(slug_, quote_);
  }
}

void CitationParser::drop_tag() {
  ++malformed_;
  state_ = State::text;
}

// Inside of quotes only "/>" ends the tag: the quote may never be closed, and a '>' alone may be
// part of it.
void CitationParser::push_oversized(char c) {
  const bool end = c == '>' && (oversized_quote_ == '\0' || last_ == '/');
  if (c == oversized_quote_ && last_ != '\\') oversized_quote_ = '\0';
  last_ = c;
  if (end || ++tag_bytes_ > kMaxTagBytes) state_ = State::text;
}

}  // namespace stoka::cite
