#include "pipeline/catalog.h"

#include "session/interests.h"
#include "text/words.h"

namespace stoka::pipeline {

Catalog::Catalog(std::vector<store::DocumentInfo> documents, uint64_t generation)
    : documents_(std::move(documents)), generation_(generation) {
  for (size_t i = 0; i < documents_.size(); ++i) {
    const Document& document = documents_[i].document;
    by_slug_[document.slug] = i;
    if (!document.url.empty()) by_url_.emplace(session::page_path(document.url), i);
  }
}

const Document* Catalog::find(std::string_view slug) const {
  auto found = by_slug_.find(slug);
  return found == by_slug_.end() ? nullptr : &documents_[found->second].document;
}

const Document* Catalog::find_page(std::string_view page) const {
  auto found = by_url_.find(session::page_path(page));
  if (found != by_url_.end()) return &documents_[found->second].document;
  return find(session::page_slug(page));
}

std::vector<std::string> Catalog::tags_of(std::string_view slug) const {
  const Document* document = find(slug);
  return document ? document->tags : std::vector<std::string>();
}

void Catalog::collect_stems() const {
  const auto collect = [](std::string_view text, std::set<std::string, std::less<>>& stems) {
    for (const text::Word& word : text::words(text)) stems.insert(text::stem(word.text));
  };
  for (const store::DocumentInfo& info : documents_) {
    collect(info.document.slug, name_stems_);
    for (const std::string& tag : info.document.tags) collect(tag, name_stems_);
    collect(info.document.title, title_stems_);
  }
}

bool Catalog::names(std::string_view word) const {
  std::call_once(stems_collected_, [this] { collect_stems(); });
  return name_stems_.contains(text::stem(word));
}

bool Catalog::is_in_a_title(std::string_view word) const {
  std::call_once(stems_collected_, [this] { collect_stems(); });
  return title_stems_.contains(text::stem(word));
}

}  // namespace stoka::pipeline
