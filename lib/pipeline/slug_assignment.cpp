#include "pipeline/slug_assignment.h"

#include <fmt/format.h>

#include <set>

namespace stoka::pipeline {

void assign_slugs(
    std::vector<ingest::Page>& pages, const std::map<std::string, std::string>& owners,
    const std::function<bool(const std::string& slug, const std::string& path)>& is_reserved) {
  const auto is_owner = [&](const ingest::Page& page) {
    const auto owner = owners.find(page.document.slug);
    return owner != owners.end() && owner->second == page.document.path;
  };
  for (ingest::Page& page : pages) page.has_indexed_slug = is_owner(page);
  ingest::assign_slugs(pages);

  // Reserved slugs without a page of their owner. Pages that have one of them get another slug.
  std::set<std::string> reserved;
  for (const auto& [slug, path] : owners)
    if (is_reserved(slug, path)) reserved.insert(slug);
  for (const ingest::Page& page : pages)
    if (is_owner(page)) reserved.erase(page.document.slug);
  if (reserved.empty()) return;
  std::set<std::string> used = reserved;
  for (const ingest::Page& page : pages)
    if (!reserved.contains(page.document.slug)) used.insert(page.document.slug);
  for (ingest::Page& page : pages) {
    if (!reserved.contains(page.document.slug)) continue;
    std::string preferred = page.document.slug;
    if (!page.folders.empty()) preferred = page.folders.back() + "-" + preferred;
    std::string slug = preferred;
    for (int n = 2; used.contains(slug); ++n) slug = fmt::format("{}-{}", preferred, n);
    used.insert(slug);
    page.document.slug = slug;
  }
}

}  // namespace stoka::pipeline
