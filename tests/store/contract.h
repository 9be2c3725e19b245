// What every store must do, whatever is behind it. Each function is the body of one test case with
// subcases; `open` opens the same place each time it is called, and the place is new for each
// subcase.
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace stoka::store {

using OpenStore = std::function<std::unique_ptr<Store>()>;

// What the place can bear; each case asks no more of it.
struct ContractLimits {
  int threads = 50;  // that call at the same time, and none of them too late
};

void index_contract(const OpenStore& open, const ContractLimits& abilities = {});
void search_contract(const OpenStore& open, const ContractLimits& abilities = {});
void session_contract(const OpenStore& open, const ContractLimits& abilities = {});

// Parts of the above, in files of their own.
void hostile_index_contract(const OpenStore& open, Store& store);
void hostile_session_contract(const OpenStore& open, Store& store);
void shared_session_contract(const OpenStore& open, Store& store, const ContractLimits& abilities);
void copy_contract(Store& store);

}  // namespace stoka::store
