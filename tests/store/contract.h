// What every store must do, whatever is behind it. Each function is the body of one test case with
// subcases; `open` opens the same place each time it is called, and the place is new for each
// subcase.
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace stoka::store {

using Open = std::function<std::unique_ptr<Store>()>;

void index_contract(const Open& open);
void search_contract(const Open& open);
void session_contract(const Open& open);

}  // namespace stoka::store
