#include "net/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf16.h"
#include "text/controls.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::net {
namespace {

using nlohmann::json;

constexpr size_t kMostMessage = 200;  // characters

// Appends the escape at `at` of a string, whole, and returns its length.
size_t append_escape(std::string& out, std::string_view text, size_t at) {
  const std::optional<char32_t> unit = escaped_unit(text.substr(at));
  size_t length = 2;
  if (unit) {
    length = kUnitEscapeBytes;
    const std::optional<char32_t> next = escaped_unit(text.substr(at + length));
    if (is_high_surrogate(*unit) && next && is_low_surrogate(*next)) {
      length = 2 * kUnitEscapeBytes;
    } else if (is_high_surrogate(*unit) || is_low_surrogate(*unit)) {
      out += "\\ufffd";
      return length;
    }
  } else if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80) {
    length = 1;  // what follows may be no UTF-8
  }
  out += text.substr(at, length);
  return length;
}

// Words for numbers that JSON does not have.
size_t not_a_number(std::string_view text) {
  if (text.front() != '-' && text.front() != 'I' && text.front() != 'N') return 0;
  for (const std::string_view word : {"-Infinity", "Infinity", "-NaN", "NaN"})
    if (text.starts_with(word)) return word.size();
  return 0;
}

// Of a problem with a place: {"loc": ["body", "input"], "msg": "field required"}.
std::string with_place(const json& object, const std::string& message) {
  std::string place;
  const auto loc = object.find("loc");
  if (loc != object.end() && loc->is_array())
    for (const json& step : *loc)
      place +=
          (place.empty() ? "" : ".") + (step.is_string() ? step.get<std::string>() : step.dump());
  return place.empty() ? message : place + ": " + message;
}

// Error bodies differ in where they put it; nested ones are looked into.
std::string message_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return value.empty() ? "" : message_of(value.front());
  if (!value.is_object()) return "";
  for (const char* name : {"error", "message", "detail", "msg", "title"}) {
    const auto found = value.find(name);
    if (found == value.end()) continue;
    const std::string message = message_of(*found);
    if (!message.empty()) return with_place(value, message);
  }
  return "";
}

bool is_markup(std::string_view text) { return text.starts_with('<'); }

std::string clean(std::string_view raw) {
  // More than can be shown, less than takes time.
  const std::string line = text::one_line(raw.substr(0, kMostMessage * 16));
  std::string out = text::squeeze(text::without_controls(line));
  out.resize(out.find_last_not_of(". ") + 1);  // more is said after it
  if (is_markup(out)) return "";
  if (text::length(out) <= kMostMessage) return out;
  size_t at = 0;
  for (size_t i = 0; i + 1 < kMostMessage; ++i) text::next_code_point(out, at);
  return out.substr(0, at) + "\u2026";
}

}  // namespace

Result<std::string> mend_json(std::string_view text, size_t most_depth) {
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
    if (const size_t length = in_string ? 0 : not_a_number(text.substr(at)); length > 0) {
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
    const Result<std::string> mended = mend_json(body);
    const json parsed =
        mended ? json::parse(*mended, nullptr, false) : json(json::value_t::discarded);
    if (!parsed.is_discarded()) return clean(key.redact(message_of(parsed)));
  }
  return clean(key.redact(body));
}

}  // namespace stoka::net
