// A source file as documents.
#pragma once

#include <string>
#include <vector>

#include "ingest/block.h"
#include "ingest/walk.h"
#include "model/document.h"

namespace stoka::ingest {

struct Page {
  Document document;  // its slug is a wish until unique_slugs() has settled all of them
  std::vector<Block> blocks;
  bool explicit_slug = false;
  bool explicit_url = false;
  bool is_entry = false;             // of a products.json
  bool holds_slug = false;           // it is indexed under the slug it wishes for
  std::string entry_slug;            // that the entry united with this page wished for
  std::vector<std::string> folders;  // for unique_slugs()
};

// What one file gave.
struct Pages {
  std::vector<Page> pages;
  std::vector<std::string> warnings;  // "PATH: what was mended", for people
  std::vector<Skipped> skipped;       // the file, or documents in it, with the reason
  std::vector<Skipped> left_out;      // passages of a document that is there, with the reason
  // What is known of documents in this file that their author keeps from readers: path and slug, of
  // products also title and address.
  std::vector<Document> unpublished;
  bool torn = false;  // parts of it could not even be parsed: what they were, nobody knows
};

// "a code block was left out: it is marked secret".
std::string secret_code_reason(size_t blocks);

// Minutes to read so many blocks at 220 words a minute, at least 1. Two characters of a script
// without spaces count as a word.
int reading_minutes(const std::vector<Block>& blocks);

// Settles the slugs of all pages of a run. Addresses stay: a site tells pages apart by folder.
void settle_slugs(std::vector<Page>& pages);

}  // namespace stoka::ingest
