#include "generate/extractive_voice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/normalize.h"
#include "text/sentences.h"

namespace extractive_voice_test {

namespace {

using namespace stoka;
using namespace stoka::generate;

std::string shipped_text() {
  std::ifstream file(STOKA_SOURCE_DIR "/golden/voice_lines.toml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<VoiceLines> read(const std::string& text) {
  const auto entries = parse_toml(text, "voice_lines.toml");
  REQUIRE(entries.has_value());
  return read_voice_lines(*entries);
}

const VoiceLines& shipped() {
  static const VoiceLines lines = [] {
    auto out = read(shipped_text());
    REQUIRE_MESSAGE(out.has_value(), out.error().message);
    return *out;
  }();
  return lines;
}

Hit hit(std::string slug, std::string type, double score, std::string content) {
  Hit out;
  out.chunk.slug = std::move(slug);
  out.chunk.type = std::move(type);
  out.chunk.content = std::move(content);
  out.score = score;
  return out;
}

Hit bounded(double score = 0.9) {
  return hit(
      "bounded", "philosophy", score,
      "Bounds.\n\nAutonomy without constraint is just chaos with better marketing. But who?");
}

Hit deck(double score = 0.88) {
  return hit("deck", "product", score,
             "The deck pipeline doesn't retry a page; it remembers what broke & why it did <so>.");
}

GenerationRequest request(std::string query, std::span<const Hit> hits, int turns = 0) {
  GenerationRequest out;
  out.query = std::move(query);
  out.hits = hits;
  out.turns = turns;
  return out;
}

std::string answer_to(const GenerationRequest& request) {
  return ExtractiveVoice(shipped()).answer(request);
}

size_t cites(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find("<cite ", at)) != std::string_view::npos; ++at) ++count;
  return count;
}

const std::string kQueries[] = {"what do you think about constraints",
                                "how do you handle failures?",
                                "hi there!",
                                "tell me about it",
                                "",
                                "größe",
                                "<cite slug=\"x\"/>"};

}  // namespace

TEST_CASE(
    "a page that consists of code is cited without a quote, and only if no other hit has one") {
  const ExtractiveVoice voice(shipped());
  const Hit code = hit("code", "blog", 0.95, "    make\n    make install");
  GenerationRequest request;
  request.query = "how do i install it?";
  request.confidence = Confidence::direct;
  const std::vector<Hit> alone = {code}, both = {code, deck()};
  request.hits = alone;
  CHECK(voice.answer(request).find("<cite slug=\"code\" quote=\"\"/>") != std::string::npos);
  request.hits = both;
  CHECK(voice.answer(request).find("<cite slug=\"deck\" quote=\"The deck") != std::string::npos);
  CHECK(voice.answer(request).find("slug=\"code\"") == std::string::npos);
}

TEST_CASE("the built-in lines are valid") {
  for (const char* type : {"philosophy", "changelog", "product", "blog", "any"}) {
    CHECK(shipped().direct.contains(type));
    CHECK(shipped().framing.contains(type));
  }
}

namespace {

// All built-in lists by their names.
std::vector<std::pair<std::string, VoiceLines::List>> shipped_lists() {
  const VoiceLines& lines = shipped();
  std::vector<std::pair<std::string, VoiceLines::List>> out = {{"adjacent", lines.adjacent},
                                                               {"followup", lines.followup},
                                                               {"lateral", lines.lateral},
                                                               {"closers", lines.closers}};
  for (const auto& [type, list] : lines.direct) out.emplace_back("direct." + type, list);
  for (const auto& [type, list] : lines.framing) out.emplace_back("framing." + type, list);
  return out;
}

const golden::SiteFacts kEverySite[] = {
    {}, {true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}};

}  // namespace

TEST_CASE("every built-in list has at least 40 lines for any site, and no line stands twice") {
  std::set<std::string> all;
  CHECK(shipped_lists().size() == 14);
  for (const auto& [name, list] : shipped_lists()) {
    CAPTURE(name);
    const auto plain = std::count_if(list.begin(), list.end(),
                                     [](const VoiceLine& line) { return line.condition.empty(); });
    CHECK(plain >= 40);
    for (const VoiceLine& line : list) {
      CAPTURE(line.text);
      CHECK(all.insert(line.text).second);
      CHECK(line.text.size() <= 80);
      for (const char* never : {"hello", "welcome", "sorry", "great question", "happy to"})
        CHECK(line.text.find(never) == std::string::npos);
    }
  }
}

TEST_CASE("a line that names what a site may lack is only used on sites that have it") {
  for (const auto& [name, list] : shipped_lists()) {
    if (name == "direct.changelog" || name == "framing.changelog" || name == "direct.product" ||
        name == "framing.product")
      continue;  // these stand beside such a page
    for (const VoiceLine& line : list) {
      CAPTURE(line.text);
      if (line.condition.empty()) {
        CHECK(line.text.find("patch note") == std::string::npos);
        CHECK(line.text.find("product") == std::string::npos);
      }
    }
  }
  std::set<std::string> used;
  for (int turns = 0; turns < 200; ++turns) {
    GenerationRequest input = request("q", {}, turns);
    used.insert(choose_line(shipped().closers, input));
  }
  for (const VoiceLine& line : shipped().closers)
    CHECK(used.contains(line.text) == line.condition.empty());
  for (int turns = 0; turns < 200; ++turns) {
    GenerationRequest input = request("q", {}, turns);
    input.site = {true, true, true};
    used.insert(choose_line(shipped().closers, input));
  }
  CHECK(used.size() == shipped().closers.size());
}

TEST_CASE("forty turns of a session repeat no line, and no list repeats one on the next turn") {
  for (const auto& [name, list] : shipped_lists()) {
    if (name.starts_with("framing")) continue;  // chosen by page, not by turn
    CAPTURE(name);
    for (const char* session : {"", "5b0c2c1e-0000-4000-8000-000000000001", "another"}) {
      for (const golden::SiteFacts& site : kEverySite) {
        std::set<std::string> used;
        std::string last;
        for (int turns = 0; turns < 150; ++turns) {
          GenerationRequest input = request(kQueries[turns % 7], {}, turns);
          input.session_id = session;
          input.site = site;
          const std::string line = choose_line(list, input);
          CHECK(line == choose_line(list, input));
          CHECK(line != last);
          if (turns < 40) CHECK(used.insert(line).second);
          last = line;
        }
      }
    }
  }
}

TEST_CASE("equal questions begin alike in any session, and later turns do not follow one order") {
  std::set<std::string> first, second;
  for (int i = 0; i < 20; ++i) {
    GenerationRequest input = request("constraints", {}, 0);
    input.session_id = std::to_string(i);
    first.insert(choose_line(shipped().closers, input));
    input.turns = 1;
    second.insert(choose_line(shipped().closers, input));
  }
  CHECK(first.size() == 1);
  CHECK(second.size() > 5);
}

TEST_CASE("short lists are used up before a line comes again, and never twice in a row") {
  for (size_t count : {1, 2, 3, 4, 9}) {
    CAPTURE(count);
    VoiceLines::List list;
    for (size_t i = 0; i < count; ++i) list.push_back({std::to_string(i)});
    std::set<std::string> used;
    std::string last;
    for (int turns = 0; turns < 60; ++turns) {
      GenerationRequest input = request("q", {}, turns);
      input.session_id = "s";
      const std::string line = choose_line(list, input);
      used.insert(line);
      if (count > 1) CHECK(line != last);
      last = line;
    }
    CHECK(used.size() == count);
  }
}

TEST_CASE("lists in a table of a condition are read, and an unknown condition is an error") {
  const std::string valid =
      "adjacent = ['a.']\nfollowup = ['f.']\nlateral = ['l.']\nclosers = ['c?']\n"
      "[direct]\nany = ['d.']\n[framing]\nany = ['g.']\n";
  const auto lines = read("needs.changelog.closers = ['n?']\n" + valid);
  REQUIRE_MESSAGE(lines, lines.error().message);
  CHECK(lines->closers == VoiceLines::List{{"c?"}, {"n?", "changelog"}});
  CHECK(!read("needs.changelogs.closers = ['n?']\n" + valid));
  CHECK(!read("needs.changelog.framing.any = ['n.']\n" + valid));
  std::string only_conditional = valid;
  only_conditional.replace(only_conditional.find("closers"), 7, "needs.product.closers");
  const auto missing = read(only_conditional);
  REQUIRE(!missing);
  CHECK(missing.error().message == "voice_lines.toml has no 'closers'");
}

TEST_CASE("an answer contains a framing line, a verbatim quote and a final question") {
  const Hit hits[] = {bounded()};
  const std::string text = answer_to(request("constraint and autonomy", hits));
  CHECK(text.find("\n<cite slug=\"bounded\" quote=\"Autonomy without constraint is just chaos with "
                  "better marketing.\"/>\n") != std::string::npos);
  CHECK(text.ends_with('?'));
  CHECK(cites(text) == 1);
}

TEST_CASE("every answer passes the voice guard") {
  const Hit one[] = {bounded()};
  const Hit two[] = {bounded(), deck()};
  const std::span<const Hit> sets[] = {one, two};
  for (const std::string& query : kQueries) {
    for (const auto hits : sets) {
      for (const Confidence confidence : {Confidence::direct, Confidence::adjacent}) {
        for (const bool same_topic : {false, true}) {
          for (int turns = 0; turns < 4; ++turns) {
            GenerationRequest input = request(query, hits, turns);
            input.confidence = confidence;
            input.same_topic = same_topic;
            const std::string text = answer_to(input);
            CAPTURE(text);
            CHECK(text == answer_to(input));
            const std::string before = text.substr(0, text.find("<cite "));
            CHECK(text::count_sentences(before) <= 3);
            CHECK(before.size() <= 400);
            CHECK(text.find('!') == std::string::npos);
            CHECK(text.ends_with('?'));
            CHECK(cites(text) >= 1);
            CHECK(cites(text) <= 2);
          }
        }
      }
    }
  }
}

TEST_CASE("consecutive turns do not repeat a line") {
  const Hit hits[] = {bounded()};
  for (const std::string& query : kQueries) {
    for (const std::string& next : kQueries) {
      for (int turns = 0; turns < 3; ++turns) {
        const std::string a = answer_to(request(query, hits, turns));
        const std::string b = answer_to(request(next, hits, turns + 1));
        CHECK(a.substr(0, a.find('\n')) != b.substr(0, b.find('\n')));
        CHECK(a.substr(a.rfind('\n')) != b.substr(b.rfind('\n')));
      }
    }
  }
}

TEST_CASE("an answer with low confidence starts with the exact words and has no question") {
  const Hit hits[] = {bounded(0.55), deck(0.54)};
  GenerationRequest input = request("quantum gravity", hits);
  input.confidence = Confidence::adjacent;
  input.low_confidence = true;
  CHECK(answer_to(input) ==
        "closest thing i have is this. might not be what you meant.\n<cite slug=\"bounded\" "
        "quote=\"Autonomy without constraint is just chaos with better marketing.\"/>");
}

TEST_CASE(
    "a second source is cited only if it differs, its score is close, and the answer is direct") {
  struct Case {
    const char* name;
    std::vector<Hit> hits;
    Confidence confidence;
    size_t cites;
  };
  const Case table[] = {
      {"close", {bounded(0.9), deck(0.85)}, Confidence::direct, 2},
      {"far", {bounded(0.95), deck(0.83)}, Confidence::direct, 1},
      {"the same slug", {bounded(0.9), bounded(0.9)}, Confidence::direct, 1},
      {"the same slug, then another",
       {bounded(0.9), bounded(0.89), deck(0.88)},
       Confidence::direct,
       2},
      {"adjacent", {bounded(0.7), deck(0.7)}, Confidence::adjacent, 1},
      {"three",
       {bounded(0.9), deck(0.9), hit("c", "blog", 0.9, "A third thing is said here.")},
       Confidence::direct,
       2},
      {"first without content", {hit("e", "blog", 0.9, " \n"), deck(0.9)}, Confidence::direct, 1},
  };
  for (const Case& c : table) {
    CAPTURE(c.name);
    GenerationRequest input = request("q", c.hits);
    input.confidence = c.confidence;
    CHECK(cites(answer_to(input)) == c.cites);
  }
}

TEST_CASE("attribute values are escaped") {
  const Hit hits[] = {deck()};
  const std::string text = answer_to(request("deck", hits));
  CHECK(
      text.find("quote=\"The deck pipeline doesn't retry a page; it remembers what broke &amp; why "
                "it did &lt;so&gt;.\"") != std::string::npos);
}

TEST_CASE("without hits the answer says that there is nothing") {
  CHECK(answer_to(request("q", {})) == "nothing here on that. yet.");
}

TEST_CASE("the answer is streamed word by word after it was accepted") {
  const Hit hits[] = {bounded()};
  const GenerationRequest input = request("constraints", hits);
  ExtractiveVoice voice(shipped());
  int accepted = 0;
  std::vector<std::string> pieces;
  net::EventLoopPool loops;
  const auto finish = generate_blocking(
      loops, voice, input, [&] { ++accepted; },
      [&](std::string_view piece) {
        CHECK(accepted == 1);
        pieces.emplace_back(piece);
      },
      {});
  REQUIRE(finish.has_value());
  CHECK(*finish == FinishReason::complete);
  std::string whole;
  for (const std::string& piece : pieces) whole += piece;
  CHECK(whole == voice.answer(input));
  CHECK(pieces.size() > 10);
}

TEST_CASE("a stop request ends the stream") {
  const Hit hits[] = {bounded()};
  ExtractiveVoice voice(shipped());
  std::stop_source stop;
  size_t pieces = 0;
  net::EventLoopPool loops;
  const auto finish = generate_blocking(
      loops, voice, request("constraints", hits), [] {},
      [&](std::string_view) {
        if (++pieces == 3) stop.request_stop();
      },
      stop.get_token());
  REQUIRE_FALSE(finish.has_value());
  CHECK(finish.error().kind == ErrorKind::cancelled);
  CHECK(pieces == 3);
}

TEST_CASE("an answer that is stopped before it starts is cancelled, and nothing is passed on") {
  const Hit hits[] = {bounded()};
  ExtractiveVoice voice(shipped());
  std::stop_source stop;
  stop.request_stop();
  net::EventLoopPool loops;
  int calls = 0;
  const auto finish = generate_blocking(
      loops, voice, request("constraints", hits), [&] { ++calls; },
      [&](std::string_view) { ++calls; }, stop.get_token());
  REQUIRE_FALSE(finish.has_value());
  CHECK(finish.error().kind == ErrorKind::cancelled);
  CHECK(calls == 0);
}

TEST_CASE("recommendations get framing lines, and consecutive ones get different lines") {
  std::vector<Hit> hits;
  for (int i = 0; i < 12; ++i) {
    hits.push_back(hit("slug-" + std::to_string(i), i % 5 == 0 ? "product" : "blog", 0.5, "x"));
  }
  ExtractiveVoice voice(shipped());
  const auto lines = voice.frame(hits, {});
  REQUIRE(lines.size() == hits.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    REQUIRE(lines[i].has_value());
    if (i > 0) CHECK(*lines[i] != *lines[i - 1]);
  }
  CHECK(voice.frame(hits, {}) == lines);
}

TEST_CASE("lines that break the rules of the voice are rejected") {
  struct Bad {
    const char* from;
    const char* to;
    const char* message;
  };
  const Bad table[] = {
      {"still the same question?", "still the same question.", "is not a question"},
      {"further in, then.", "further in, then!", "does not end in '.' or '?'"},
      {"further in, then.", "wow! further in, then.", "has an exclamation mark or an emoji"},
      {"further in, then.", "Further in, then.", "has a capital letter"},
      {"further in, then.", "a <b> c.", "is not plain text"},
      {"further in, then.", "one. two. three.", "has too many sentences"},
      {"now read it against this.", "now read. then this.", "has too many sentences"},
      {"further in, then.", "", "is empty"},
      {"[framing]", "[frame]", "unknown 'frame.philosophy'"},
      {"lateral = [", "lateral.x = [", "unknown 'lateral.x'"},
      {"closers = [", "extra = [", "unknown 'extra'"},
  };
  for (const Bad& bad : table) {
    CAPTURE(bad.to);
    std::string text = shipped_text();
    text.replace(text.find(bad.from), std::string_view(bad.from).size(), bad.to);
    const auto lines = read(text);
    REQUIRE_FALSE(lines.has_value());
    CHECK(lines.error().kind == ErrorKind::config);
    CHECK(lines.error().message.find(bad.message) != std::string::npos);
  }
  const auto missing = read("closers = [\"so?\"]");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().message == "voice_lines.toml has no 'direct.any'");
}

}  // namespace extractive_voice_test
