// A page of markdown or MDX: the preprocessor, the parser and the chunker.
#include <string>

#include "fuzz/targets.h"
#include "ingest/chunker.h"
#include "ingest/markdown.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using namespace stoka::ingest;

void check_blocks(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    check(!block.text.empty(), "a block is not empty");
    check(text::is_valid_utf8(block.text) && block.text.find('\0') == std::string::npos,
          "a block is UTF-8 without NUL");
    check(
        block.kind == BlockKind::heading ? block.level >= 1 && block.level <= 6 : block.level == 0,
        "a heading has a level from 1 to 6, and no other block has one");
  }
}

void check_chunks(const std::vector<Block>& blocks, const ChunkOptions& options) {
  Document document;
  document.slug = "a-page";
  document.title = "Title";
  const std::vector<Chunk> chunks = chunk(document, blocks, options);
  check(!chunks.empty(), "a page has a chunk");
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& one = chunks[i];
    check(one.index == static_cast<int>(i), "chunks are numbered from 0");
    check(one.slug == document.slug, "a chunk has the slug of its document");
    check(!one.content.empty(), "a chunk is not empty");
    check(text::is_valid_utf8(one.content) && text::is_valid_utf8(one.section),
          "a chunk is valid UTF-8");
    check(text::estimate_tokens(one.content) <= options.max_tokens, "a chunk keeps the limit");
    check(text::is_valid_utf8(embedding_text(one, options.prefix)), "embedded text is valid UTF-8");
  }
}

}  // namespace

void fuzz_markdown(std::string_view input) {
  const std::string page = text::repair_utf8(input);
  for (const Dialect dialect : {Dialect::markdown, Dialect::mdx}) {
    const std::string prepared = preprocess_markdown(page, dialect);
    check(text::is_valid_utf8(prepared), "the prepared page is valid UTF-8");
    check(prepared.size() <= 8 * page.size() + 64, "the preparation adds little");
    const Markdown parsed = parse_markdown(page, dialect);
    check_blocks(parsed.blocks);
    check_chunks(parsed.blocks, {16, 8, PrefixMode::full});
    check_chunks(parsed.blocks, {48, 0, PrefixMode::title});
  }
}

}  // namespace stoka::fuzz
