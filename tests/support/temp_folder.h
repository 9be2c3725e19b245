// A temporary folder that is removed when the object is destroyed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stoka::testing {

struct TempFolder {
  std::filesystem::path path;

  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path / name; }

  // Writes a file, whose folder is made if needed, and returns its path.
  std::filesystem::path write(const std::string& relative, std::string_view text) const;
};

}  // namespace stoka::testing
