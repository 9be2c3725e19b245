#include "store/open.h"

#include <string_view>

#include "store/postgres/database_address.h"
#include "store/postgres/store.h"
#include "store/sqlite/store.h"

namespace stoka::store {
namespace {

constexpr std::string_view kUrlForms = "use sqlite:PATH, a path, or postgres://USER@HOST/DATABASE";

// Returns the scheme of a URL: "postgres" for "postgres://host/db". Returns an empty text for a
// path, which has no colon, or a '/' or a leading '.' before the colon.
std::string_view scheme(std::string_view url) {
  const size_t colon = url.find(':');
  if (colon == std::string_view::npos || url.find('/') < colon || url.front() == '.') return {};
  return url.substr(0, colon);
}

// Whether `url` is a connection string of libpq ("host=… password=…") or a malformed URL. Such a
// text must not be taken for a path or be repeated in a message: it may contain a password.
bool looks_like_address(std::string_view url) {
  const auto has = [&](std::string_view part) { return url.find(part) != std::string_view::npos; };
  const auto begins = [&](std::string_view part) { return url.starts_with(part); };
  return has("password=") || begins("host=") || begins("dbname=") || begins("user=") ||
         scheme(url).starts_with("postgres") || (has("//") && has("@"));
}

bool is_postgres(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

}  // namespace

Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const OpenOptions& options) {
  if (is_postgres(url)) return postgres::open(url, mode, {.connections = options.connections});
  std::string_view path = url;
  if (const std::string_view kind = scheme(url); kind == "sqlite") {
    path.remove_prefix(kind.size() + 1);
    if (path.starts_with("//")) path.remove_prefix(2);
  } else if (looks_like_address(url)) {
    return fail(ErrorKind::config, "the URL of the store does not begin with postgres://",
                std::string(kUrlForms));
  } else if (!kind.empty()) {
    return fail(ErrorKind::config, "unknown kind of store '" + std::string(kind) + "'",
                std::string(kUrlForms));
  }
  if (path.empty() || path == ":memory:" || path.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::config,
                "the store '" + std::string(url.c_str()) + "' does not name a file",
                std::string(kUrlForms));
  }
  return sqlite::open(std::string(path), mode);
}

std::string describe(const std::string& url) {
  if (is_postgres(url)) {
    const auto address = postgres::DatabaseAddress::parse(url);
    return address ? address->describe() : "postgres://…";
  }
  const std::string_view kind = scheme(url);
  if (kind == "sqlite" || (kind.empty() && !looks_like_address(url))) return url;
  return std::string(kind) + "…";
}

}  // namespace stoka::store
