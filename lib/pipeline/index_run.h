// One run of `stoka index`: reads sources, writes what changed, forgets what is gone.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "embed/embedder.h"
#include "ingest/chunker.h"
#include "ingest/walk.h"
#include "store/store.h"

namespace stoka::pipeline {

struct IndexRequest {
  std::vector<std::filesystem::path> paths;  // absolute; files and folders
  bool prune = false;                        // forget every document that is not under the paths
  bool rebuild = false;                      // make the index again, whatever it was made with
  bool dry_run = false;                      // say what would change and write nothing
  ingest::ChunkOptions chunks;
  store::IndexIdentity identity;  // as the engine will want it; name and dimension are the model's
  embed::Embedder* model = nullptr;  // null: the built-in vectors, which are fitted to the index
};

struct IndexReport {
  size_t added = 0;
  size_t changed = 0;
  size_t unchanged = 0;
  size_t removed = 0;
  size_t gone = 0;                        // source is missing, document stays until --prune
  size_t chunks = 0;                      // in the index after the run
  bool refitted = false;                  // the built-in vectors were fitted anew
  std::vector<std::string> changes;       // "added slug", "changed slug", "removed slug", in order
  std::vector<ingest::Skipped> skipped;   // files, and documents in them, with the reason
  std::vector<ingest::Skipped> left_out;  // passages of documents that are indexed
  std::vector<std::string> warnings;      // what was mended
};

// What is worked on: "reading", "writing" or "embedding", "fitting"; total 0 while it is unknown.
using IndexProgress = std::function<void(std::string_view what, size_t done, size_t total)>;

// An index that was made in another way is made again: the old one answers until all vectors of the
// new one are there. Vectors of a model cost something: those are given up only when asked to
// (rebuild), else it is a config error.
// One transaction a document: whatever interrupts the run, every document is in its old state or
// its new one. `store` may be null for a dry run without an index. Errors: data (a path that does
// not exist, a store that cannot be written), busy (another run), cancelled, the model's; what was
// written stays. A model that does not answer is noticed before anything is written.
Result<IndexReport> run_index(store::Store* store, const IndexRequest& request, const Clock& clock,
                              Log& log, const IndexProgress& progress = {},
                              std::stop_token stop = {});

// {"added","changed","unchanged","removed","chunks","skipped":[{"path","reason"}],
// "left_out":[{"path","reason"}],…}
std::string to_json(const IndexReport& report);

}  // namespace stoka::pipeline
