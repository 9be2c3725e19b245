#include "serve/problem_details.h"

#include <nlohmann/json.hpp>

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Phrase {
  int status;
  std::string_view text;
};

constexpr Phrase kPhrases[] = {
    {200, "OK"},
    {204, "No Content"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

std::string problem_details_json(int status, const Error& error, std::string_view field,
                                 std::string_view request_id) {
  OrderedJson body = {{"type", "about:blank"},
                      {"title", reason_phrase(status)},
                      {"status", status},
                      {"code", name(error.kind)},
                      {"detail", error.message}};
  if (!error.hint.empty()) body["hint"] = error.hint;
  if (!field.empty()) body["field"] = field;
  body["request_id"] = request_id;
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string_view reason_phrase(int status) {
  for (const Phrase& phrase : kPhrases)
    if (phrase.status == status) return phrase.text;
  return "Unknown";
}

std::optional<std::chrono::seconds> retry_after(const Error& error) {
  if (http_status(error.kind) != 503) return std::nullopt;
  if (error.retry_after > 0) return std::chrono::seconds(error.retry_after);
  return std::chrono::seconds(error.kind == ErrorKind::busy ? 2 : 5);
}

}  // namespace stoka::serve
