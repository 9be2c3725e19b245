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

// A server that accepts texts of at most `max_text_bytes`, at most `max_texts` in one request, and
// none with the word "poison". The vector of a text says whether it has the word "day" or "night".
struct Server {
  size_t max_texts = 32;
  size_t max_text_bytes = 1000;
  bool refuses_all = false;
  std::vector<std::vector<std::string>> requests;

  Result<BatchReply> operator()(std::span<const std::string> texts) {
    requests.emplace_back(texts.begin(), texts.end());
    const auto refuse = [](std::string message, bool is_too_long = false) {
      return BatchReply(
          tl::unexpect,
          BatchRefusal{message, is_too_long, Error(ErrorKind::protocol, "server: " + message)});
    };
    if (refuses_all) return refuse("out of memory");
    if (texts.size() > max_texts) return refuse("batch size");
    std::vector<Vector> out;
    for (const std::string& text : texts) {
      if (text.size() > max_text_bytes) return refuse("too many tokens", true);
      if (text.find("poison") != text.npos) return refuse("cannot read it");
      const bool day = text.find("day") != text.npos;
      const bool night = text.find("night") != text.npos;
      out.push_back(day == night ? kBoth : day ? kDay : kNight);
    }
    return BatchReply(std::move(out));
  }

  Embeddings embed(const std::vector<std::string>& texts, const BatchLimits& limits = {}) {
    auto embedded = embed_in_batches(texts, limits, std::ref(*this), {});
    REQUIRE_MESSAGE(embedded.has_value(), embedded.error().message);
    REQUIRE(embedded->vectors.size() == texts.size());
    return std::move(*embedded);
  }
};

std::vector<size_t> batch_sizes(const Server& server) {
  std::vector<size_t> out;
  for (const auto& texts : server.requests) out.push_back(texts.size());
  return out;
}

}  // namespace

TEST_CASE("texts are sent in batches, and progress reports how many are done") {
  Server server;
  std::vector<size_t> done;
  const std::vector<std::string> texts(70, "day");
  const auto embedded =
      embed_in_batches(texts, {}, std::ref(server), [&](size_t n) { done.push_back(n); });
  REQUIRE(embedded.has_value());
  CHECK(embedded->vectors == std::vector<Vector>(70, kDay));
  CHECK(embedded->warnings.empty());
  CHECK(batch_sizes(server) == std::vector<size_t>{32, 32, 6});
  CHECK(done == std::vector<size_t>{32, 64, 70});
}

TEST_CASE("a batch has at most max_bytes of JSON, or one text") {
  Server server;
  const std::string quotes(100, '"');  // 203 bytes
  server.embed({quotes, quotes, quotes, quotes, quotes}, {32, 420});
  CHECK(batch_sizes(server) == std::vector<size_t>{2, 2, 1});
  server.requests.clear();
  server.embed({quotes, quotes}, {32, 10});
  CHECK(batch_sizes(server) == std::vector<size_t>{1, 1});
}

TEST_CASE("without texts no request is sent") {
  Server server;
  CHECK(server.embed({}).vectors.empty());
  CHECK(server.requests.empty());
}

TEST_CASE("a batch that is refused because it has too many texts is halved") {
  Server server;
  server.max_texts = 2;
  const Embeddings embedded = server.embed({"day", "night", "day", "night", "day"});
  CHECK(embedded.vectors == std::vector<Vector>{kDay, kNight, kDay, kNight, kDay});
  CHECK(embedded.warnings.empty());
}

TEST_CASE("a refused text gets a warning, and the other texts of its batch are embedded") {
  for (size_t at = 0; at < 9; ++at) {
    CAPTURE(at);
    Server server;
    std::vector<std::string> texts(9, "day");
    texts[at] = "poison";
    const Embeddings embedded = server.embed(texts);
    for (size_t i = 0; i < 9; ++i) CHECK(embedded.vectors[i] == (i == at ? Vector{} : kDay));
    REQUIRE(embedded.warnings.size() == 1);
    CHECK(embedded.warnings[0].text == at);
    CHECK(embedded.warnings[0].message == "refused: cannot read it");
  }
}

TEST_CASE("if all texts are refused but the test text is not, each text gets a warning") {
  Server server;
  const Embeddings embedded = server.embed({"poison", "more poison"});
  CHECK(embedded.vectors == std::vector<Vector>(2));
  CHECK(embedded.warnings.size() == 2);
  CHECK(std::count(server.requests.begin(), server.requests.end(),
                   std::vector<std::string>{std::string(kProbeText)}) == 1);
}

TEST_CASE(
    "if the server refuses even the test text, its refusal is the error, after a few requests") {
  Server server;
  server.refuses_all = true;
  const std::vector<std::string> texts(1000, "day");
  const auto embedded = embed_in_batches(texts, {}, std::ref(server), {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().message == "server: out of memory");
  CHECK(server.requests.size() < 10);
}

TEST_CASE("if the server begins to refuse everything in the middle of a run, the run fails") {
  Server server;
  const std::vector<std::string> texts(64, "day");
  const auto embedded =
      embed_in_batches(texts, {}, std::ref(server), [&](size_t) { server.refuses_all = true; });
  CHECK_FALSE(embedded.has_value());
}

TEST_CASE("an error of a request ends the run without another request") {
  size_t requests = 0;
  const SendBatch send = [&](std::span<const std::string>) -> Result<BatchReply> {
    ++requests;
    return fail(ErrorKind::unavailable, "connection refused");
  };
  const std::vector<std::string> texts(64, "day");
  const auto embedded = embed_in_batches(texts, {}, send, {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::unavailable);
  CHECK(requests == 1);
}

TEST_CASE("a text that is too long gets the mean of its parts, weighted by length") {
  Server server;
  server.max_text_bytes = 40;
  const std::string days = "day day day day day day day day!",
                    nights = "night night night night nig!!";
  const Embeddings embedded = server.embed({days + " " + nights});
  REQUIRE(embedded.warnings.size() == 1);
  CHECK(embedded.warnings[0].message == "longer than the model reads: embedded in 2 parts");
  const size_t requests = server.requests.size();
  CHECK(server.requests[requests - 2].front() == days);
  CHECK(server.requests[requests - 1].front() == nights);
  const double a = static_cast<double>(days.size()), b = static_cast<double>(nights.size());
  REQUIRE(embedded.vectors[0].size() == 2);
  CHECK(embedded.vectors[0][0] == doctest::Approx(a / std::hypot(a, b)));
  CHECK(embedded.vectors[0][1] == doctest::Approx(b / std::hypot(a, b)));
}

TEST_CASE("a part of a text that is too long is split again") {
  Server server;
  server.max_text_bytes = 17;
  std::string text;
  for (int i = 0; i < 64; ++i) text += "day";  // no white space
  const Embeddings embedded = server.embed({"night", text});
  CHECK(embedded.vectors[1] == kDay);
  CHECK(embedded.warnings[0].text == 1);
  CHECK(embedded.warnings[0].message == "longer than the model reads: embedded in 16 parts");
}

TEST_CASE("a text is never split within a character") {
  Server server;
  server.max_text_bytes = 20;
  std::string text;
  for (int i = 0; i < 33; ++i) text += "\xF0\x9F\x8C\x99";
  server.embed({text});
  for (const auto& texts : server.requests)
    for (const std::string& part : texts)
      if (part != kProbeText) CHECK(part.size() % 4 == 0);
}

TEST_CASE("a text that is still too long after six splits gets a warning") {
  Server server;
  server.max_text_bytes = kProbeText.size();
  const Embeddings embedded = server.embed({std::string(64 * (kProbeText.size() + 2), 'x')});
  CHECK(embedded.vectors[0].empty());
  CHECK(embedded.warnings[0].message == "refused: too many tokens");
  CHECK(server.requests.size() == 8);
}

TEST_CASE("a text of which a part is refused gets a warning") {
  Server server;
  server.max_text_bytes = 30;
  const Embeddings embedded = server.embed({"day day day day day day poison day day day", "day"});
  CHECK(embedded.vectors[0].empty());
  CHECK(embedded.vectors[1] == kDay);
  CHECK(embedded.warnings[0].message == "refused: cannot read it");
}

TEST_CASE("a text without a word is not sent and gets a warning") {
  Server server;
  const Embeddings embedded = server.embed({"day", " \n\t", "", "night"});
  CHECK(embedded.vectors == std::vector<Vector>{kDay, {}, {}, kNight});
  REQUIRE(embedded.warnings.size() == 2);
  CHECK(embedded.warnings[0].text == 1);
  CHECK(embedded.warnings[1].message == "refused: the text is empty");
  CHECK(batch_sizes(server) == std::vector<size_t>{1, 1});
}

}  // namespace batches_test
