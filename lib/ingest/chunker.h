// From a document's blocks to the chunks that are embedded and searched.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/block.h"
#include "model/document.h"

namespace stoka::ingest {

// Raise it when chunk() or embedding_text() yields something else for the same blocks.
inline constexpr int kChunkerVersion = 2;

// What is put in front of a chunk's content when it is embedded.
enum class PrefixMode { none, title, full };
std::string_view name(PrefixMode mode);
Result<PrefixMode> parse_prefix_mode(std::string_view name);  // "none", "title", "full"

struct ChunkOptions {
  size_t max_tokens = 512;  // of content, the overlap included; at least 16
  size_t overlap_tokens =
      64;  // between neighbours in one section; at most half of max_tokens counts
  PrefixMode prefix = PrefixMode::full;

  // Everything that shapes chunks, e.g. "v2 max=512 overlap=64 prefix=full analysis=2". An index
  // made with another description has to be made again.
  std::string describe() const;
};

// Split at headings of level 1 and 2; the one that repeats the title begins a section without a
// name; within a section at
// paragraphs, then sentences, then words. Deeper headings are paragraphs and stay with what
// follows. Lines of code are indented (text/code_lines.h). A document without text gives one chunk
// of its title, description and headings. Pure.
std::vector<Chunk> chunk(const Document& document, std::span<const Block> blocks,
                         const ChunkOptions& options);

// The text of a chunk as a model embeds it: "[type] title", "Tags: a, b", "Section: s", a blank
// line, content. Lines that would be empty are left out.
std::string embedding_text(const Chunk& chunk, PrefixMode mode);

// Models that were trained on documents in a form of their own get it by a template, in which
// {text} stands for embedding_text(), and {title}, {section}, {tags}, {type} and {content} for that
// part of the chunk: "passage: {text}". A config error for another name in braces, or a template
// without {text} or {content}.
inline constexpr std::string_view kPlainTemplate = "{text}";
Result<> check_document_template(std::string_view pattern);
std::string fill_document_template(std::string_view pattern, const Chunk& chunk, PrefixMode mode);

}  // namespace stoka::ingest
