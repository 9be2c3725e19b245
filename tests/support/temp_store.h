// A SQLite index in a temporary folder, for tests of the rooms that search it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store.h"
#include "support/temp_folder.h"

namespace stoka::testing {

class TempStore {
 public:
  TempStore();

  store::Store& operator*() { return *store_; }
  store::Store* operator->() { return store_.get(); }
  store::IndexWriter& writer() { return *writer_; }

  // Puts one document; each text becomes a chunk.
  void put(const std::string& slug, const std::vector<std::string>& texts,
           const std::vector<std::string>& tags = {}, std::string title = {});

  bool refit();

 private:
  TempFolder folder_;  // declared first: the store is closed before it is removed
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::IndexWriter> writer_;
};

}  // namespace stoka::testing
