// Tests that every implementation of Store must pass. Each function is the body of one test case
// with subcases. `open` opens the same database each time it is called; each subcase has a new
// database.
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace stoka::store {

using OpenStore = std::function<std::unique_ptr<Store>()>;

// What the database can bear.
struct ContractLimits {
  int threads = 50;  // maximum of concurrent callers
};

void index_contract(const OpenStore& open, const ContractLimits& limits = {});
void search_contract(const OpenStore& open, const ContractLimits& limits = {});
void session_contract(const OpenStore& open, const ContractLimits& limits = {});

// Parts of the above.
void hostile_index_contract(const OpenStore& open, Store& store);
void hostile_session_contract(const OpenStore& open, Store& store);
void shared_session_contract(const OpenStore& open, Store& store, const ContractLimits& limits);
void copy_contract(Store& store);

}  // namespace stoka::store
