#include "embed/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace batches_test {

using namespace stoka;
using namespace stoka::embed;

namespace {

const Vector kDay = {1, 0};
const Vector kNight = {0, 1};
const Vector kBoth = {0.7071068f, 0.7071068f};

// A server that reads `longest` bytes of a text, `most` texts at once, and no poison. A text's
// vector says which of two words it has.
struct Server {
  size_t most = 32;
  size_t longest = 1000;
  bool down = false;
  std::vector<std::vector<std::string>> asked;

  Result<Reply> operator()(std::span<const std::string> texts) {
    asked.emplace_back(texts.begin(), texts.end());
    const auto refuse = [](std::string what, bool too_long = false) {
      return Reply(tl::unexpect,
                   Refusal{what, too_long, Error(ErrorKind::protocol, "server: " + what)});
    };
    if (down) return refuse("out of memory");
    if (texts.size() > most) return refuse("batch size");
    std::vector<Vector> out;
    for (const std::string& text : texts) {
      if (text.size() > longest) return refuse("too many tokens", true);
      if (text.find("poison") != text.npos) return refuse("cannot read it");
      const bool day = text.find("day") != text.npos;
      const bool night = text.find("night") != text.npos;
      out.push_back(day == night ? kBoth : day ? kDay : kNight);
    }
    return Reply(std::move(out));
  }

  Embedded embed(const std::vector<std::string>& texts, const BatchLimits& limits = {}) {
    auto embedded = embed_in_batches(texts, limits, std::ref(*this), {});
    REQUIRE_MESSAGE(embedded.has_value(), embedded.error().message);
    REQUIRE(embedded->vectors.size() == texts.size());
    return std::move(*embedded);
  }
};

std::vector<size_t> sizes(const Server& server) {
  std::vector<size_t> out;
  for (const auto& texts : server.asked) out.push_back(texts.size());
  return out;
}

}  // namespace

TEST_CASE("texts go out in batches, and progress says how many are done") {
  Server server;
  std::vector<size_t> done;
  const std::vector<std::string> texts(70, "day");
  const auto embedded =
      embed_in_batches(texts, {}, std::ref(server), [&](size_t n) { done.push_back(n); });
  REQUIRE(embedded.has_value());
  CHECK(embedded->vectors == std::vector<Vector>(70, kDay));
  CHECK(embedded->notes.empty());
  CHECK(sizes(server) == std::vector<size_t>{32, 32, 6});
  CHECK(done == std::vector<size_t>{32, 64, 70});
}

TEST_CASE("a batch ends before it has too many bytes, as JSON counts them") {
  Server server;
  const std::string quotes(100, '"');  // 203 bytes
  server.embed({quotes, quotes, quotes, quotes, quotes}, {32, 420});
  CHECK(sizes(server) == std::vector<size_t>{2, 2, 1});
  server.asked.clear();
  server.embed({quotes, quotes}, {32, 10});
  CHECK(sizes(server) == std::vector<size_t>{1, 1});
}

TEST_CASE("no texts are no requests") {
  Server server;
  CHECK(server.embed({}).vectors.empty());
  CHECK(server.asked.empty());
}

TEST_CASE("a batch that is too large for the server is halved") {
  Server server;
  server.most = 2;
  const Embedded embedded = server.embed({"day", "night", "day", "night", "day"});
  CHECK(embedded.vectors == std::vector<Vector>{kDay, kNight, kDay, kNight, kDay});
  CHECK(embedded.notes.empty());
}

TEST_CASE("a poisonous text is found and noted, the others are embedded") {
  for (size_t at = 0; at < 9; ++at) {
    CAPTURE(at);
    Server server;
    std::vector<std::string> texts(9, "day");
    texts[at] = "poison";
    const Embedded embedded = server.embed(texts);
    for (size_t i = 0; i < 9; ++i) CHECK(embedded.vectors[i] == (i == at ? Vector{} : kDay));
    REQUIRE(embedded.notes.size() == 1);
    CHECK(embedded.notes[0].text == at);
    CHECK(embedded.notes[0].what == "refused: cannot read it");
  }
}

TEST_CASE("poison alone is noted too, for the server takes a plain sentence") {
  Server server;
  const Embedded embedded = server.embed({"poison", "more poison"});
  CHECK(embedded.vectors == std::vector<Vector>(2));
  CHECK(embedded.notes.size() == 2);
  CHECK(std::count(server.asked.begin(), server.asked.end(),
                   std::vector<std::string>{std::string(kProbe)}) == 1);
}

TEST_CASE("a server that refuses everything is an error, after a few requests") {
  Server server;
  server.down = true;
  const std::vector<std::string> texts(1000, "day");
  const auto embedded = embed_in_batches(texts, {}, std::ref(server), {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().message == "server: out of memory");
  CHECK(server.asked.size() < 10);
}

TEST_CASE("a server that breaks down amid a run is an error") {
  Server server;
  const std::vector<std::string> texts(64, "day");
  const auto embedded =
      embed_in_batches(texts, {}, std::ref(server), [&](size_t) { server.down = true; });
  CHECK_FALSE(embedded.has_value());
}

TEST_CASE("an error of a request ends the run") {
  size_t asked = 0;
  const Ask ask = [&](std::span<const std::string>) -> Result<Reply> {
    ++asked;
    return fail(ErrorKind::unavailable, "nobody there");
  };
  const std::vector<std::string> texts(64, "day");
  const auto embedded = embed_in_batches(texts, {}, ask, {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::unavailable);
  CHECK(asked == 1);
}

TEST_CASE("a text that is too long has the mean of its parts by their length") {
  Server server;
  server.longest = 40;
  const std::string days = "day day day day day day day day!",
                    nights = "night night night night nig!!";
  const Embedded embedded = server.embed({days + " " + nights});
  REQUIRE(embedded.notes.size() == 1);
  CHECK(embedded.notes[0].what == "longer than the model reads: embedded in 2 parts");
  const size_t asked = server.asked.size();
  CHECK(server.asked[asked - 2].front() == days);
  CHECK(server.asked[asked - 1].front() == nights);
  const double a = static_cast<double>(days.size()), b = static_cast<double>(nights.size());
  REQUIRE(embedded.vectors[0].size() == 2);
  CHECK(embedded.vectors[0][0] == doctest::Approx(a / std::hypot(a, b)));
  CHECK(embedded.vectors[0][1] == doctest::Approx(b / std::hypot(a, b)));
}

TEST_CASE("parts are halved again as long as they are too long") {
  Server server;
  server.longest = 17;
  std::string text;
  for (int i = 0; i < 64; ++i) text += "day";  // no white space
  const Embedded embedded = server.embed({"night", text});
  CHECK(embedded.vectors[1] == kDay);
  CHECK(embedded.notes[0].text == 1);
  CHECK(embedded.notes[0].what == "longer than the model reads: embedded in 16 parts");
}

TEST_CASE("a text is never cut within a character") {
  Server server;
  server.longest = 20;
  std::string text;
  for (int i = 0; i < 33; ++i) text += "\xF0\x9F\x8C\x99";
  server.embed({text});
  for (const auto& texts : server.asked)
    for (const std::string& part : texts)
      if (part != kProbe) CHECK(part.size() % 4 == 0);
}

TEST_CASE("a text that stays too long after six halvings is refused") {
  Server server;
  server.longest = kProbe.size();
  const Embedded embedded = server.embed({std::string(64 * (kProbe.size() + 2), 'x')});
  CHECK(embedded.vectors[0].empty());
  CHECK(embedded.notes[0].what == "refused: too many tokens");
  CHECK(server.asked.size() == 8);
}

TEST_CASE("poison in a part refuses the text") {
  Server server;
  server.longest = 30;
  const Embedded embedded = server.embed({"day day day day day day poison day day day", "day"});
  CHECK(embedded.vectors[0].empty());
  CHECK(embedded.vectors[1] == kDay);
  CHECK(embedded.notes[0].what == "refused: cannot read it");
}

TEST_CASE("a text without a word is not asked for") {
  Server server;
  const Embedded embedded = server.embed({"day", " \n\t", "", "night"});
  CHECK(embedded.vectors == std::vector<Vector>{kDay, {}, {}, kNight});
  REQUIRE(embedded.notes.size() == 2);
  CHECK(embedded.notes[0].text == 1);
  CHECK(embedded.notes[1].what == "refused: no text");
  CHECK(sizes(server) == std::vector<size_t>{1, 1});
}

}  // namespace batches_test
