#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace stoka::store {

// A directory of its own for a test, gone afterwards.
class TempPlace {
 public:
  TempPlace() {
    std::string name = (std::filesystem::temp_directory_path() / "stoka-store-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~TempPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  TempPlace(const TempPlace&) = delete;
  TempPlace& operator=(const TempPlace&) = delete;

  std::string directory() const { return directory_; }
  std::string db() const { return directory_ + "/stoka.db"; }

 private:
  std::string directory_;
};

}  // namespace stoka::store
