// Splits a document into the chunks that are embedded and searched.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/block.h"
#include "model/document.h"

namespace stoka::ingest {

// The version of the chunker. Raise it when chunk() or embedding_text() returns other text.
inline constexpr int kChunkerVersion = 2;

// The text that precedes the content of a chunk when it is embedded.
enum class PrefixMode { none, title, full };
std::string_view to_string(PrefixMode mode);
Result<PrefixMode> parse_prefix_mode(std::string_view text);  // parses "none", "title" or "full"

struct ChunkOptions {
  size_t max_tokens = 512;  // the most tokens of a chunk's content, with the overlap; at least 16
  size_t overlap_tokens =
      64;  // tokens repeated from the previous chunk of a section; at most max_tokens/2
  PrefixMode prefix = PrefixMode::full;

  // All options and versions that shape chunks: "v2 max=512 overlap=64 prefix=full analysis=2". An
  // index whose description differs must be rebuilt.
  std::string describe() const;
};

// Splits the document into sections at headings of level 1 and 2, and each section into chunks, at
// paragraphs if possible, otherwise at sentences, otherwise at words. A heading that repeats the
// title begins a section without a name. Deeper headings are kept with the paragraph that follows
// them. Lines of code are indented (text/code_lines.h). A document without text becomes one chunk
// of its title, description and headings. Pure.
std::vector<Chunk> chunk(const Document& document, std::span<const Block> blocks,
                         const ChunkOptions& options);

// The text that is embedded for a chunk: the lines "[type] title", "Tags: a, b" and "Section: s", a
// blank line, and the content. Lines without a value are left out.
std::string embedding_text(const Chunk& chunk, PrefixMode mode);

// Some models were trained on documents in a form of their own, such as "passage: {text}". In a
// template {text} stands for embedding_text(); {title}, {section}, {tags}, {type} and {content}
// stand for that part of the chunk. Another name in braces, or a template with neither {text} nor
// {content}, is a config error.
inline constexpr std::string_view kDefaultDocumentTemplate = "{text}";
Result<> check_document_template(std::string_view pattern);
std::string fill_document_template(std::string_view pattern, const Chunk& chunk, PrefixMode mode);

}  // namespace stoka::ingest
