#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::ingest {

// Lower case; letters and digits of any script stay, as do the bytes in `keep`; everything else
// becomes one '-'. No '-' at either end; at most 128 bytes. May be empty.
std::string slugify(std::string_view text, std::string_view keep = "");

struct SlugWish {
  std::string slug;                  // what the document would like to be called
  bool is_explicit = false;          // its author said so
  std::vector<std::string> folders;  // that it lies in, outermost first; may be put before the slug
  std::string path;                  // decides between equals
  bool is_held = false;              // it is called so already
};

// One slug for each wish, in the same order, each unique. A wish that nobody else has is granted.
// Of several, the one that holds it already gets the plain slug, else an explicit one (the first by
// path); the others are told apart by
// as many of their folders as it takes ("blog-a", "notes-a"), and at last by a number. Does not
// depend on the order of the wishes.
std::vector<std::string> unique_slugs(std::span<const SlugWish> wishes);

}  // namespace stoka::ingest
