#include "model/event.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace stoka {
namespace {

using Json = nlohmann::ordered_json;

Json data(const ReadyEvent& e) {
  return {
      {"session_id", e.session_id}, {"visitor_id", e.visitor_id}, {"route", to_string(e.route)}};
}
Json data(const TokenEvent& e) { return {{"text", e.text}}; }
Json data(const CiteEvent& e) {
  const Citation& c = e.citation;
  return {{"slug", c.slug},
          {"title", c.title},
          {"quote", c.quote},
          {"type", c.type},
          {"reading_time", c.reading_time},
          {"date", c.date},
          {"score", std::round(c.score * 1e4) / 1e4},
          {"kind", to_string(c.kind)},
          {"url", c.url.empty() ? Json(nullptr) : Json(c.url)},
          {"published", c.published ? Json(iso_date(*c.published)) : Json(nullptr)}};
}
Json data(const DoneEvent& e) {
  return {
      {"turns", e.turns}, {"confidence", to_string(e.confidence)}, {"latency_ms", e.latency_ms}};
}
Json data(const ErrorEvent& e) { return {{"message", e.message}, {"retryable", e.retryable}}; }

// Whether the text needs no escapes in JSON: a fast path, because most events are short tokens.
bool needs_no_escape(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~' || c == '"' || c == '\\') return false;
  return true;
}

}  // namespace

std::string_view to_string(Confidence confidence) {
  constexpr std::string_view kNames[] = {"direct", "adjacent", "nothing"};
  return kNames[static_cast<int>(confidence)];
}

std::string_view to_string(Route route) {
  constexpr std::string_view kNames[] = {"meta", "offtopic", "followup", "new", "void"};
  return kNames[static_cast<int>(route)];
}

std::string_view to_string(CiteKind kind) {
  constexpr std::string_view kNames[] = {"block", "product", "inline"};
  return kNames[static_cast<int>(kind)];
}

std::string_view to_string(const Event& event) {
  constexpr std::string_view kNames[] = {"ready", "token", "cite", "done", "error"};
  return kNames[event.index()];
}

std::string data_json(const Event& event) {
  if (const auto* token = std::get_if<TokenEvent>(&event); token && needs_no_escape(token->text))
    return R"({"text":")" + token->text + R"("})";
  return to_json_text(std::visit([](const auto& e) { return data(e); }, event));
}

}  // namespace stoka
