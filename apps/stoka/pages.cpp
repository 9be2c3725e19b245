#include "pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/embedded.h"
#include "base/files.h"
#include "runtime.h"
#include "text/normalize.h"

namespace stoka::app {

namespace fs = std::filesystem;

Result<std::unique_ptr<TempFolder>> TempFolder::make() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "stoka-XXXXXX");
  if (error || ::mkdtemp(pattern.data()) == nullptr)
    return fail(ErrorKind::data,
                fmt::format("cannot make a temporary folder: {}",
                            error ? error.message() : std::strerror(errno)),
                "free some space, or set TMPDIR");
  return std::unique_ptr<TempFolder>(new TempFolder(pattern));
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<std::vector<fs::path>> page_paths(std::span<const std::string> named) {
  std::vector<fs::path> out;
  for (const std::string& path : named) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error).lexically_normal();
    if (path.empty() || error)
      return fail(ErrorKind::usage, fmt::format("'{}' is not a path", text::one_line(path)),
                  "name folders or files");
    out.push_back(absolute.has_filename() ? absolute : absolute.parent_path());
  }
  return out;
}

Result<fs::path> write_sample_site(const TempFolder& folder) {
  const fs::path site = folder.path() / "site";
  for (const EmbeddedFile& file : embedded::sample_site()) {
    const fs::path path = site / file.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    STOKA_TRY(write_file(path, file.text));
  }
  return site;
}

Result<pipeline::IndexReport> index_pages(App& app, pipeline::IndexRequest request,
                                          const pipeline::IndexProgress& progress,
                                          std::stop_token stop) {
  auto opened =
      app.open_store(request.dry_run ? store::OpenMode::read : store::OpenMode::read_write);
  const bool is_absent = !opened && opened.error().kind == ErrorKind::not_found;
  if (!opened && !(request.dry_run && is_absent)) return fail(opened.error());
  store::Store* const store = opened ? opened->get() : nullptr;
  STOKA_ASSIGN(const auto parts, make_providers(app, store));
  request.chunks = chunk_options(app.config(), parts->embedder());
  request.identity = index_identity(app.config(), parts->embedder());
  return pipeline::run_index(store, parts->embedder(), request, app.clock, app.log, progress,
                             std::move(stop));
}

}  // namespace stoka::app
