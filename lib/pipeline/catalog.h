// An in-memory list of the indexed documents, with look-ups by slug, by path and by words of slugs,
// tags and titles.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/index_reader.h"

namespace stoka::pipeline {

// The error for a document that was indexed without an address.
inline constexpr const char* kNoAddress = "that page has no address";

// A catalogue does not change once it is constructed, so any thread may use it.
class Catalog {
 public:
  Catalog() = default;
  Catalog(std::vector<store::DocumentInfo> documents, uint64_t generation);

  const std::vector<store::DocumentInfo>& documents() const { return documents_; }
  uint64_t generation() const { return generation_; }  // the index generation that was read

  const Document* find(std::string_view slug) const;
  // Finds the document with this path or URL, or else the one whose slug is the last segment of it.
  const Document* find_page(std::string_view page) const;
  std::vector<std::string> tags_of(std::string_view slug) const;
  // Whether a folded word, in the singular or the plural, occurs in a slug or tag, or in a title.
  bool is_in_slug_or_tag(std::string_view word) const;
  bool is_in_title(std::string_view word) const;

 private:
  std::vector<store::DocumentInfo> documents_;
  uint64_t generation_ = 0;
  std::map<std::string, size_t, std::less<>> by_slug_;
  std::map<std::string, size_t, std::less<>> by_url_;
  // The words are collected when the first word is looked up, because few questions need them.
  void collect_words() const;
  mutable std::once_flag words_collected_;
  mutable std::set<std::string, std::less<>> slug_and_tag_words_;  // words in the singular
  mutable std::set<std::string, std::less<>> title_words_;
};

}  // namespace stoka::pipeline
