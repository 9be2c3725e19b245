// The database of the index and the sessions. Every implementation passes
// tests/store/contract_*_test.cpp.
//
// Threads: any member may be called from any thread; calls on one Store may wait for each other.
// Errors: not_found (there is no index), data (damaged, or another schema version), busy (another
// index run, or too many callers), unavailable (the database cannot be reached), config (the server
// refuses the settings).
// Text is stored as valid UTF-8 without NUL. Other text is repaired, both when it is stored and
// when it is searched for: see sanitize_text() in store/json_columns.h.
#pragma once

#include <memory>
#include <string>

#include "store/index_reader.h"
#include "store/index_writer.h"
#include "store/session_store.h"

namespace stoka::store {

class Store : public IndexReader, public SessionStore {
 public:
  virtual std::string describe() const = 0;  // such as "sqlite:/path/to.db"; has no password
  // Opens the index for writing. While one process writes, others get a busy error that names it.
  virtual Result<std::unique_ptr<IndexWriter>> begin_index() = 0;
};

}  // namespace stoka::store
