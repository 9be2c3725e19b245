// Looks up for the router whether a word of a question is a subject of the site.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "pipeline/catalog.h"
#include "route/router.h"
#include "store/index_reader.h"

namespace stoka::pipeline {

// An object is for one question only, and is not thread safe.
class SiteWordLookup {
 public:
  using ReadCatalog = std::function<Result<std::shared_ptr<const Catalog>>()>;

  // The index must outlive the object. The catalogue is read once, at the first look-up.
  SiteWordLookup(store::IndexReader& index, ReadCatalog read)
      : index_(index), read_catalog_(std::move(read)) {}
  SiteWordLookup(const SiteWordLookup&) = delete;

  // The callbacks for the router. They must not outlive this object.
  route::SiteWords words();
  // Success, or the first error of the index. After an error the callbacks return false.
  const Result<>& outcome() const { return outcome_; }

 private:
  const Catalog* catalog();
  Result<bool> is_in_several_documents(const Catalog& catalog, std::string_view word);

  store::IndexReader& index_;
  ReadCatalog read_catalog_;
  std::shared_ptr<const Catalog> catalog_;
  Result<> outcome_;
};

}  // namespace stoka::pipeline
