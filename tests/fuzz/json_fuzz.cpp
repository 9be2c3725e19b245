// JSON from outside: the bodies of requests, and what model servers send.
#include <string>

#include "fuzz/targets.h"
#include "net/json_text.h"
#include "serve/http.h"
#include "serve/request_body.h"
#include "support/json.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using Json = nlohmann::json;

void check_repair(std::string_view input) {
  const Result<std::string> repaired = net::repair_json(input);
  if (!repaired) {
    check(repaired.error().kind == ErrorKind::protocol, "nesting is a protocol error");
    return;
  }
  check(text::is_valid_utf8(*repaired), "repaired JSON is valid UTF-8");
  check(net::repair_json(*repaired) == *repaired, "what is repaired needs no repair");
  // nlohmann takes a NUL for the end and ignores what follows.
  if (input.find('\0') == std::string_view::npos && Json::accept(input))
    check(*repaired == input, "valid JSON is not changed");
}

void check_error_message(std::string_view input) {
  const std::string message = net::error_message(input, Secret("sk-0123456789"));
  check(text::is_valid_utf8(message), "the message of an error is valid UTF-8");
  check(text::count_code_points(message) <= 200, "the message of an error is short");
  check(message.find("sk-0123456789") == std::string::npos, "a key is redacted");
  check(message == text::one_line(message), "the message of an error is one line");
}

template <class T>
void check_refusal(const serve::ParsedBody<T>& parsed) {
  if (parsed) return;
  const auto& [error, field] = parsed.error();
  check(error.kind == ErrorKind::usage, "a wrong body is a usage error");
  check(!error.message.empty(), "a refusal says why");
  for (const std::string& text : {error.message, error.hint, field}) {
    check(text::is_valid_utf8(text), "a refusal is valid UTF-8");
    check(text == text::one_line(text), "a refusal is one line");
    check(text.size() <= 500, "a refusal is short");
  }
  check(Json::accept(serve::problem_details_json(400, error, field, "id")),
        "problem details are JSON");
}

void check_page(const PageContext& page) {
  check(page.page.size() <= 2048 && page.page_title.size() <= 512, "the page's fields are cut");
  check(page.seen_slugs.size() <= 200, "the list of slugs is cut");
  check(!page.scroll_pct || (*page.scroll_pct >= 0 && *page.scroll_pct <= 100),
        "scroll_pct is a percentage");
  for (const std::string& slug : page.seen_slugs)
    check(!slug.empty() && slug.size() <= 256, "a slug has 1 to 256 bytes");
}

void check_plain(const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    check(text::is_valid_utf8(text) && text.find('\0') == std::string::npos,
          "fields are UTF-8 without NUL");
}

Json as_json(const serve::ProfileUpdate& profile) {
  Json out = {{"visitor_id", profile.visitor_id}, {"read", profile.read}};
  if (profile.interests) out["interests"] = *profile.interests;
  return out;
}
Json as_json(const pipeline::DiscoverRequest& request) {
  return {{"visitor_id", request.visitor_id},
          {"page", request.page.page},
          {"seen_slugs", request.page.seen_slugs},
          {"limit", request.limit}};
}
Json as_json(const pipeline::TurnRequest& request) {
  Json out = {{"query", request.query},
              {"session_id", request.session_id},
              {"visitor_id", request.visitor_id},
              {"page", request.page.page},
              {"page_title", request.page.page_title},
              {"seen_slugs", request.page.seen_slugs}};
  if (request.page.scroll_pct) out["scroll_pct"] = *request.page.scroll_pct;
  return out;
}

// Parses the body, and parses what it means once more.
template <class Parse>
auto check_body(std::string_view input, const Parse& parse) {
  const auto parsed = parse(input);
  check_refusal(parsed);
  if (!parsed) return parsed;
  const Json written = as_json(*parsed);
  const auto again = parse(written.dump());
  check(again && as_json(*again) == written, "a body that is written again means the same");
  return parsed;
}

}  // namespace

void fuzz_json(std::string_view input) {
  check_repair(input);
  check_error_message(input);
  if (const auto chat = check_body(input, serve::parse_chat_request)) {
    check_page(chat->page);
    check_plain(
        {chat->query, chat->session_id, chat->visitor_id, chat->page.page, chat->page.page_title});
    check_plain(chat->page.seen_slugs);
    check(chat->remote, "a request over HTTP is remote");
  }
  if (const auto discover = check_body(input, serve::parse_discover_request)) {
    check_page(discover->page);
    check_plain(discover->page.seen_slugs);
    check(discover->limit >= 1 && discover->limit <= 10, "the limit is from 1 to 10");
  }
  if (const auto profile = check_body(input, serve::parse_profile_update)) {
    check(!profile->visitor_id.empty(), "a profile has a visitor");
    check_plain(profile->read);
    check_plain(profile->interests.value_or(std::vector<std::string>()));
    check(profile->interests || !profile->read.empty(), "there is something to set");
  }
}

}  // namespace stoka::fuzz
