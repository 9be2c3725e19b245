// What a file's place in the tree says about the page: name, date, kind and address. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "ingest/walk.h"

namespace stoka::ingest {

struct Place {
  std::string slug;      // "" only if the name has no letter or digit
  std::string readable;  // the name as a title, "Bounded execution"
  std::vector<std::string>
      folders;               // from the root, without roots of content such as "content", "_posts"
  std::optional<Date> date;  // of "2024-01-31-name.md" or 2024/01/31/name.md
  std::string type;          // from the folders; empty if they say nothing
  bool is_index = false;     // index.md, _index.md, README.md: the page of its folder
};

// The root's own name counts as a folder if it is one of a site's usual ones ("blog", "products",
// …).
Place place_of(const SourceFile& file);

// Where a page lies on the site if nobody says otherwise: "/blog/slug", or "/blog" for an index
// page.
std::string default_url(const Place& place, std::string_view slug);

// The last part of a permalink without ".html", empty if it is a pattern (":year/:title") or the
// root.
std::string location_slug(std::string_view location);

// A date in a permalink, "/2024/01/31/name/".
std::optional<Date> location_date(std::string_view location);

}  // namespace stoka::ingest
