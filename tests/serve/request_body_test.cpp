#include "serve/request_body.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/json.h"

namespace request_body_test {

using namespace std::string_literals;
using namespace stoka;
using serve::parse_chat_request;
using serve::parse_discover_request;
using serve::parse_profile_update;
using Json = nlohmann::json;

namespace {

constexpr const char* kId = "ABCDEF22-2222-4222-8222-222222222222";

const Json kChat = {{"query", "q"},      {"session_id", kId}, {"visitor_id", kId},  {"page", "/p"},
                    {"page_title", "t"}, {"scroll_pct", 40},  {"seen_slugs", {"s"}}};
const Json kDiscover = {{"visitor_id", kId}, {"page", "/p"}, {"seen_slugs", {"s"}}, {"limit", 5}};
const Json kProfile = {{"visitor_id", kId}, {"interests", {"i"}}, {"read", {"s"}}};

// The field that is wrong; nullopt if none is.
template <class T>
std::optional<std::string> field(const serve::ParsedBody<T>& read) {
  if (read) return std::nullopt;
  CHECK(read.error().error.kind == ErrorKind::usage);
  CHECK_FALSE(read.error().error.message.empty());
  CHECK(read.error().error.message.find('\n') == std::string::npos);
  return read.error().field;
}
using Field = std::optional<std::string>;

struct Endpoint {
  std::string name;
  Json body;
  Field (*read)(std::string_view body);
};
const std::vector<Endpoint>& endpoints() {
  static const std::vector<Endpoint> all = {
      {"chat", kChat, [](std::string_view body) { return field(parse_chat_request(body)); }},
      {"discover", kDiscover,
       [](std::string_view body) { return field(parse_discover_request(body)); }},
      {"profile", kProfile,
       [](std::string_view body) { return field(parse_profile_update(body)); }},
  };
  return all;
}

}  // namespace

TEST_CASE("every field of a request body is parsed") {
  const auto chat = parse_chat_request(kChat.dump());
  REQUIRE(chat.has_value());
  CHECK(chat->query == "q");
  CHECK(chat->session_id == kId);
  CHECK(chat->visitor_id == kId);
  CHECK(chat->subject.empty());
  CHECK(chat->page.page == "/p");
  CHECK(chat->page.page_title == "t");
  CHECK(chat->page.scroll_pct == 40);
  CHECK(chat->page.seen_slugs == std::vector<std::string>{"s"});
  CHECK(chat->remote);
  const auto discover = parse_discover_request(kDiscover.dump());
  REQUIRE(discover.has_value());
  CHECK(discover->visitor_id == kId);
  CHECK(discover->page.page == "/p");
  CHECK(discover->page.seen_slugs == std::vector<std::string>{"s"});
  CHECK(discover->limit == 5);
  const auto profile = parse_profile_update(kProfile.dump());
  REQUIRE(profile.has_value());
  CHECK(profile->visitor_id == kId);
  CHECK(profile->interests == std::vector<std::string>{"i"});
  CHECK(profile->read == std::vector<std::string>{"s"});
}

TEST_CASE("optional fields may be absent or null") {
  CHECK(parse_chat_request(R"({"query":"q"})").has_value());
  CHECK(parse_discover_request("{}")->limit == 3);
  CHECK_FALSE(parse_profile_update(Json{{"visitor_id", kId}, {"read", {"s"}}}.dump())->interests);
  CHECK(parse_profile_update(Json{{"visitor_id", kId}, {"interests", Json::array()}}.dump())
            ->interests->empty());
  for (const Endpoint& reading : endpoints())
    for (const auto& [name, value] : reading.body.items()) {
      Json without = reading.body, null = reading.body;
      without.erase(name);
      null[name] = nullptr;
      CAPTURE(reading.name);
      CAPTURE(name);
      const bool needed = (reading.name == "chat" && name == "query") ||
                          (reading.name == "profile" && name == "visitor_id");
      CHECK(reading.read(without.dump()) == (needed ? Field(name) : Field()));
      CHECK(reading.read(null.dump()) == reading.read(without.dump()));
    }
  CHECK(field(parse_profile_update(Json{{"visitor_id", kId}}.dump())) == "");
  CHECK(field(parse_profile_update(Json{{"visitor_id", kId}, {"read", Json::array()}}.dump())) ==
        "");
}

TEST_CASE("the error for a field of a wrong type names the field") {
  const std::vector<Json> values = {1,
                                    -1,
                                    1.5,
                                    true,
                                    false,
                                    "x",
                                    Json::array(),
                                    Json::array({1}),
                                    Json::object(),
                                    Json::array({"x", nullptr}),
                                    Json::array({Json::array()}),
                                    Json::array({""}),
                                    1e300,
                                    18446744073709551615u};
  for (const Endpoint& reading : endpoints())
    for (const auto& [name, good] : reading.body.items())
      for (const Json& value : values) {
        // Values of the right type are for other tests.
        const bool text = good.is_string() && value.is_string();
        const bool number = good.is_number() && value == 1;
        if (text || number || (good.is_array() && value == Json::array())) continue;
        Json body = reading.body;
        body[name] = value;
        CAPTURE(body.dump());
        CHECK(reading.read(body.dump()) == name);
      }
}

TEST_CASE("a value at its limit is accepted, and one beyond it is refused") {
  const auto texts = [](size_t count, size_t length) {
    Json out = Json::array();
    for (size_t i = 0; i < count; ++i) out.push_back(std::string(length, 'a'));
    return out;
  };
  const auto text = [](size_t length) { return Json(std::string(length, 'a')); };
  struct Case {
    size_t reading;
    std::string field;
    Json most, more;
  };
  std::string characters, more_characters;
  for (int i = 0; i < 2000; ++i) characters += "\xC3\xA9";
  more_characters = characters + "a";
  const Case cases[] = {
      {0, "query", text(2000), text(2001)},
      {0, "query", characters, more_characters},
      {0, "scroll_pct", 0, -1},
      {0, "scroll_pct", 100, 101},
      {1, "limit", 1, 0},
      {1, "limit", 10, 11},
      {2, "interests", texts(50, 256), texts(51, 1)},
      {2, "read", texts(100, 1), texts(101, 1)},
  };
  for (const Case& c : cases) {
    CAPTURE(c.field);
    const Endpoint& reading = endpoints()[c.reading];
    Json body = reading.body;
    body[c.field] = c.most;
    CHECK(reading.read(body.dump()) == Field());
    body[c.field] = c.more;
    CHECK(reading.read(body.dump()) == c.field);
  }
}

TEST_CASE("page fields that are too long are cut") {
  Json body = kChat;
  body["page"] = std::string(2047, 'a') + "\xC3\xA9";
  body["page_title"] = std::string(600, 'a');
  body["seen_slugs"] = Json::array({std::string(257, 'a')});
  for (int i = 0; i < 300; ++i) body["seen_slugs"].push_back(std::to_string(i));
  const auto chat = parse_chat_request(body.dump());
  REQUIRE(chat.has_value());
  CHECK(chat->page.page == std::string(2047, 'a'));
  CHECK(chat->page.page_title == std::string(512, 'a'));
  CHECK(chat->page.seen_slugs.size() == 200);
  CHECK(chat->page.seen_slugs.front() == "0");
}

TEST_CASE("ids are UUIDs or empty") {
  for (const char* id : {"", kId, "abcdef22-2222-4222-8222-222222222222"})
    CHECK(parse_chat_request(Json{{"query", "q"}, {"session_id", id}}.dump()).has_value());
  for (const std::string& id :
       {"x"s, " "s, "abcdef2222224222822222222222222x"s, "{abcdef22-2222-4222-8222-222222222222}"s,
        "abcdef22-2222-4222-8222-222222222222\n"s, std::string(65, 'a')})
    for (const char* name : {"session_id", "visitor_id"})
      CHECK(field(parse_chat_request(Json{{"query", "q"}, {name, id}}.dump())) == name);
}

TEST_CASE("the error for an unknown or repeated field names the field") {
  CHECK(field(parse_chat_request(R"({"query":"q","qery":"q"})")) == "qery");
  CHECK(parse_chat_request(R"({"query":"q","qery":"q"})").error().error.message.find("query") !=
        std::string::npos);
  CHECK(field(parse_chat_request(R"({"query":"q","query":"q"})")) == "query");
  CHECK(field(parse_discover_request(R"({"limit":1,"page":"/","limit":2})")) == "limit");
  CHECK(field(parse_discover_request(R"({"query":"q"})")) == "query");
  CHECK(field(parse_profile_update(R"({"":1})")) == "");
  const std::string huge(5000, 'x');
  const auto read = parse_chat_request(Json{{"query", "q"}, {huge, 1}}.dump());
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().error.message.size() < 200);
  CHECK(field(parse_chat_request(R"({"query":"q","a\nb":1})"))->find('\n') == std::string::npos);
  CHECK(field(parse_chat_request(R"({"a\nb":1,"a\nb":2})"))->find('\n') == std::string::npos);
  CHECK(field(parse_chat_request("{\"" + huge + "\":1,\"" + huge + "\":2}"))->size() < 200);
  const auto cut =
      field(parse_chat_request("{\"a\xC3\xA9" + std::string(56, 'x') + "\xC3\xA9\":1}"));
  CHECK(cut == "a\xC3\xA9" + std::string(56, 'x'));
}

TEST_CASE("a body that is not a JSON object in UTF-8 is refused") {
  for (const std::string& body : {""s,
                                  " "s,
                                  "{"s,
                                  "[]"s,
                                  "null"s,
                                  "1"s,
                                  "\"q\""s,
                                  "{}{}"s,
                                  "{} x"s,
                                  "{'query':'q'}"s,
                                  "{\"query\":\"q\",}"s,
                                  "{\"query\":\"\xFF\"}"s,
                                  "{\"query\":\"\xED\xA0\x80\"}"s,
                                  "{\"query\":\"\xC0\xAF\"}"s,
                                  "{\"query\":\"a\nb\"}"s,
                                  "{\"query\":\"a\0b\"}"s,
                                  R"({"query":"\ud800"})"s,
                                  R"({"query":"\udc00x"})"s,
                                  R"({"query":"\ud800A"})"s,
                                  "// no\n{}"s,
                                  "{\"query\":NaN}"s,
                                  "{\"query\":1e999}"s,
                                  "\xFF\xFE{}"s,
                                  "{\"query\":\"q\"}\0"s}) {
    CAPTURE(body);
    for (const Endpoint& reading : endpoints()) CHECK(reading.read(body) == "");
  }
  // A byte order mark and white space are allowed.
  CHECK(parse_discover_request("\xEF\xBB\xBF{}").has_value());
  CHECK(parse_discover_request(" \r\n\t{} ").has_value());
}

TEST_CASE("a deeply nested body is refused") {
  for (const size_t depth : {9u, 100u, 200000u}) {
    for (const std::string& body :
         {std::string(depth, '[') + std::string(depth, ']'),
          R"({"page":)" + std::string(depth, '[') + std::string(depth, ']') + "}",
          R"({"page":)" + std::string(depth, '[')})
      for (const Endpoint& reading : endpoints()) CHECK(reading.read(body) == "");
  }
}

TEST_CASE("NUL and invisible characters are removed") {
  const auto nul =
      parse_chat_request(R"({"query":"a\u0000b","page":"/\u0000p","page_title":"\u0000"})");
  REQUIRE(nul.has_value());
  CHECK(nul->page.page.find('\0') == std::string::npos);
  CHECK(nul->page.page_title.find('\0') == std::string::npos);
  CHECK(field(parse_chat_request(R"({"query":""})")) == "query");
  CHECK(field(parse_chat_request(R"({"query":"   \n\t "})")) == "query");
  CHECK(field(parse_chat_request(R"({"query":"\u200b\u0000\u202e"})")) == "query");
}

}  // namespace request_body_test
