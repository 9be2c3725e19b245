#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "machine.h"
#include "support/json.h"

namespace chat_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";

Machine& machine() {
  static Machine made;
  static bool indexed = (made.index_sample(), true);
  (void)indexed;
  return made;
}

std::vector<Json> event_lines(const std::string& out) {
  std::vector<Json> events;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) events.push_back(Json::parse(line));
  return events;
}

std::string text_in(const std::vector<Json>& events) {
  std::string out;
  for (const Json& event : events)
    if (event["event"] == "token") out += event["data"]["text"].get<std::string>();
  return out;
}

std::vector<Json> ask(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"chat", "--json"});
  ProcessResult ran = machine().stoka(arguments);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  return event_lines(ran.out);
}

std::set<std::string> slugs_in(const std::vector<Json>& events) {
  std::set<std::string> out;
  for (const Json& event : events)
    if (event["event"] == "cite") out.insert(event["data"]["slug"].get<std::string>());
  return out;
}

}  // namespace

TEST_CASE("chat --json prints the events of the wire format") {
  auto events = ask({"tell me about bounded execution"});
  REQUIRE(events.size() > 3);
  CHECK(events.front()["event"] == "ready");
  CHECK(events.front()["data"]["route"] == "new");
  CHECK(events.back()["event"] == "done");
  CHECK(events.back()["data"]["confidence"] == "direct");
  CHECK(events.back()["data"]["turns"] == 1);
  CHECK(slugs_in(events).contains("philosophy-bounded-execution"));
  for (const Json& event : events)
    if (event["event"] == "cite")
      for (const char* key : {"slug", "title", "quote", "type", "reading_time", "date", "score",
                              "kind", "url", "published"})
        CHECK(event["data"].contains(key));
}

TEST_CASE("site.url makes the address of a citation absolute, and must be a web address") {
  const auto url_with = [](const std::string& site) {
    machine().environment()["STOKA_SITE_URL"] = site;
    const ProcessResult ran =
        machine().stoka({"chat", "--json", "tell me about bounded execution"});
    machine().environment().erase("STOKA_SITE_URL");
    for (const Json& event : event_lines(ran.out))
      if (event["event"] == "cite") return event["data"]["url"].get<std::string>();
    return ran.err;
  };
  const std::string path = "/blog/philosophy-bounded-execution#:~:text=A%20bound%20is%20";
  CHECK(url_with("").starts_with(path));
  CHECK(url_with("https://a.test/").starts_with("https://a.test" + path));
  CHECK(url_with("a.test").find("site.url is not a web address: 'a.test'") != std::string::npos);
}

TEST_CASE("chat --json prints canned replies exactly") {
  for (auto [query, route, reply] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"what is this?", "meta",
            "a terminal. i know everything published here. ask something or don't."},
           {"best javascript framework?", "offtopic", "wrong terminal."},
           {"quantum gravity research", "void", "nothing here on that. yet."}}) {
    CAPTURE(std::string(query));
    auto events = ask({query});
    CHECK(events.front()["data"]["route"] == route);
    CHECK(text_in(events) == reply);
    CHECK(slugs_in(events).empty());
  }
}

TEST_CASE("the same question in the same session does not cite the same slug again") {
  auto first = slugs_in(ask({"--session", kSession, "tell me about bounded execution"}));
  auto second = slugs_in(ask({"--session", kSession, "tell me about bounded execution"}));
  CHECK(!first.empty());
  for (const std::string& slug : first) CHECK(!second.contains(slug));
}

TEST_CASE("the lines of standard input are turns of one session") {
  ProcessResult ran = machine().stoka({"chat", "--json", "-"},
                                      "tell me about bounded execution\n\nwhat about debono\n");
  CHECK(ran.code == 0);
  auto events = event_lines(ran.out);
  std::vector<Json> ready, done;
  for (const Json& event : events) {
    if (event["event"] == "ready") ready.push_back(event["data"]);
    if (event["event"] == "done") done.push_back(event["data"]);
  }
  REQUIRE(ready.size() == 2);
  CHECK(ready[0]["session_id"] == ready[1]["session_id"]);
  CHECK(ready[1]["route"] == "followup");
  REQUIRE(done.size() == 2);
  CHECK(done[1]["turns"] == 2);
}

TEST_CASE("without a terminal an answer is plain text, and its citation is a block quote") {
  ProcessResult ran = machine().stoka({"chat", "tell me about bounded execution"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out.find("\n> The Philosophy of Bounded Execution\n> \"") != std::string::npos);
  CHECK(ran.out.find('\x1b') == std::string::npos);
}

TEST_CASE("--dry-run prints the prompt and saves nothing") {
  ProcessResult ran = machine().stoka(
      {"chat", "--dry-run", "--json", "--page", "/blog/x", "tell me about bounded execution"});
  REQUIRE(ran.code == 0);
  Json body = Json::parse(ran.out);
  CHECK(body["messages"][0]["role"] == "system");
  CHECK(body["messages"][0]["content"].get<std::string>().find("page:            /blog/x") !=
        std::string::npos);
  CHECK(body["layers"].size() == 6);
  CHECK(body["tokens"].get<int>() > 1000);
  ProcessResult text = machine().stoka({"chat", "--dry-run", "what is this?"});
  CHECK(text.out.starts_with("route meta"));
}

TEST_CASE("--trace prints scores and citations to stderr") {
  ProcessResult ran = machine().stoka({"chat", "--trace", "tell me about bounded execution"});
  CHECK(ran.code == 0);
  CHECK(ran.err.find("rerank") != std::string::npos);
  CHECK(ran.err.find("citations") != std::string::npos);
  CHECK(ran.err.find("philosophy-bounded-execution") != std::string::npos);
}

TEST_CASE("an invalid question gives a one-line error and exit code 2") {
  for (const std::string& query : {std::string(), std::string("  "), std::string("\x01\x02"),
                                   std::string("\u200b"), std::string(10000, 'a')}) {
    ProcessResult ran = machine().stoka({"chat", query});
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
  CHECK(machine().stoka({"chat", "-"}).code == 2);
  CHECK(machine().stoka({"chat", "--session", "nonsense", "hi"}).code == 2);
}

TEST_CASE("rerank --json shows the ranked candidates with their factors") {
  ProcessResult ran =
      machine().stoka({"rerank", "--json", "--explain", "how do you handle failures"});
  REQUIRE(ran.code == 0);
  Json body = Json::parse(ran.out);
  CHECK(body["results"].size() == 5);
  CHECK(body["results"][0].contains("factors"));
}

}  // namespace chat_test
