#include "ingest/chunker.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "ingest/markdown.h"
#include "text/tokens.h"
#include "text/utf8.h"
#include "text/words.h"

namespace chunker_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

Document document(std::string title) {
  Document out;
  out.slug = "a-page";
  out.title = std::move(title);
  out.type = "blog";
  out.tags = {"x", "y"};
  out.description = "What it is about.";
  return out;
}

std::vector<Chunk> chunks_of(std::string_view markdown, ChunkOptions options = {}) {
  return chunk(document("Title"), parse_markdown(markdown).blocks, options);
}

std::string flat(const std::vector<Chunk>& chunks) {
  std::string out;
  for (const Chunk& c : chunks) out += "[" + c.section + "] " + c.content + " ";
  return out;
}

std::string sentences(int from, int to, int words = 9) {
  std::string out;
  for (int i = from; i < to; ++i) {
    if (i > from) out += ' ';
    out += "Sentence" + std::to_string(i);
    for (int w = 1; w < words; ++w) out += " word";
    out += ".";
  }
  return out;
}

}  // namespace

TEST_CASE("sections begin at headings of level 1 and 2") {
  CHECK(flat(chunks_of("# Title\n\nopening\n\n## One\n\nfirst\n\n### Deep\n\nsecond\n\n## "
                       "Empty\n\n## Two\n\nthird")) ==
        "[] opening [One] first\n\nDeep\n\nsecond [Two] third ");
  CHECK(flat(chunks_of("# Title\n\nopening\n\n## One\n\nfirst\n\n# Title\n\nsecond")) ==
        "[] opening [One] first [] second ");
  CHECK(flat(chunks_of("# Another\n\nx\n\n# More\n\ny")) == "[Another] x [More] y ");
  CHECK(flat(chunks_of("# TITLE\n\nx\n\n```\n## no heading\n```\n")) ==
        "[] x\n\n    ## no heading ");
  CHECK(flat(chunks_of("## Same\n\na\n\n## Same\n\nb")) == "[Same] a [Same] b ");
}

TEST_CASE("chunks contain the metadata of their document") {
  auto chunks = chunks_of("opening\n\n## One\n\nfirst");
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[1].index == 1);
  CHECK(chunks[1].slug == "a-page");
  CHECK(chunks[1].title == "Title");
  CHECK(chunks[1].type == "blog");
  CHECK(chunks[1].has_tag("y"));
}

TEST_CASE("a document without text has one chunk of its title, description and headings") {
  CHECK(flat(chunks_of("")) == "[] Title\n\nWhat it is about. ");
  CHECK(flat(chunks_of("# Title\n\n## One\n\n## Two")) ==
        "[] Title\n\nWhat it is about.\n\nOne\n\nTwo ");
}

TEST_CASE("a section is split between paragraphs, with whole sentences as overlap") {
  ChunkOptions options{64, 15, PrefixMode::full};
  auto chunks = chunks_of(sentences(0, 4) + "\n\n" + sentences(4, 8), options);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].content == sentences(0, 4));
  CHECK(chunks[1].content == sentences(3, 4) + "\n\n" + sentences(4, 8));
}

TEST_CASE("a paragraph that exceeds the limit is split between sentences") {
  ChunkOptions options{60, 0, PrefixMode::full};
  auto chunks = chunks_of(sentences(0, 10), options);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].content == sentences(0, 5));
  CHECK(chunks[1].content == sentences(5, 10));
}

TEST_CASE("chunks of different sections do not overlap") {
  ChunkOptions options{60, 30, PrefixMode::full};
  auto chunks =
      chunks_of("## A\n\n" + sentences(0, 4) + "\n\n## B\n\n" + sentences(10, 14), options);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[1].content == sentences(10, 14));
}

TEST_CASE("a deeper heading is in the same chunk as its text") {
  ChunkOptions options{60, 0, PrefixMode::full};
  auto chunks = chunks_of(sentences(0, 4) + "\n\n### Deep\n\n" + sentences(4, 7), options);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].content == sentences(0, 4));
  CHECK(chunks[1].content == "Deep\n\n" + sentences(4, 7));
}

TEST_CASE("chunks of random pages keep the token limit and lose no word") {
  std::mt19937 random(7);
  std::string_view parts[] = {"word",
                              "Ends.",
                              "longerword",
                              "数据库索引是什么。",
                              "naïve",
                              "x=1;",
                              "\n\n",
                              "\n\n## Head\n\n",
                              "\n\n- item ",
                              "\n\n```\ncode line\n\nmore\n```\n\n",
                              "“Quoted.”",
                              "averyveryverylongwordthatgoesonandonandonandon",
                              "12345678901234567890",
                              "\n\n### Deep\n\n",
                              "😀",
                              "a-b_c/d.e"};
  for (int round = 0; round < 60; ++round) {
    std::string page;
    for (int i = 0; i < 400; ++i) page += std::string(parts[random() % std::size(parts)]) + " ";
    if (round % 10 == 0) page += std::string(3000, 'q') + " " + std::string(900, '7');
    ChunkOptions options{16 + random() % 100, random() % 70, PrefixMode::full};
    auto blocks = parse_markdown(page).blocks;
    auto chunks = chunk(document("Title"), blocks, options);
    std::multiset<std::string> wanted;
    std::string all;
    for (size_t i = 0; i < chunks.size(); ++i) {
      CAPTURE(round);
      REQUIRE(chunks[i].index == static_cast<int>(i));
      REQUIRE(!chunks[i].content.empty());
      REQUIRE(text::is_valid_utf8(chunks[i].content));
      REQUIRE(text::estimate_tokens(chunks[i].content) <= options.max_tokens);
      all += chunks[i].content + "\n\n" + chunks[i].section + "\n\n";
    }
    std::set<std::string> found;
    for (const auto& word : text::words(all)) found.insert(word.text);
    for (const Block& block : blocks)
      for (const auto& word : text::words(block.text)) {
        // Only words longer than a chunk, and CJK pairs at a boundary, may be divided.
        if (word.text.size() > 16 || static_cast<unsigned char>(word.text[0]) >= 0xE0) continue;
        CAPTURE(word.text);
        REQUIRE(found.contains(word.text));
      }
  }
}

TEST_CASE("chunking is deterministic, and its options are described") {
  std::string page = sentences(0, 200) + "\n\n## B\n\n" + sentences(0, 50);
  auto first = chunks_of(page), second = chunks_of(page);
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) CHECK(first[i].content == second[i].content);
  CHECK(ChunkOptions{}.describe() == "v2 max=512 overlap=64 prefix=full analysis=2");
  CHECK(ChunkOptions{256, 0, PrefixMode::none}.describe() ==
        "v2 max=256 overlap=0 prefix=none analysis=2");
}

TEST_CASE("the embedded text has the prefix of its mode") {
  Chunk c;
  c.type = "blog";
  c.title = "T";
  c.content = "text";
  c.section = "S";
  c.tags = {"a", "b"};
  CHECK(embedding_text(c, PrefixMode::full) == "[blog] T\nTags: a, b\nSection: S\n\ntext");
  CHECK(embedding_text(c, PrefixMode::title) == "[blog] T\n\ntext");
  CHECK(embedding_text(c, PrefixMode::none) == "text");
  c.section.clear();
  c.tags.clear();
  CHECK(embedding_text(c, PrefixMode::full) == "[blog] T\n\ntext");
  CHECK(parse_prefix_mode("title") == PrefixMode::title);
  CHECK_FALSE(parse_prefix_mode("Full").has_value());
}

}  // namespace chunker_test
