// What the path of a file says about its page: slug, title, date, type and URL. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "ingest/walk.h"

namespace stoka::ingest {

struct PathMetadata {
  std::string slug;                  // the slug; empty only if the name has no letter or digit
  std::string title;                 // a title made of the file name, e.g. "Bounded execution"
  std::vector<std::string> folders;  // outermost first, without "content", "_posts" and the like
  std::optional<Date> date;          // date in a path: "2024-01-31-name.md" or "2024/01/31/name.md"
  std::string type;       // the type according to the folder names; empty if none of them is known
  bool is_index = false;  // whether the file is its folder's page: index.md, _index.md or README.md
};

// Derives the metadata of a file from its path. The name of the root counts as a folder if it is a
// usual name for a part of a site ("blog", "products", …).
PathMetadata path_metadata(const SourceFile& file);

// The URL of a page whose author chose none: "/blog/slug", or "/blog" for the page of a folder.
std::string default_url(const PathMetadata& metadata, std::string_view slug);

// The last segment of a permalink without ".html". Empty if the permalink is a pattern
// (":year/:title") or the root.
std::string permalink_slug(std::string_view permalink);

// The date in a permalink such as "/2024/01/31/name/".
std::optional<Date> permalink_date(std::string_view permalink);

}  // namespace stoka::ingest
