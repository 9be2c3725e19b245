#include "net/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf16.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::net {
namespace {

using nlohmann::json;

constexpr size_t kMaxMessageCharacters = 200;

// Appends the escape sequence at `at` and returns its length; an unpaired surrogate is replaced.
size_t append_escape(std::string& out, std::string_view text, size_t at) {
  const std::optional<char32_t> unit = parse_unicode_escape(text.substr(at));
  size_t length = 2;
  if (unit) {
    length = kUnicodeEscapeLength;
    const std::optional<char32_t> next = parse_unicode_escape(text.substr(at + length));
    if (is_high_surrogate(*unit) && next && is_low_surrogate(*next)) {
      length = 2 * kUnicodeEscapeLength;
    } else if (is_high_surrogate(*unit) || is_low_surrogate(*unit)) {
      out += "\\ufffd";
      return length;
    }
  } else if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80) {
    length = 1;  // replaces one byte only, because the next one may be invalid UTF-8
  }
  out += text.substr(at, length);
  return length;
}

// The length of a number literal that JSON does not allow; zero if there is none.
size_t invalid_number_length(std::string_view text) {
  if (text.front() != '-' && text.front() != 'I' && text.front() != 'N') return 0;
  for (const std::string_view word : {"-Infinity", "Infinity", "-NaN", "NaN"})
    if (text.starts_with(word)) return word.size();
  return 0;
}

// Prefixes the location of a validation error: {"loc": ["body", "input"], "msg": "field required"}.
std::string with_location(const json& object, const std::string& message) {
  std::string location;
  const auto loc = object.find("loc");
  if (loc != object.end() && loc->is_array())
    for (const json& step : *loc)
      location += (location.empty() ? "" : ".") +
                  (step.is_string() ? step.get<std::string>() : step.dump());
  return location.empty() ? message : location + ": " + message;
}

// Servers put the error message under different keys.
std::string find_message(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return value.empty() ? "" : find_message(value.front());
  if (!value.is_object()) return "";
  for (const char* name : {"error", "message", "detail", "msg", "title"}) {
    const auto found = value.find(name);
    if (found == value.end()) continue;
    const std::string message = find_message(*found);
    if (!message.empty()) return with_location(value, message);
  }
  return "";
}

bool is_markup(std::string_view text) { return text.starts_with('<'); }

std::string clean(std::string_view raw, const Secret& key) {
  // The limit is enough for the longest message, and keeps the masking fast.
  const std::string line = text::one_line(key.redact(raw).substr(0, kMaxMessageCharacters * 16));
  // Characters that are removed here may have been between the characters of the key.
  std::string out = key.redact(text::collapse_whitespace(text::replace_controls(line)));
  out.resize(out.find_last_not_of(". ") + 1);  // no full stop: callers append more text
  if (is_markup(out)) return "";
  if (text::count_code_points(out) <= kMaxMessageCharacters) return out;
  size_t at = 0;
  for (size_t i = 0; i + 1 < kMaxMessageCharacters; ++i) text::next_code_point(out, at);
  return out.substr(0, at) + "\u2026";
}

}  // namespace

Result<std::string> repair_json(std::string_view text, size_t most_depth) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      text::append_utf8(out, text::next_code_point(text, at));
      continue;
    }
    if (in_string && c == '\\') {
      at += append_escape(out, text, at);
      continue;
    }
    if (const size_t length = in_string ? 0 : invalid_number_length(text.substr(at)); length > 0) {
      out += "null";
      at += length;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == '[' || c == '{') && ++depth > most_depth)
      return fail(ErrorKind::protocol,
                  fmt::format("the JSON is nested deeper than {} levels", most_depth));
    if (!in_string && (c == ']' || c == '}') && depth > 0) --depth;
    out += c;
    ++at;
  }
  return out;
}

std::string error_message(std::string_view body, const Secret& key) {
  const size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  body.remove_prefix(begin);
  if (body.front() == '{' || body.front() == '[' || body.front() == '"') {
    const Result<std::string> mended = repair_json(body);
    const json parsed =
        mended ? json::parse(*mended, nullptr, false) : json(json::value_t::discarded);
    if (!parsed.is_discarded()) return clean(find_message(parsed), key);
  }
  return clean(body, key);
}

}  // namespace stoka::net
