// Helpers to index given pages or the built-in sample site.
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

// Makes a new temporary folder, and removes it when the object is destroyed.
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

// Makes paths absolute and normal, so that "content/" and "content" are the same folder.
Result<std::vector<std::filesystem::path>> page_paths(std::span<const std::string> named);

// Writes the built-in sample site to `folder`; returns the folder of the site.
Result<std::filesystem::path> write_sample_site(const TempFolder& folder);

// Indexes pages into the configured store with the configured embedder and chunk options, which are
// filled in here. The paths must be absolute. A dry run does not need a store.
Result<pipeline::IndexReport> index_pages(App& app, pipeline::IndexRequest request,
                                          const pipeline::IndexProgress& progress,
                                          std::stop_token stop);

}  // namespace stoka::app
