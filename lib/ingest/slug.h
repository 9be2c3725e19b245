#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::ingest {

// Makes a slug in lower case. Letters and digits of any script and the bytes in `keep` stay; every
// run of other characters becomes one '-'. No '-' at either end; at most 128 bytes. May be empty.
std::string slugify(std::string_view text, std::string_view keep = "");

struct SlugRequest {
  std::string slug;
  bool is_explicit = false;          // the author chose the slug
  std::vector<std::string> folders;  // names of folders, outermost first; may become a prefix
  std::string path;         // the path of the file; decides if requests are otherwise equal
  bool is_indexed = false;  // the document is already indexed under this slug
};

// Returns one unique slug for each request, in the order of the requests; the result does not
// depend on that order. A slug that only one document requests is granted. If several request it,
// it goes to the document already indexed under it, otherwise to the first by path whose author
// chose it. Each of the others is prefixed with as many of its folders as it takes to tell them
// apart ("blog-a", "notes-a"), and if that fails, numbered.
std::vector<std::string> unique_slugs(std::span<const SlugRequest> requests);

}  // namespace stoka::ingest
