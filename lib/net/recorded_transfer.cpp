#include "net/recorded_transfer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/base64.h"
#include "net/json_text.h"
#include "text/utf8.h"

namespace stoka::net {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<ErrorKind> parse_error_kind(std::string_view wanted) {
  for (const ErrorKind kind :
       {ErrorKind::usage, ErrorKind::config, ErrorKind::data, ErrorKind::not_found, ErrorKind::busy,
        ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::protocol, ErrorKind::cancelled,
        ErrorKind::internal})
    if (name(kind) == wanted) return kind;
  return std::nullopt;
}

constexpr std::pair<Cause, std::string_view> kCauses[] = {
    {Cause::no_host, "no_host"},         {Cause::connect, "connect"}, {Cause::headers, "headers"},
    {Cause::first_token, "first_token"}, {Cause::idle, "idle"},       {Cause::total, "total"}};

// Reads typed members and remembers the name of the first one that is missing or invalid.
class MemberReader {
 public:
  explicit MemberReader(const json& object) : object_(object) {}

  std::string text(const char* name) {
    const json* value = find(name, &json::is_string);
    return value == nullptr ? "" : value->get<std::string>();
  }
  bool flag(const char* name) {
    const json* value = find(name, &json::is_boolean);
    return value != nullptr && value->get<bool>();
  }
  int number(const char* name, int min, int max) {
    const json* value = find(name, &json::is_number_unsigned);
    if (value == nullptr) return min;
    const auto number = value->get<uint64_t>();
    if (number >= static_cast<uint64_t>(min) && number <= static_cast<uint64_t>(max))
      return static_cast<int>(number);
    if (first_error_.empty()) first_error_ = name;
    return min;
  }
  const json* find(const char* name, bool (json::*has_type)() const noexcept) {
    const auto found = object_.find(name);
    if (found != object_.end() && (*found.*has_type)()) return &*found;
    if (first_error_.empty()) first_error_ = name;
    return nullptr;
  }
  const std::string& first_error() const { return first_error_; }

 private:
  const json& object_;
  std::string first_error_;
};

Result<> invalid_member(const std::string& member) {
  return fail(ErrorKind::data, "\"" + member + "\" is missing or invalid");
}

Result<> read_answer(const json& line, RecordedTransfer& out) {
  MemberReader reader(line);
  out.head = Head{};
  out.head->status = reader.number("status", 100, 599);
  out.head->content_type = reader.text("content_type");
  if (line.contains("retry_after"))
    out.head->retry_after = std::chrono::seconds(reader.number("retry_after", 0, 24 * 60 * 60));
  if (line.contains("body_base64")) {
    const std::optional<std::string> bytes = from_base64(reader.text("body_base64"));
    if (!bytes) return invalid_member("body_base64");
    out.body = *bytes;
  } else {
    out.body = reader.text("body");
  }
  const json* pieces = reader.find("pieces", &json::is_array);
  if (pieces == nullptr) return invalid_member(reader.first_error());
  size_t rest = out.body.size();
  for (const json& piece : *pieces) {
    if (!piece.is_number_unsigned() || piece.get<uint64_t>() > rest)
      return invalid_member("pieces");
    out.pieces.push_back(piece.get<size_t>());
    rest -= out.pieces.back();
  }
  if (rest != 0) return invalid_member("pieces");
  return reader.first_error().empty() ? Result<>() : invalid_member(reader.first_error());
}

Result<> read_failure(const json& object, RecordedTransfer& out) {
  if (!object.is_object()) return invalid_member("failure");
  MemberReader reader(object);
  const std::optional<ErrorKind> kind = parse_error_kind(reader.text("kind"));
  if (!kind) return invalid_member("kind");
  out.failure = Failure{{*kind, reader.text("message"), reader.text("hint")},
                        reader.flag("connected"),
                        reader.flag("answered")};
  if (object.contains("cause")) {
    const std::string cause = reader.text("cause");
    const auto known = std::find_if(std::begin(kCauses), std::end(kCauses),
                                    [&](const auto& entry) { return entry.second == cause; });
    if (known == std::end(kCauses)) return invalid_member("cause");
    out.failure->cause = known->first;
  }
  return reader.first_error().empty() ? Result<>() : invalid_member(reader.first_error());
}

}  // namespace

std::string RecordedTransfer::to_line() const {
  nlohmann::ordered_json out = {{"role", role}, {"name", name}, {"subject", subject}};
  out["request"] = json::parse(request, nullptr, false);
  if (head) {
    out["status"] = head->status;
    out["content_type"] = head->content_type;
    if (head->retry_after) out["retry_after"] = head->retry_after->count();
    const bool is_text = text::is_valid_utf8(body);
    out[is_text ? "body" : "body_base64"] = is_text ? body : to_base64(body);
    out["pieces"] = pieces;
  }
  if (failure)
    out["failure"] = {{"kind", stoka::name(failure->error.kind)},
                      {"message", failure->error.message},
                      {"hint", failure->error.hint},
                      {"connected", failure->connected},
                      {"answered", failure->answered}};
  for (const auto& [cause, named] : kCauses)
    if (failure && failure->cause == cause) out["failure"]["cause"] = named;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<RecordedTransfer> RecordedTransfer::from_line(std::string_view text) {
  STOKA_ASSIGN(const std::string mended, mend_json(text));
  const json line = json::parse(mended, nullptr, false);
  if (!line.is_object()) return fail(ErrorKind::data, "it is not a JSON object");
  RecordedTransfer out;
  MemberReader reader(line);
  out.role = reader.text("role");
  out.name = reader.text("name");
  out.subject = reader.text("subject");
  if (!reader.first_error().empty()) return fail(invalid_member(reader.first_error()).error());
  if (!line.contains("request")) return fail(invalid_member("request").error());
  out.request = dump(line["request"]);
  if (line.contains("status")) STOKA_TRY(read_answer(line, out));
  if (line.contains("failure")) STOKA_TRY(read_failure(line["failure"], out));
  if (!out.head && !out.failure) return fail(invalid_member("status").error());
  return out;
}

std::string canonical(std::string_view request_body) {
  if (request_body.empty()) return "null";
  const json parsed = json::parse(request_body, nullptr, false);
  return dump(parsed.is_discarded() ? json(request_body) : parsed);
}

}  // namespace stoka::net
