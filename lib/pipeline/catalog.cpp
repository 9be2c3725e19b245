#include "pipeline/catalog.h"

#include "base/url.h"
#include "text/words.h"

namespace stoka::pipeline {
namespace {

// The singular of a folded word. Stems are unsuitable: "stocking" and "stock" have the same one.
std::string singular(std::string_view word) {
  return std::string(word.size() > 2 && word.ends_with('s') && !word.ends_with("ss")
                         ? word.substr(0, word.size() - 1)
                         : word);
}

}  // namespace

Catalog::Catalog(std::vector<store::DocumentInfo> documents, uint64_t generation)
    : documents_(std::move(documents)), generation_(generation) {
  for (size_t i = 0; i < documents_.size(); ++i) {
    const Document& document = documents_[i].document;
    by_slug_[document.slug] = i;
    if (!document.url.empty()) by_url_.emplace(page_path(document.url), i);
  }
}

const Document* Catalog::find(std::string_view slug) const {
  auto found = by_slug_.find(slug);
  return found == by_slug_.end() ? nullptr : &documents_[found->second].document;
}

const Document* Catalog::find_page(std::string_view page) const {
  auto found = by_url_.find(page_path(page));
  if (found != by_url_.end()) return &documents_[found->second].document;
  return find(page_slug(page));
}

std::vector<std::string> Catalog::tags_of(std::string_view slug) const {
  const Document* document = find(slug);
  return document ? document->tags : std::vector<std::string>();
}

void Catalog::collect_words() const {
  const auto collect = [](std::string_view text, std::set<std::string, std::less<>>& words) {
    for (const text::Word& word : text::words(text)) words.insert(singular(word.text));
  };
  for (const store::DocumentInfo& info : documents_) {
    collect(info.document.slug, slug_and_tag_words_);
    for (const std::string& tag : info.document.tags) collect(tag, slug_and_tag_words_);
    collect(info.document.title, title_words_);
  }
}

bool Catalog::is_in_slug_or_tag(std::string_view word) const {
  std::call_once(words_collected_, [this] { collect_words(); });
  return slug_and_tag_words_.contains(singular(word));
}

bool Catalog::is_in_title(std::string_view word) const {
  std::call_once(words_collected_, [this] { collect_words(); });
  return title_words_.contains(singular(word));
}

}  // namespace stoka::pipeline
