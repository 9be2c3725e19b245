#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/index_writer.h"

namespace stoka::store::sqlite {

// Acquires the IndexLock and opens a connection of its own, whose commits wait for the disk. The
// writer may be used by one thread at a time, and may outlive its store.
Result<std::unique_ptr<IndexWriter>> make_index_writer(const std::string& path);

}  // namespace stoka::store::sqlite
