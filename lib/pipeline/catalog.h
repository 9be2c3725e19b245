// The list of documents, for questions that are about the site as a whole: which words
// name its pages, which tags a page has, which page a path is.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace stoka::pipeline {

// Thread safe once it is made.
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
  // Whether a folded word, in the singular or the plural, is part of a slug or a tag, or of a
  // title.
  bool names(std::string_view word) const;
  bool is_in_a_title(std::string_view word) const;

 private:
  std::vector<store::DocumentInfo> documents_;
  uint64_t generation_ = 0;
  std::map<std::string, size_t, std::less<>> by_slug_;
  std::map<std::string, size_t, std::less<>> by_url_;
  // In the singular. Few questions ask for them, so they are collected for the first that does.
  void collect_words() const;
  mutable std::once_flag words_collected_;
  mutable std::set<std::string, std::less<>> name_words_;
  mutable std::set<std::string, std::less<>> title_words_;
};

}  // namespace stoka::pipeline
