#include "pipeline/catalog.h"

#include <algorithm>

#include "session/interests.h"
#include "text/normalize.h"

namespace stoka::pipeline {

Catalog::Catalog(std::vector<store::DocumentInfo> documents, uint64_t generation)
    : documents_(std::move(documents)), generation_(generation) {
  for (size_t i = 0; i < documents_.size(); ++i) {
    const Document& document = documents_[i].document;
    by_slug_[document.slug] = i;
    if (!document.url.empty()) by_url_.emplace(session::page_path(document.url), i);
    std::string folded = text::fold(document.slug);
    for (size_t at = 0; at < folded.size();) {
      size_t end = std::min(folded.find_first_of("-_/.", at), folded.size());
      if (end > at) slug_tokens_.insert(folded.substr(at, end - at));
      at = end + 1;
    }
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

bool Catalog::is_slug_token(std::string_view word) const { return slug_tokens_.contains(word); }

}  // namespace stoka::pipeline
