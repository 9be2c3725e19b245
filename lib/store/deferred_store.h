// A store that can be used before its database is available.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/store.h"

namespace stoka::store {

// A store that is opened by `open` on use, until that has succeeded once. Attempts are at least a
// second apart and made by one thread at a time; meanwhile every call fails at once with the last
// error, which at first is `error`. `commits` is the store's max_concurrent_commits(). Thread safe.
std::unique_ptr<Store> open_deferred(std::string description, size_t commits, Error error,
                                     std::function<Result<std::unique_ptr<Store>>()> open);

}  // namespace stoka::store
