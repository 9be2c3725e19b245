// One run of `stoka index`: reads the sources, writes changed documents to the index and removes
// those whose source is gone.
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
  bool prune = false;                        // remove every document that is not under the paths
  bool rebuild = false;                      // rebuild the index even if nothing requires it
  bool dry_run = false;                      // report what would change, and write nothing
  ingest::ChunkOptions chunks = {};
  // The identity that the engine will require of the index. Its name and dimension are the
  // embedder's.
  store::IndexIdentity identity = {};
};

struct IndexReport {
  size_t added = 0;
  size_t changed = 0;
  size_t unchanged = 0;
  size_t removed = 0;
  size_t missing = 0;                // documents without a source, which stay until --prune
  size_t chunks = 0;                 // chunks in the index after the run
  bool refitted = false;             // whether the LSA basis was fitted anew
  std::vector<std::string> changes;  // such as "added slug" or "removed slug", in order
  std::vector<ingest::SkippedSource> skipped;   // files and documents that are not indexed
  std::vector<ingest::SkippedSource> left_out;  // passages that are left out of indexed documents
  std::vector<std::string> warnings;            // mistakes in sources that were corrected
};

// Called with the name of the step, "reading", "writing", "embedding" or "fitting", and how much of
// the step is done. `total` is 0 while it is unknown.
using IndexProgress = std::function<void(std::string_view what, size_t done, size_t total)>;

// Each document is written in a transaction of its own: if the run is interrupted, every document
// is in its old state or in its new one.
//
// If the index was made with another chunker or embedder, it is rebuilt; until all new vectors are
// there, the old index answers queries. Vectors of a model cost time or money, so an index that has
// them is rebuilt only if request.rebuild is set; otherwise the run fails with a config error.
//
// `store` may be null for a dry run without an index. Errors: data (a path does not exist, or the
// store cannot be written), busy (another run is writing), cancelled, and the errors of the
// embedder. After an error, the documents written so far stay. A model that does not answer is an
// error before anything is written.
Result<IndexReport> run_index(store::Store* store, embed::Embedder& embedder,
                              const IndexRequest& request, const Clock& clock, Log& log,
                              const IndexProgress& progress = {}, std::stop_token stop = {});

// Writes {"added","changed","unchanged","removed","chunks","skipped":[{"path","reason"}],
// "left_out":[{"path","reason"}],…}.
std::string to_json(const IndexReport& report);

}  // namespace stoka::pipeline
