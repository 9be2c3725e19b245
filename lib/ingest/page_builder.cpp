#include "ingest/page_builder.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "ingest/path_metadata.h"
#include "ingest/slug.h"

namespace stoka::ingest {
namespace {

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

}  // namespace

Page build_page(const SourceBytes& source, const Frontmatter& meta, std::vector<Block> blocks) {
  PathMetadata metadata = path_metadata(source.file);
  const Block* heading = first_heading(blocks);
  Page page;
  Document& document = page.document;
  document.path = display_path(source.file.path);
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
  set_metadata(document, meta);
  if (!document.date) document.date = metadata.date;
  if (!document.date) document.date = permalink_date(meta.permalink);
  document.reading_minutes = meta.reading_minutes.value_or(reading_minutes(blocks));
  // Type and URL may come from the path, and chunks contain them, so they are part of the hash.
  document.content_hash = content_hash(fmt::format(
      "{}\n{}\n{}\n{}", source.bytes, source.chunk_options, document.type, document.url));
  page.blocks = std::move(blocks);
  page.folders = metadata.folders;
  // The slug of an index page is the name of its folder, so that folder is no prefix for the slug.
  if (metadata.is_index && !page.folders.empty()) page.folders.pop_back();
  return page;
}

}  // namespace stoka::ingest
