// The list of documents, for questions that are about the site as a whole: which words are slugs,
// which tags a page has, which page a path is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace stoka::pipeline {

class Catalog {
 public:
  Catalog() = default;
  Catalog(std::vector<store::DocumentInfo> documents, uint64_t generation);

  const std::vector<store::DocumentInfo>& documents() const { return documents_; }
  uint64_t generation() const { return generation_; }  // of the index it was read from

  const Document* find(std::string_view slug) const;
  // The document a page path or URL stands for, by its URL or by its last segment.
  const Document* find_page(std::string_view page) const;
  std::vector<std::string> tags_of(std::string_view slug) const;
  // Whether a folded word is one of the hyphen-separated parts of a slug.
  bool is_slug_token(std::string_view word) const;

 private:
  std::vector<store::DocumentInfo> documents_;
  uint64_t generation_ = 0;
  std::map<std::string, size_t, std::less<>> by_slug_;
  std::map<std::string, size_t, std::less<>> by_url_;
  std::set<std::string, std::less<>> slug_tokens_;
};

}  // namespace stoka::pipeline
