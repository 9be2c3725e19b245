#pragma once

#include <memory>

#include "base/result.h"
#include "store/postgres/database_address.h"
#include "store/postgres/schema.h"
#include "store/store.h"

namespace stoka::store::postgres {

// Takes the index and one connection of its own, by which others see that this run is alive. For
// one thread at a time; it may outlive its store. Busy if another run holds the index.
Result<std::unique_ptr<IndexWriter>> make_index_writer(const Address& address,
                                                       const Schema& schema);

}  // namespace stoka::store::postgres
