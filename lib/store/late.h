// A store whose database does not answer yet.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/store.h"

namespace stoka::store {

// Opens the store when it is first used, and until that succeeds again with each use, but not more
// often than once a second and by one thread at a time: the others get the last error at once.
// `commits` is what its commits_at_a_time() says. Threads: any.
std::unique_ptr<Store> open_late(std::string description, size_t commits, Error error,
                                 std::function<Result<std::unique_ptr<Store>>()> open);

}  // namespace stoka::store
