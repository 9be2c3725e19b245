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
  std::vector<std::string> folders;  // for unique_slugs()
};

// What one file gave.
struct Pages {
  std::vector<Page> pages;
  std::vector<std::string> warnings;  // "PATH: what was mended", for people
  std::vector<Skipped> skipped;       // the file, or parts of it, with the reason
  bool torn = false;  // parts of it could not even be parsed: what they were, nobody knows
};

// Minutes to read so many blocks at 220 words a minute, at least 1. Two characters of a script
// without spaces count as a word.
int reading_minutes(const std::vector<Block>& blocks);

// Settles the slugs of all pages of a run. Addresses stay: a site tells pages apart by folder.
void settle_slugs(std::vector<Page>& pages);

}  // namespace stoka::ingest
