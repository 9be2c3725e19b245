// The pages that a command is given, or brings along, to be indexed.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app.h"
#include "pipeline/index_run.h"

namespace stoka::app {

// One's own, and gone with this.
class TempFolder {
 public:
  static Result<std::unique_ptr<TempFolder>> make();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// The paths as a person named them, absolute: "content/" and "content" are one folder.
Result<std::vector<std::filesystem::path>> page_paths(std::span<const std::string> named);

// Writes the sample site that is compiled in; returns its folder.
Result<std::filesystem::path> write_sample_site(const TempFolder& folder);

// Indexes pages (absolute paths) into the configured store, with the configured parts. The report
// is that of a store that had nothing.
Result<pipeline::IndexReport> index_pages(App& app, std::vector<std::filesystem::path> pages,
                                          const pipeline::IndexProgress& progress,
                                          std::stop_token stop);

}  // namespace stoka::app
