#include "ingest/markdown_page.h"

#include <fmt/format.h>

#include "ingest/frontmatter.h"
#include "ingest/markdown.h"
#include "ingest/page_builder.h"
#include "text/normalize.h"

namespace stoka::ingest {

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

  out.pages.push_back(build_page(source, meta, std::move(markdown.blocks)));
  return out;
}

}  // namespace stoka::ingest
