#include "net/sse.h"

#include <fmt/format.h>

#include "text/utf8.h"

namespace stoka::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string valid_utf8(std::string_view bytes) {
  if (text::is_valid_utf8(bytes)) return std::string(bytes);
  std::string out;
  for (size_t at = 0; at < bytes.size();) text::append_utf8(out, text::next_code_point(bytes, at));
  return out;
}

struct Field {
  std::string_view name;
  std::string_view value;
};

// A line without a colon is a field name. One that starts with a colon is a comment: its name is
// empty.
Field field(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {line, {}};
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  return {line.substr(0, colon), value};
}

Error limit_error(std::string_view what, size_t most) {
  return {ErrorKind::protocol,
          fmt::format("the event stream has {} of more than {} bytes", what, most)};
}

}  // namespace

Result<> SseDecoder::push(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty() && !ended_) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > limits_.line) return fail(limit_error("a line", limits_.line));
    if (end == std::string_view::npos) {
      line_ += part;
      return {};
    }
    if (line_.empty()) {
      STOKA_TRY(line(part, sink));
    } else {
      line_ += part;
      STOKA_TRY(line(line_, sink));
      line_.clear();
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
  }
  return {};
}

Result<> SseDecoder::line(std::string_view line, const Sink& sink) {
  if (at_start_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_start_ = false;
  if (line.empty()) {
    if (!data_.empty()) {
      data_.pop_back();
      ended_ = !sink({type_.empty() ? "message" : std::string_view(type_), data_, id_});
    }
    data_.clear();
    type_.clear();
    return {};
  }
  const auto [name, value] = field(line);
  if (name == "data") {
    data_ += valid_utf8(value);
    data_ += '\n';
    if (data_.size() > limits_.event + 1) return fail(limit_error("an event", limits_.event));
  } else if (name == "event") {
    type_ = valid_utf8(value);
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = valid_utf8(value);
  }
  return {};
}

std::string SseDecoder::pending() const {
  if (ended_) return {};
  std::string out = data_;
  std::string_view rest = line_;
  if (at_start_ && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  const auto [name, value] = field(rest);
  if (name == "data") return out + valid_utf8(value);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace stoka::net
