#include "ingest/markdown_page.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "ingest/frontmatter.h"
#include "ingest/markdown.h"
#include "ingest/path_metadata.h"
#include "ingest/slug.h"
#include "text/normalize.h"

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

LoadedFile read_markdown(const SourceBytes& source, RepairReport& repairs) {
  LoadedFile out;
  const std::optional<std::string> text = read_text(source, "", repairs, out);
  if (!text) return out;
  std::string path = display_path(source.file.path);
  FrontmatterSplit split = split_frontmatter(*text);
  Frontmatter meta = parse_frontmatter(split);
  const auto warn = [&](std::string_view what) {
    out.warnings.push_back(fmt::format("{}: {}", path, what));
  };
  for (const std::string& warning : meta.warnings) warn(warning);
  if (!meta.unpublished.empty()) {
    out.skipped.push_back({path, meta.unpublished, SkipKind::unpublished});
    return out;
  }
  bool mdx = text::fold(source.file.path.extension().string()) == ".mdx";
  Markdown markdown = parse_markdown(split.body, mdx ? Dialect::mdx : Dialect::markdown);
  if (markdown.plain) warn("markdown is too complex; read as plain paragraphs");
  if (markdown.blocks.empty() && meta.title.empty() && meta.description.empty()) {
    if (markdown.secret_code > 0)
      out.skipped.push_back({path, "all of its text is marked secret", SkipKind::unpublished});
    else
      out.skipped.push_back({path, "empty"});
    return out;
  }
  if (markdown.secret_code > 0)
    out.left_out.push_back({path, secret_code_reason(markdown.secret_code)});

  PathMetadata metadata = path_metadata(source.file);
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
  set_metadata(document, meta);
  if (!document.date) document.date = metadata.date;
  if (!document.date) document.date = permalink_date(meta.permalink);
  document.reading_minutes = meta.reading_minutes.value_or(reading_minutes(markdown.blocks));
  // Type and URL may come from the path, and chunks contain them, so they are part of the hash.
  document.content_hash = content_hash(fmt::format(
      "{}\n{}\n{}\n{}", source.bytes, source.chunk_options, document.type, document.url));
  page.blocks = std::move(markdown.blocks);
  page.folders = metadata.folders;
  // The slug of an index page is already the name of its folder.
  if (metadata.is_index && !page.folders.empty()) page.folders.pop_back();
  out.pages.push_back(std::move(page));
  return out;
}

}  // namespace stoka::ingest
