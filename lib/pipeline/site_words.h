// What the router asks of the index, looked up when it asks.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "pipeline/catalog.h"
#include "route/router.h"
#include "store/store.h"

namespace stoka::pipeline {

// For one question. Not thread safe.
class SiteWordLookup {
 public:
  using ReadCatalog = std::function<Result<std::shared_ptr<const Catalog>>()>;

  // The store is borrowed. The catalogue is read once, when the router first asks.
  SiteWordLookup(store::Store& store, ReadCatalog read)
      : store_(store), read_catalog_(std::move(read)) {}
  SiteWordLookup(const SiteWordLookup&) = delete;

  // Borrows this.
  route::SiteWords words();
  // The first error of the index. Every word was unknown from there.
  const Result<>& outcome() const { return outcome_; }

 private:
  const Catalog* catalog();
  Result<bool> is_in_several_texts(const Catalog& catalog, std::string_view word);

  store::Store& store_;
  ReadCatalog read_catalog_;
  std::shared_ptr<const Catalog> catalog_;
  Result<> outcome_;
};

}  // namespace stoka::pipeline
