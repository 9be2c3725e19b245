// What a source file is turned into before it is split into chunks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ingest/block.h"
#include "ingest/walk.h"
#include "model/document.h"

namespace stoka::ingest {

struct Page {
  Document document;  // the document; its slug is only a request until assign_slugs() has run
  std::vector<Block> blocks;
  bool has_explicit_slug = false;    // the author chose the slug
  bool has_explicit_url = false;     // the author chose the URL
  bool is_product_entry = false;     // the page is an entry of a products.json
  std::string merged_entry_slug;     // the slug of the product entry that was merged into this page
  std::vector<std::string> folders;  // folder names as in SlugRequest::folders
};

// The result of loading one file.
struct LoadedFile {
  std::vector<Page> pages;
  std::vector<std::string> warnings;    // messages for people: "PATH: what was repaired"
  std::vector<SkippedSource> skipped;   // what was skipped: the whole file, or documents in it
  std::vector<SkippedSource> left_out;  // passages of documents that are otherwise indexed
  // What is known of the documents that their author hides from readers: path and slug, and for
  // products title and URL.
  std::vector<Document> unpublished;
  bool is_incomplete =
      false;  // parts of the file could not be parsed, so their documents are unknown
};

// A message such as "a code block was left out: it is marked secret".
std::string secret_code_reason(size_t blocks);

// How many minutes it takes to read the blocks at 220 words a minute; at least 1. Two characters of
// a script without spaces count as one word.
int reading_minutes(const std::vector<Block>& blocks);

// Gives each page of an index run its final, unique slug, so that a file keeps its slug from one
// run to the next. URLs do not change, because the folders in them already tell pages apart.
//
// `owners` maps each indexed slug to the path of its file. If several pages prefer the same slug,
// the page of the owner gets it. `is_reserved` says whether the document of an indexed slug stays
// in the index even if no page has its path now; such a slug is not given to a page with another
// path.
void assign_slugs(
    std::vector<Page>& pages, const std::map<std::string, std::string>& owners = {},
    const std::function<bool(const std::string& slug, const std::string& path)>& is_reserved = {});

}  // namespace stoka::ingest
