#include "cite/citation_parser.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace citation_parser_test {

namespace {

using stoka::cite::CitationParser;
using stoka::cite::kMaxTagBytes;
using stoka::cite::TagSink;

// Text and tags in order, tags as "{slug|quote}".
struct Recorder final : TagSink {
  std::string seen;
  size_t empty_texts = 0;
  size_t invalid_texts = 0;

  void text(std::string_view text) override {
    if (text.empty()) ++empty_texts;
    if (!stoka::text::is_valid_utf8(text)) ++invalid_texts;
    seen += text;
  }
  void tag(const std::string& slug, const std::string& quote) override {
    seen += "{" + slug + "|" + quote + "}";
  }
};

struct Outcome {
  std::string seen;
  size_t malformed = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome parse(const std::vector<std::string_view>& pieces) {
  Recorder recorder;
  CitationParser parser(recorder);
  for (const std::string_view piece : pieces) parser.push(piece);
  parser.finish();
  CHECK(recorder.empty_texts == 0);
  CHECK(recorder.invalid_texts == 0);
  return {recorder.seen, parser.malformed()};
}

struct Case {
  std::string_view name;
  std::string input;
  std::string seen;
  size_t malformed = 0;
};

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<Case> cases() {
  return {
      {"nothing", "", ""},
      {"plain text", "no tag here.", "no tag here."},
      {"a tag alone", R"(<cite slug="a" quote="b c"/>)", "{a|b c}"},
      {"a tag in text", R"(x <cite slug="a" quote="b"/> y)", "x {a|b} y"},
      {"a space before the slash", R"(<cite slug="a" quote="b" />)", "{a|b}"},
      {"no slash", R"(<cite slug="a" quote="b">after)", "{a|b}after"},
      {"a pair", R"(<cite slug="a" quote="b"></cite>after)", "{a|b}after"},
      {"a closing tag alone", "x</cite>y", "xy"},
      {"a closing tag with white space", "x</cite \n>y", "xy"},
      {"a closing tag that does not close", "x</cite \nlong", "xlong"},
      {"upper case", R"(<CITE SLUG="A" Quote="B"/></CiTe>)", "{A|B}"},
      {"quote first", R"(<cite quote="b" slug="a"/>)", "{a|b}"},
      {"single quotes", "<cite slug='a' quote='say \"no\"'/>", "{a|say \"no\"}"},
      {"typographic quotes", "<cite slug=\u201Ca\u201D quote=\u201Cb > c\u2019s d\u201D/>x",
       "{a|b > c\u2019s d}x"},
      {"typographic quotes without a bracket", "<cite slug=\u201Ca\u201D quote=\u201Cb c\u201D/>x",
       "{a|b c}x"},
      {"a typographic quote closed by a straight one", "<cite slug=\u201Ca\" quote=\u201Cb c\"/>x",
       "{a|b c}x"},
      {"bare values", "<cite slug=a/b quote=c/>x", "{a/b|c}x"},
      {"white space around =", "<cite slug = \"a\"\n quote\t=\n'b'/>", "{a|b}"},
      {"no white space between", R"(<cite slug="a"quote="b"/>)", "{a|b}"},
      {"a slash for white space", R"(<cite/slug="a"/>)", "{a|}"},
      {"line break inside the name's white space", "<cite\r\nslug=\"a\"\r\nquote=\"b\"\r\n/>",
       "{a|b}"},
      {"line breaks in the quote", "<cite slug=\"a\" quote=\"b\n       c\r\n\td \"/>", "{a|b c d}"},
      {"unknown attributes", R"(<cite class="x" slug="a" data-quote="no" quote="b" hidden/>)",
       "{a|b}"},
      {"the first of two counts", R"(<cite slug="a" slug="b" quote="c" quote="d"/>)", "{a|c}"},
      {"a bracket in the quote", R"(<cite slug="a" quote="b > c /> d"/>e)", "{a|b > c /> d}e"},
      {"entities",
       R"(<cite slug="a&amp;b" quote="&quot;x&#39;s &lt;y&gt;&#x2019;&mdash;&hellip;&apos;"/>)",
       "{a&b|\"x's <y>\u2019\u2014\u2026'}"},
      {"what only looks like an entity", R"(<cite slug="a" quote="R&D & co; &nope; &#xZZ; &"/>)",
       "{a|R&D & co; &nope; &#xZZ; &}"},
      {"impossible entities", R"(<cite slug="a" quote="&#0;&#xD800;&#x110000;&#99999999999;"/>)",
       "{a|\uFFFD\uFFFD\uFFFD\uFFFD}"},
      {"a control character by entity", R"(<cite slug="a" quote="x&#27;[2Jy"/>)", "{a|x [2Jy}"},
      {"an escaped quote", R"(<cite slug="a" quote="say \"a > b\" now"/>x)",
       R"({a|say "a > b" now}x)"},
      {"an unescaped quote inside", R"(<cite slug="a" quote="say "no" twice"/>x)", "{a|say}x"},
      {"UTF-8 in text and quote", "é😀<cite slug=\"a\" quote=\"naïve 😀 ü\"/>ø", "é😀{a|naïve 😀 ü}ø"},
      {"no quote", R"(<cite slug="a"/>)", "{a|}"},
      {"an empty quote", R"(<cite slug="a" quote=""/>)", "{a|}"},
      {"no slug", R"(x<cite quote="b"/>y)", "xy", 1},
      {"an empty slug", R"(x<cite slug="  " quote="b"/>y)", "xy", 1},
      {"a slug without value", "x<cite slug/>y", "xy", 1},
      {"no attributes", "x<cite>y</cite>z<cite/>", "xyz", 2},
      {"two tags in a row", R"(<cite slug="a"/><cite slug="b"/>)", "{a|}{b|}"},
      {"less than", "a < b and b<c, <3 <= <citation> <cited> </citation> <cites/>",
       "a < b and b<c, <3 <= <citation> <cited> </citation> <cites/>"},
      {"many brackets", "<<<cite slug=\"a\"/>>> <</ </c <c <ci <cit <cit<cite slug='b'>",
       "<<{a|}>> <</ </c <c <ci <cit <cit{b|}"},
      {"a space inside the bracket", "a < cite", "a < cite"},
      {"a slash in the middle", "<c/ite>", "<c/ite>"},
      {"cut after the bracket", "x <", "x "},
      {"cut in the name", "x <ci", "x ", 1},
      {"cut after the name", "x <cite", "x ", 1},
      {"cut in the closing name", "x </ci", "x "},
      {"cut in the slug", R"(x <cite slug="a)", "x ", 1},
      {"cut in the quote", R"(x <cite slug="a" quote="b c)", "x ", 1},
      {"cut before the bracket", R"(x <cite slug="a" quote="b"/)", "x ", 1},
      {"a quote that never closes, then a tag",
       R"(x <cite slug="a" quote="b c <cite slug="d" quote="e"/>y)", "x {d|e}y", 1},
      {"a tag inside a tag", "x <cite slug=a <cite slug=b/>y", "x {b|}y", 1},
      {"a name like the tag's inside a quote", R"(<cite slug="a" quote="<cited <cit <CITE"/>y)",
       "{a|<cited <cit <CITE}y"},
      {"the longest tag",
       "<cite slug=\"a\" quote=\"" + std::string(kMaxTagBytes - 23, 'q') + "\">y",
       "{a|" + std::string(kMaxTagBytes - 23, 'q') + "}y"},
      {"a byte too long",
       "<cite slug=\"a\" quote=\"" + std::string(kMaxTagBytes - 22, 'q') + "\">y", "y", 1},
      {"far too long, then closed", "x<cite slug=\"a\" quote=\"" + repeat("q > ", 700) + "\"/>y",
       "xy", 1},
      {"far too long without quotes", "x<cite " + repeat("q ", 1500) + ">y", "xy", 1},
      {"never closed", "x<cite slug=\"a\" quote=\"" + std::string(3 * kMaxTagBytes, 'q') + "y",
       "x" + std::string(kMaxTagBytes + 21, 'q') + "y", 1},
      {"invalid bytes in text",
       "a\xFF"
       "b\xC3(\xED\xA0\x80\xE2\x82",
       "a\uFFFDb\uFFFD(\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"a cut sequence before a tag", "a\xF0\x9F\x98<cite slug=\"a\"/>b", "a\uFFFD{a|}b"},
      {"invalid bytes in a quote",
       "<cite slug=\"a\" quote=\"b\xFF"
       "c\xE2\x82\"/>",
       "{a|b\uFFFDc\uFFFD}"},
      {"NUL bytes in a quote", std::string("<cite slug=\"a\" quote=\"b\0c\"/>", 28), "{a|b c}"},
  };
}

}  // namespace

TEST_CASE("text and tags are separated") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const Outcome outcome = parse({c.input});
    CHECK(outcome.seen == c.seen);
    CHECK(outcome.malformed == c.malformed);
  }
}

TEST_CASE("the result does not depend on how the stream is split") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const std::string_view input = c.input;
    const Outcome whole = parse({input});
    std::vector<std::string_view> bytes;
    for (size_t at = 0; at < input.size(); ++at) {
      bytes.push_back(input.substr(at, 1));
      const Outcome split = parse({input.substr(0, at), input.substr(at)});
      if (!(split == whole)) FAIL_CHECK("split at " << at << ": " << split.seen);
    }
    CHECK(parse(bytes) == whole);
  }
}

TEST_CASE("a stream that breaks off shows nothing of an incomplete tag") {
  const std::string_view input =
      "say <cite slug=\"a\" quote=\"b > c\"/> and <CITE quote='x' slug=y></cite> end";
  const std::string visible = "say  and  end";
  for (size_t at = 0; at <= input.size(); ++at) {
    CAPTURE(at);
    std::string seen = parse({input.substr(0, at)}).seen;
    for (size_t open; (open = seen.find('{')) != std::string::npos;) {
      seen.erase(open, seen.find('}') - open + 1);
    }
    CHECK(visible.starts_with(seen));
  }
}

TEST_CASE("text that cannot be part of a tag is not held back") {
  struct Step {
    std::string_view push;
    std::string_view seen;
  };
  Recorder recorder;
  CitationParser parser(recorder);
  const Step steps[] = {{"a <", "a "},
                        {" b", "a < b"},
                        {" <ci", "a < b "},
                        {"d", "a < b <cid"},
                        {"</", "a < b <cid"},
                        {"/", "a < b <cid<//"},
                        {"\xE2\x82", "a < b <cid<//"},
                        {"\xAC", "a < b <cid<//€"}};
  for (const auto& [push, seen] : steps) {
    parser.push(push);
    CHECK(recorder.seen == seen);
  }
}

}  // namespace citation_parser_test
