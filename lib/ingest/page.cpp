#include "ingest/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ingest/slug.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::ingest {
namespace {

constexpr size_t kWordsPerMinute = 220;

size_t half_words(std::string_view text) {
  size_t halves = 0;
  for (const text::Word& word : text::words(text)) {
    size_t at = word.begin;
    halves += text::is_unspaced(text::next_code_point(text, at)) ? 1 : 2;
  }
  return halves;
}

}  // namespace

std::string secret_code_reason(size_t blocks) {
  if (blocks == 1) return "a code block was left out: it is marked secret";
  return fmt::format("{} code blocks were left out: they are marked secret", blocks);
}

int reading_minutes(const std::vector<Block>& blocks) {
  size_t halves = 0;
  for (const Block& block : blocks) halves += half_words(block.text);
  size_t minutes = (halves + 2 * kWordsPerMinute - 1) / (2 * kWordsPerMinute);
  return static_cast<int>(std::clamp<size_t>(minutes, 1, 10'000));
}

void assign_slugs(
    std::vector<Page>& pages, const std::map<std::string, std::string>& owners,
    const std::function<bool(const std::string& slug, const std::string& path)>& is_reserved) {
  const auto is_owner = [&](const Page& page) {
    const auto owner = owners.find(page.document.slug);
    return owner != owners.end() && owner->second == page.document.path;
  };
  std::vector<SlugRequest> requests;
  requests.reserve(pages.size());
  for (const Page& page : pages)
    requests.push_back({page.document.slug, page.has_explicit_slug, page.folders,
                        page.document.path, is_owner(page)});
  std::vector<std::string> slugs = unique_slugs(requests);
  for (size_t i = 0; i < pages.size(); ++i) pages[i].document.slug = std::move(slugs[i]);

  // A page that has a reserved slug but is not the slug's owner gets another slug.
  std::set<std::string> reserved;
  for (const auto& [slug, path] : owners)
    if (is_reserved(slug, path)) reserved.insert(slug);
  for (const Page& page : pages)
    if (is_owner(page)) reserved.erase(page.document.slug);
  if (reserved.empty()) return;
  std::set<std::string> used = reserved;
  for (const Page& page : pages)
    if (!reserved.contains(page.document.slug)) used.insert(page.document.slug);
  for (Page& page : pages) {
    if (!reserved.contains(page.document.slug)) continue;
    std::string preferred = page.document.slug;
    if (!page.folders.empty()) preferred = page.folders.back() + "-" + preferred;
    std::string slug = preferred;
    for (int n = 2; used.contains(slug); ++n) slug = fmt::format("{}-{}", preferred, n);
    used.insert(slug);
    page.document.slug = slug;
  }
}

}  // namespace stoka::ingest
