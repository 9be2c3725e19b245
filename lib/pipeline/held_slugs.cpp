#include "pipeline/held_slugs.h"

#include <fmt/format.h>

#include <set>

namespace stoka::pipeline {

void settle_held_slugs(
    std::vector<ingest::Page>& pages, const std::map<std::string, std::string>& holders,
    const std::function<bool(const std::string& slug, const std::string& path)>& stays) {
  const auto holds = [&](const ingest::Page& page) {
    const auto holder = holders.find(page.document.slug);
    return holder != holders.end() && holder->second == page.document.path;
  };
  for (ingest::Page& page : pages) page.holds_slug = holds(page);
  ingest::settle_slugs(pages);

  std::set<std::string> taken;
  for (const auto& [slug, path] : holders)
    if (stays(slug, path)) taken.insert(slug);
  for (const ingest::Page& page : pages)
    if (holds(page)) taken.erase(page.document.slug);
  if (taken.empty()) return;
  std::set<std::string> used = taken;
  for (const ingest::Page& page : pages)
    if (!taken.contains(page.document.slug)) used.insert(page.document.slug);
  for (ingest::Page& page : pages) {
    if (!taken.contains(page.document.slug)) continue;
    std::string wish = page.document.slug;
    if (!page.folders.empty()) wish = page.folders.back() + "-" + wish;
    std::string slug = wish;
    for (int n = 2; used.contains(slug); ++n) slug = fmt::format("{}-{}", wish, n);
    used.insert(slug);
    page.document.slug = slug;
  }
}

}  // namespace stoka::pipeline
