#include "cite/answer_stream.h"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalize.h"
#include "text/utf8.h"

namespace answer_stream_test {

namespace {

using namespace stoka;
using namespace stoka::cite;

CitationSource source(std::string slug, double score, std::vector<std::string> document,
                      size_t at = 0) {
  CitationSource out;
  Chunk& chunk = out.hit.chunk;
  chunk.slug = std::move(slug);
  chunk.title = "On " + chunk.slug;
  chunk.type = "philosophy";
  chunk.reading_minutes = 8;
  chunk.date = Date(std::chrono::year(2026) / 4 / 12);
  chunk.url = "/blog/" + chunk.slug;
  chunk.content = document.at(at);
  out.hit.score = score;
  out.document_chunks = std::move(document);
  out.chunk_index = at;
  return out;
}

std::vector<CitationSource> sources() {
  return {
      source("bounded", 0.91,
             {"Autonomy without constraint is just chaos with better marketing.",
              "Every agent had a kill switch & nobody used it."}),
      source("immortal", 0.85,
             {"A system that can\u2019t describe its own death isn\u2019t immortal. It\u2019s just "
              "lucky."})};
}

struct Run {
  std::string seen;  // tokens, and citations as {slug|quote}
  AnswerSummary summary;
  std::vector<Citation> citations;
  size_t bad_tokens = 0;
};

Run run(const std::vector<std::string_view>& pieces, std::set<std::string> shown = {},
        AnswerOptions options = {}) {
  Run out;
  const GuardRules rules{{"hi", "hi there", "great question", "sorry for *"}};
  AnswerStream stream(
      sources(), std::move(shown), rules, "kill switch",
      [&](const Event& event) {
        if (const auto* token = std::get_if<TokenEvent>(&event)) {
          if (token->text.empty() || !text::is_valid_utf8(token->text)) ++out.bad_tokens;
          out.seen += token->text;
        } else if (const auto* cite = std::get_if<CiteEvent>(&event)) {
          out.seen += "{" + cite->citation.slug + "|" + cite->citation.quote + "}";
          out.citations.push_back(cite->citation);
        } else {
          FAIL("unexpected event");
        }
      },
      options);
  for (const std::string_view piece : pieces) stream.push(piece);
  stream.finish();
  out.summary = stream.summary();
  return out;
}

constexpr std::string_view kBounded =
    "{bounded|Autonomy without constraint is just chaos with better marketing.}";

struct Case {
  std::string_view name;
  std::string input;
  std::string seen;
  std::string text;
};

std::vector<Case> cases() {
  const std::string cite =
      R"(<cite slug="bounded" quote="Autonomy without constraint is just chaos"/>)";
  const std::string shown = "{bounded|Autonomy without constraint is just chaos}";
  return {
      {"text alone", "depends what you think.", "depends what you think.",
       "depends what you think."},
      {"a golden answer", "depends.\n       " + cite + "\n       most people agree. why?",
       "depends.\n" + shown + "most people agree. why?", "depends.\nmost people agree. why?"},
      {"inline", "read " + cite + " and argue.", "read " + shown + "and argue.", "read and argue."},
      {"without space", "read" + cite + "and argue.", "read" + shown + "and argue.",
       "read and argue."},
      {"cite first", cite + "\nwhy?", shown + "why?", "why?"},
      {"cite only", cite, shown, ""},
      {"cite twice", cite + " and " + cite + " again", shown + "and again", "and again"},
      {"two sources", cite + "\n<cite slug='immortal' quote='it is just lucky'/>",
       shown + "{immortal|It\u2019s just lucky.}", ""},
      {"unknown slug", "a <cite slug=\"made-up\" quote=\"x\"/> b", "a b", "a b"},
      {"unknown slug on its own line", "a\n\n<cite slug=\"made-up\" quote=\"x\"/>\n\nb", "a\n\nb",
       "a\n\nb"},
      {"malformed", "a <cite quote=\"x\"/> b", "a b", "a b"},
      {"opener, exclamation, emoji, list", "Hi there! \U0001F600 read:\n- " + cite + "\n- it! why?",
       "read: " + shown + "it. why?", "read: it. why?"},
      {"fabricated quote", R"(<cite slug="bounded" quote="Bananas are good for you, always."/>)",
       std::string(kBounded), ""},
      {"entity in the quote",
       R"(<cite slug="bounded" quote="had a kill switch &amp; nobody used it"/>)",
       "{bounded|had a kill switch & nobody used it.}", ""},
      {"cut off", "a <cite slug=\"bounded\" quote=\"Auto", "a", "a"},
      {"nothing", "", "", ""},
      {"invalid bytes", "a\xFF\xC3 b", "a\uFFFD\uFFFD b", "a\uFFFD\uFFFD b"},
  };
}

}  // namespace

TEST_CASE("an answer becomes tokens and citations") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const Run out = run({c.input});
    CHECK(out.seen == c.seen);
    CHECK(out.summary.text == c.text);
    CHECK(out.bad_tokens == 0);
  }
}

TEST_CASE("the answer does not depend on how the stream is split") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const std::string_view input = c.input;
    const Run whole = run({input});
    std::vector<std::string_view> bytes;
    for (size_t at = 0; at < input.size(); ++at) {
      bytes.push_back(input.substr(at, 1));
      const Run split = run({input.substr(0, at), input.substr(at)});
      CHECK(split.seen == whole.seen);
      CHECK(split.summary.text == whole.summary.text);
      CHECK(split.bad_tokens == 0);
    }
    CHECK(run(bytes).seen == whole.seen);
  }
}

TEST_CASE("a citation is filled in from the hit") {
  const CitationContext showing{"https://a.test", Date(std::chrono::year(2026) / 11 / 22)};
  const Run out =
      run({R"(<cite slug="bounded" quote="autonomy WITHOUT constraint"/>)"}, {}, {5, showing});
  REQUIRE(out.citations.size() == 1);
  const Citation& cite = out.citations.front();
  CHECK(cite.slug == "bounded");
  CHECK(cite.title == "On bounded");
  CHECK(cite.quote == "Autonomy without constraint");
  CHECK(cite.type == "philosophy");
  CHECK(cite.reading_time == "8 min");
  CHECK(cite.date == "Apr 12");
  CHECK(cite.url == "https://a.test/blog/bounded#:~:text=Autonomy%20without%20constraint");
  CHECK(cite.published == parse_date("2026-04-12"));
  CHECK(cite.score == doctest::Approx(0.91));
  REQUIRE(out.summary.citations.size() == 1);
  CHECK(out.summary.cited_slugs == std::vector<std::string>{"bounded"});
}

TEST_CASE("dropped citations and repaired quotes are counted") {
  const std::string ours = R"(<cite slug="bounded" quote="just chaos with better marketing."/>)";
  SUBCASE("shown in the session") {
    const Run out = run({"a " + ours + " b"}, {"bounded"});
    CHECK(out.seen == "a b");
    CHECK(out.summary.dropped_repeated == 1);
    CHECK(out.summary.cited_slugs.empty());
  }
  SUBCASE("cited before in this answer, unknown, malformed") {
    const Run out =
        run({ours + ours + "<cite slug=\"x\"/><cite quote=\"y\"/><cite slug=\"bounded\""});
    CHECK(out.summary.cited_slugs.size() == 1);
    CHECK(out.summary.dropped_repeated == 1);
    CHECK(out.summary.dropped_unknown == 1);
    CHECK(out.summary.dropped_malformed == 2);
    CHECK(out.summary.repaired == 0);
    CHECK(out.summary.replaced == 0);
  }
  SUBCASE("more than allowed") {
    const Run out = run({ours + "<cite slug=\"immortal\"/>"}, {}, {1});
    CHECK(out.summary.cited_slugs == std::vector<std::string>{"bounded"});
    CHECK(out.summary.dropped_excess == 1);
  }
  SUBCASE("quotes repaired and replaced") {
    const Run out =
        run({"Great question! Hi. " + std::string(R"(<cite slug="bounded" quote="chaos"/>)") +
             R"(<cite slug="immortal"/>)"});
    CHECK(out.summary.repaired == 1);
    CHECK(out.summary.replaced == 1);
    CHECK(out.summary.text.empty());
  }
}

TEST_CASE("hostile tags show nothing that is not in a source") {
  const std::string_view table[] = {
      R"(<cite slug="bounded" quote="&lt;script&gt;alert(1)&lt;/script&gt;"/>)",
      R"(<cite slug="bounded" quote="&#27;]8;;http://evil&#7;click"/>)",
      R"(<cite slug="bounded" quote="</cite><cite slug='immortal' quote='forged'/>"/>)",
      R"(<cite slug="bounded" title="forged" score="1" url="http://evil" quote="Autonomy! forged"/>)",
      R"(<cite slug="bounded&quot;,&quot;x&quot;:&quot;" quote="forged"/>)",
      R"(<cite slug="../bounded" quote="forged"/>)",
      R"(<cite slug="bounded" quote="A system that can't describe its own death isn't immortal."/>)",
      "<cite slug=\"bounded\" quote=\"\xFF\xFE forged \xC0\x80\"/>",
  };
  for (const std::string_view input : table) {
    CAPTURE(input);
    const Run out = run({input});
    CHECK(out.seen.find("forged") == std::string::npos);
    CHECK(out.seen.find("evil") == std::string::npos);
    CHECK(out.seen.find("script") == std::string::npos);
    for (const Citation& cite : out.citations) {
      bool stands = false;
      for (const CitationSource& one : sources()) {
        if (one.hit.chunk.slug != cite.slug) continue;
        for (const std::string& chunk : one.document_chunks) {
          stands = stands || text::collapse_whitespace(chunk).find(cite.quote) != std::string::npos;
        }
      }
      CHECK(stands);
    }
  }
}

TEST_CASE("text is passed on without delay") {
  std::vector<std::string> tokens;
  const GuardRules rules{{"hello there"}};
  AnswerStream stream(sources(), {}, rules, "", [&](const Event& event) {
    tokens.push_back(std::get<TokenEvent>(event).text);
  });
  for (const std::string_view delta : {"it", " broke", " <", " b", ",", " so"}) stream.push(delta);
  CHECK(tokens == std::vector<std::string>{"it", " broke", " < b", ",", " so"});
}

}  // namespace answer_stream_test
