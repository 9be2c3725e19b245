// Documents with a version number, for tests whose index writer is killed or interrupted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/corpus.h"

namespace stoka::store {

// Version n of a document: its chunks, sections and terms depend on n.
std::vector<ChunkRecord> versioned_chunks(const std::string& slug, int n);
Document versioned_document(const std::string& slug, int n);

// Checks that every document is complete and of one version, and that totals and searches agree.
void check_consistency(Store& store);

// Opens the store and puts and removes versions from `first` on, until something fails or `go_on`,
// which is called after each of them, returns false.
void write_versions(const std::string& url, int first,
                    const std::function<bool(IndexWriter& writer, int n)>& go_on);

}  // namespace stoka::store
