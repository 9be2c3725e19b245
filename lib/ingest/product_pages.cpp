#include "ingest/product_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "text/normalize.h"

namespace stoka::ingest {
namespace {

// Between the hashes of page and entry, and before the path of the entry.
constexpr char kJoint = '+', kFrom = '@';

// An address without what may differ for one page: "https://x.example/a/b.html#c" is "/a/b". Empty
// for the site's own root, which is the page of no product.
std::string place_on_site(std::string_view url) {
  if (size_t scheme = url.find("://"); scheme != std::string_view::npos)
    url.remove_prefix(std::min(url.find('/', scheme + 3), url.size()));
  url = url.substr(0, url.find_first_of("?#"));
  for (std::string_view end : {"index.html", ".html"})
    if (url.ends_with(end)) url.remove_suffix(end.size());
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

std::string_view host_of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

// The page of an entry: by address, else by slug, else by name.
class PageFinder {
 public:
  explicit PageFinder(std::vector<Page>& pages) {
    for (Page& page : pages) {
      const Document& document = page.document;
      const Address address(document);
      if (page.is_entry) {
        ++entries_at_[address.place];
        continue;
      }
      by_place_.try_emplace(address.place, &page);
      if (document.type != "product") continue;
      by_slug_.try_emplace(document.slug, &page);
      by_name_.try_emplace(text::fold(document.title), &page);
    }
  }

  Page* find(const Document& entry) const {
    const Address address(entry);
    // An address that several products share is that of a list.
    if (entries_at_.at(address.place) == 1)
      if (auto at = by_place_.find(address.place);
          at != by_place_.end() && address.is_same(Address(at->second->document)))
        return at->second;
    if (auto at = by_slug_.find(entry.slug); at != by_slug_.end()) return at->second;
    auto at = by_name_.find(text::fold(entry.title));
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  std::map<std::string, Page*> by_place_, by_slug_, by_name_;
  std::map<std::string, size_t> entries_at_;
};

void unite(Page& page, Page& entry) {
  std::string known;
  for (const Block& block : page.blocks) known += text::fold(block.text) + "\n";
  std::erase_if(entry.blocks, [&](const Block& block) {
    return known.find(text::fold(block.text)) != std::string::npos;
  });
  // The title begins a passage that belongs to no section.
  if (!entry.blocks.empty()) page.blocks.push_back({BlockKind::heading, 1, page.document.title});
  std::move(entry.blocks.begin(), entry.blocks.end(), std::back_inserter(page.blocks));

  Document& to = page.document;
  Document& from = entry.document;
  page.entry_slug = from.slug;
  to.type = "product";
  if (to.description.empty()) to.description = std::move(from.description);
  if (to.author.empty()) to.author = std::move(from.author);
  if (!to.date) to.date = from.date;
  for (std::string& tag : from.tags)
    if (std::find(to.tags.begin(), to.tags.end(), tag) == to.tags.end())
      to.tags.push_back(std::move(tag));
  if (!page.explicit_url && entry.explicit_url && from.url.starts_with('/')) to.url = from.url;
  to.content_hash =
      fmt::format("{}{}{}{}{}", to.content_hash, kJoint, from.content_hash, kFrom, from.path);
}

}  // namespace

Address::Address(const Document& document)
    : host(host_of(document.url)),
      place(place_on_site(document.url)),
      is_product(document.type == "product") {}

bool Address::is_same(const Address& other) const {
  if (place.empty() || place != other.place) return false;
  return host == other.host || (is_product && (other.is_product || host.empty())) ||
         (other.is_product && other.host.empty());
}

void Things::add(const Document& document) {
  Address address(document);
  if (address.is_product) {
    product_slugs_.insert(document.slug);
    product_names_.insert(text::fold(document.title));
  }
  std::string place = address.place;
  by_place_.emplace(std::move(place), std::move(address));
}

bool Things::contains(const Document& document) const {
  const Address address(document);
  const auto [begin, end] = by_place_.equal_range(address.place);
  if (std::any_of(begin, end, [&](const auto& other) { return address.is_same(other.second); }))
    return true;
  return address.is_product && (product_slugs_.contains(document.slug) ||
                                product_names_.contains(text::fold(document.title)));
}

void unite_products(std::vector<Page>& pages) {
  PageFinder finder(pages);
  std::vector<bool> done(pages.size(), false);
  for (Page& entry : pages) {
    if (!entry.is_entry) continue;
    Page* page = finder.find(entry.document);
    if (page == nullptr || !entry_path(page->document.content_hash).empty()) continue;
    unite(*page, entry);
    done[static_cast<size_t>(&entry - pages.data())] = true;
  }
  size_t at = 0;
  std::erase_if(pages, [&](const Page&) { return done[at++]; });
}

std::string_view page_hash(std::string_view content_hash) {
  std::string_view hash = content_hash.substr(0, content_hash.find(kJoint));
  return hash.substr(hash.rfind(' ') + 1);  // without a mark in front of it
}

std::string_view entry_hash(std::string_view content_hash) {
  const size_t joint = content_hash.find(kJoint);
  if (joint == std::string_view::npos) return {};
  content_hash.remove_prefix(joint + 1);
  return content_hash.substr(0, content_hash.find(kFrom));
}

std::string hash_without_entry(std::string_view page_hash, std::string_view entry_path) {
  return fmt::format("{}{}{}{}", page_hash, kJoint, kFrom, entry_path);
}

std::string_view entry_path(std::string_view content_hash) {
  size_t from = content_hash.find(kFrom);
  return from == std::string_view::npos ? std::string_view() : content_hash.substr(from + 1);
}

}  // namespace stoka::ingest
