#include "cite/parser.h"

#include <cstring>

#include "base/ascii.h"
#include "cite/entities.h"

namespace stoka::cite {

namespace {

constexpr std::string_view kOpen = "<cite";
constexpr std::string_view kClose = "</cite";
constexpr std::string_view kLeftCurly = "\u201C";
constexpr std::string_view kRightCurly = "\u201D";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool ends_curly(const std::string& value) {
  return value.ends_with(kLeftCurly) || value.ends_with(kRightCurly);
}

// A raw attribute value as it is meant.
std::string clean(std::string_view raw) {
  std::string valid;
  const auto append = [&](std::string_view part) { valid += part; };
  Utf8Gate gate;
  gate.push(raw, append);
  gate.finish(append);
  std::string out;
  bool space = false;
  for (const char c : decode_entities(valid)) {
    if (static_cast<unsigned char>(c) <= ' ') {  // an entity can make any control character
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

void Parser::push(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::text:
        bytes = push_text(bytes);
        break;
      case State::prefix:
        if (push_prefix(bytes.front())) bytes.remove_prefix(1);
        break;
      case State::closing:
        if (is_white_space(bytes.front())) {
          bytes.remove_prefix(1);
        } else {
          state_ = State::text;
          if (bytes.front() == '>') bytes.remove_prefix(1);
        }
        break;
      case State::skip:
        push_skip(bytes.front());
        bytes.remove_prefix(1);
        break;
      default:
        push_tag(bytes.front());
        bytes.remove_prefix(1);
    }
  }
}

void Parser::finish() {
  const auto text = [this](std::string_view part) { sink_.text(part); };
  switch (state_) {
    case State::text:
      gate_.finish(text);
      break;
    case State::prefix:  // a cut tag rather than a text that ends in "<"
      if (prefix_.size() > 1 && prefix_[1] != '/') ++malformed_;
      break;
    case State::closing:
    case State::skip:
      break;
    default:
      drop();
  }
  state_ = State::text;
  prefix_.clear();
}

std::string_view Parser::push_text(std::string_view bytes) {
  const auto* less = static_cast<const char*>(std::memchr(bytes.data(), '<', bytes.size()));
  const size_t length = less == nullptr ? bytes.size() : static_cast<size_t>(less - bytes.data());
  emit(bytes.substr(0, length));
  if (less == nullptr) return {};
  gate_.finish([this](std::string_view part) { sink_.text(part); });
  prefix_ = '<';
  state_ = State::prefix;
  return bytes.substr(length + 1);
}

void Parser::emit(std::string_view bytes) {
  gate_.push(bytes, [this](std::string_view part) { sink_.text(part); });
}

bool Parser::push_prefix(char c) {
  const std::string_view full = prefix_.size() > 1 && prefix_[1] == '/' ? kClose : kOpen;
  if (prefix_.size() < full.size()) {
    const bool slash = prefix_.size() == 1 && c == '/';
    if (slash || lower(c) == full[prefix_.size()]) {
      prefix_ += c;
      return true;
    }
  } else if (full == kClose && (c == '>' || is_white_space(c))) {
    state_ = c == '>' ? State::text : State::closing;
    return true;
  } else if (full == kOpen && (c == '>' || c == '/' || is_white_space(c))) {
    open(c);
    return true;
  }
  state_ = State::text;
  emit(prefix_);
  return false;
}

void Parser::open(char c) {
  state_ = State::between;
  tag_bytes_ = kOpen.size();
  nested_ = 0;
  last_ = 0;
  name_.clear();
  value_.clear();
  slug_.clear();
  quote_.clear();
  has_quote_ = false;
  push_tag(c);
}

bool Parser::in_quotes() const {
  return state_ == State::double_quoted || state_ == State::single_quoted ||
         state_ == State::curly_quoted;
}

void Parser::push_tag(char c) {
  if (nested_ == kOpen.size() && is_white_space(c)) {
    drop();
    open(c);
    return;
  }
  if (c == '<') {
    nested_ = 1;
  } else {
    nested_ = nested_ > 0 && nested_ < kOpen.size() && lower(c) == kOpen[nested_] ? nested_ + 1 : 0;
  }
  if (c == '>' && !in_quotes()) {
    if (state_ == State::bare && value_.ends_with('/')) value_.pop_back();
    end_value();
    close();
    return;
  }
  if (++tag_bytes_ > kMaxTagBytes) {
    skip_quote_ = !in_quotes() ? '\0' : state_ == State::single_quoted ? '\'' : '"';
    drop();
    state_ = State::skip;
    tag_bytes_ = 0;
    push_skip(c);
    return;
  }
  switch (state_) {
    case State::between:
      if (!is_white_space(c) && c != '/') {
        name_ = lower(c);
        state_ = State::name;
      }
      break;
    case State::name:
    case State::after_name:
      if (c == '=') {
        state_ = State::before_value;
      } else if (is_white_space(c)) {
        state_ = State::after_name;
      } else if (c == '/') {
        state_ = State::between;
      } else {
        if (state_ == State::after_name) name_.clear();
        name_ += lower(c);
        state_ = State::name;
      }
      break;
    case State::before_value:
      if (is_white_space(c)) break;
      if (c == '"') {
        state_ = State::double_quoted;
      } else if (c == '\'') {
        state_ = State::single_quoted;
      } else {
        value_ = c;
        state_ = State::bare;
      }
      break;
    case State::double_quoted:
    case State::single_quoted:
      if (c != (state_ == State::double_quoted ? '"' : '\'')) {
        value_ += c;
      } else if (last_ == '\\') {
        value_.back() = c;
      } else {
        end_value();
      }
      break;
    case State::curly_quoted:
      value_ += c;
      if (c == '"') value_.pop_back();
      if (c == '"' || ends_curly(value_)) end_value();
      break;
    case State::bare:
      if (is_white_space(c)) {
        end_value();
        break;
      }
      value_ += c;
      if (value_ == kLeftCurly || value_ == kRightCurly) {
        value_.clear();
        state_ = State::curly_quoted;
      }
      break;
    default:
      break;
  }
  last_ = c;
}

void Parser::end_value() {
  if (state_ == State::curly_quoted && ends_curly(value_)) {
    value_.resize(value_.size() - kRightCurly.size());
  }
  if (name_ == "slug" && slug_.empty()) slug_ = clean(value_);
  if (name_ == "quote" && !has_quote_) {
    quote_ = clean(value_);
    has_quote_ = true;
  }
  name_.clear();
  value_.clear();
  state_ = State::between;
}

void Parser::close() {
  state_ = State::text;
  if (slug_.empty()) {
    ++malformed_;
  } else {
    sink_.tag(slug_, quote_);
  }
}

void Parser::drop() {
  ++malformed_;
  state_ = State::text;
}

void Parser::push_skip(char c) {
  const bool end = c == '>' && (skip_quote_ == '\0' || last_ == '/');
  if (c == skip_quote_ && last_ != '\\') skip_quote_ = '\0';
  last_ = c;
  if (end || ++tag_bytes_ > kMaxTagBytes) state_ = State::text;
}

}  // namespace stoka::cite
