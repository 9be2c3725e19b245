#include "ingest/loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "ingest/corpus.h"
#include "ingest/frontmatter.h"
#include "ingest/markdown.h"
#include "ingest/path_metadata.h"
#include "ingest/products.h"
#include "ingest/slug.h"
#include "ingest/text_repair.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

void warn(LoadedFile& out, const std::string& path, std::string what) {
  out.warnings.push_back(fmt::format("{}: {}", path, what));
}

// A control character that is written as a character reference or an escape appears only after
// parsing, so the parsed text is cleaned again. Returns how many were found.
size_t remove_controls(LoadedFile& out) {
  size_t found = 0;
  const auto clean = [&](std::string& text) { text = text::replace_controls(text, {}, &found); };
  for (Page& page : out.pages) {
    Document& document = page.document;
    for (std::string* field : {&document.slug, &document.title, &document.type, &document.url,
                               &document.description, &document.author})
      clean(*field);
    if (document.title.empty()) document.title = document.slug;
    for (std::string& tag : document.tags) clean(tag);
    std::erase(document.tags, "");
    for (Block& block : page.blocks) clean(block.text);
    std::erase_if(page.blocks, [](const Block& block) { return block.text.empty(); });
  }
  for (std::string& warning : out.warnings) warning = text::replace_controls(warning);
  for (SkippedSource& skipped : out.left_out)
    skipped.reason = text::replace_controls(skipped.reason);
  for (SkippedSource& skipped : out.skipped)
    skipped.reason = text::replace_controls(skipped.reason);
  return found;
}

const Block* first_heading(const std::vector<Block>& blocks) {
  for (const Block& block : blocks)
    if (block.kind == BlockKind::heading) return &block;
  return nullptr;
}

std::string first_non_empty(std::initializer_list<std::string> candidates) {
  for (const std::string& candidate : candidates)
    if (!candidate.empty()) return candidate;
  return {};
}

std::string type_of(const Frontmatter& meta, const std::string& slug,
                    const PathMetadata& metadata) {
  std::string written = slugify(meta.type);
  if (written == "post" || written == "posts" || written == "article") written = "blog";
  if (!written.empty()) return written;
  if (slug.starts_with("philosophy-")) return "philosophy";
  return metadata.type.empty() ? "blog" : metadata.type;
}

// The permalink as a URL: "/a/b/", "https://…" and Zola's "a/b". Empty for patterns and other text.
std::string url_of(const Frontmatter& meta) {
  const std::string& permalink = meta.permalink;
  bool is_pattern = permalink.find(":year") != std::string::npos ||
                    permalink.find(":title") != std::string::npos ||
                    permalink.find("{") != std::string::npos;
  if (permalink.empty() || is_pattern) return {};
  bool is_complete =
      permalink[0] == '/' || permalink.starts_with("https://") || permalink.starts_with("http://");
  if (is_complete) return permalink;
  return permalink.find(':') == std::string::npos ? "/" + permalink : std::string();
}

void load_markdown(const SourceFile& file, std::string_view text, std::string_view identity,
                   LoadedFile& out) {
  std::string path = display_path(file.path);
  FrontmatterSplit split = split_frontmatter(text);
  Frontmatter meta = parse_frontmatter(split);
  for (const std::string& warning : meta.warnings) warn(out, path, warning);
  if (!meta.unpublished.empty()) {
    out.skipped.push_back({path, meta.unpublished, SkipKind::unpublished});
    return;
  }
  bool mdx = text::fold(file.path.extension().string()) == ".mdx";
  Markdown markdown = parse_markdown(split.body, mdx ? Dialect::mdx : Dialect::markdown);
  if (markdown.plain) warn(out, path, "markdown is too complex; read as plain paragraphs");
  if (markdown.blocks.empty() && meta.title.empty() && meta.description.empty()) {
    if (markdown.secret_code > 0)
      out.skipped.push_back({path, "all of its text is marked secret", SkipKind::unpublished});
    else
      out.skipped.push_back({path, "empty"});
    return;
  }
  if (markdown.secret_code > 0)
    out.left_out.push_back({path, secret_code_reason(markdown.secret_code)});

  PathMetadata metadata = path_metadata(file);
  const Block* heading = first_heading(markdown.blocks);
  Page page;
  Document& document = page.document;
  document.path = path;
  std::string own_slug =
      slugify(meta.slug.substr(meta.slug.find_last_of('/', meta.slug.size() - 2) + 1), "._~");
  page.has_explicit_slug = !own_slug.empty();
  document.title = first_non_empty({meta.title, heading ? heading->text : "", metadata.title});
  document.slug = first_non_empty(
      {own_slug, permalink_slug(meta.permalink), metadata.slug, slugify(document.title), "page"});
  document.type = type_of(meta, document.slug, metadata);
  document.url = url_of(meta);
  page.has_explicit_url = !document.url.empty();
  if (document.url.empty()) document.url = default_url(metadata, document.slug);
  document.description = meta.description;
  document.author = meta.author;
  document.tags = meta.tags;
  document.date = meta.date;
  if (!document.date) document.date = metadata.date;
  if (!document.date) document.date = permalink_date(meta.permalink);
  document.reading_minutes = meta.reading_minutes.value_or(reading_minutes(markdown.blocks));
  // Type and URL may come from the path, and chunks contain them, so they are part of the hash.
  document.content_hash =
      content_hash(fmt::format("{}\n{}\n{}", identity, document.type, document.url));
  page.blocks = std::move(markdown.blocks);
  page.folders = metadata.folders;
  // The slug of an index page is already the name of its folder.
  if (metadata.is_index && !page.folders.empty()) page.folders.pop_back();
  out.pages.push_back(std::move(page));
}

LoadedFile load_text(const SourceFile& file, std::string_view bytes, std::string_view chunk_options,
                     RepairReport& repairs) {
  LoadedFile out;
  const bool json = file.kind == SourceKind::products;
  const std::optional<std::string> decoded = convert_to_utf8(bytes, repairs);
  // A JSON string may not contain line breaks, so a control character becomes a space there.
  const std::optional<std::string> text =
      repair_text(decoded ? std::string_view(*decoded) : bytes, json ? " " : "", repairs);
  if (!text) {
    out.skipped.push_back({display_path(file.path), "binary, not text"});
  } else if (text::collapse_whitespace(std::string_view(*text).substr(0, 4096)).empty() &&
             text::collapse_whitespace(*text).empty()) {
    out.skipped.push_back({display_path(file.path), "empty"});
  } else if (json) {
    out = read_products(file, *text, chunk_options);
  } else {
    load_markdown(file, *text, fmt::format("{}\n{}", bytes, chunk_options), out);
  }
  return out;
}

}  // namespace

LoadedFile load_bytes(const SourceFile& file, std::string_view bytes,
                      std::string_view chunk_options) {
  RepairReport repairs;
  LoadedFile out = file.kind == SourceKind::corpus
                       ? read_corpus(file, bytes, chunk_options, repairs)
                       : load_text(file, bytes, chunk_options, repairs);
  repairs.control_characters += remove_controls(out);
  for (const std::string& what : repairs.describe()) warn(out, display_path(file.path), what);
  return out;
}

LoadedFile load(const SourceFile& file, std::string_view chunk_options) {
  const uint64_t limit = file.kind == SourceKind::corpus ? kMaxCorpusBytes : kMaxFileBytes;
  auto bytes = read_file(file.path, limit);
  if (bytes) return load_bytes(file, *bytes, chunk_options);
  std::error_code error;
  auto size = std::filesystem::file_size(file.path, error);
  bool is_large = !error && size > limit;
  std::string reason =
      is_large ? fmt::format("larger than {} MB", limit >> 20) : bytes.error().message;
  LoadedFile out;
  out.skipped.push_back({display_path(file.path), std::move(reason)});
  return out;
}

}  // namespace stoka::ingest
