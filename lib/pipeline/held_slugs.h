// Slugs stay with the files that hold them, from run to run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ingest/page.h"

namespace stoka::pipeline {

// Gives each page its slug. `holders` has the path of each slug that is indexed: of several pages
// that wish for a slug, the one of that path gets it. If `stays` says that the document of a slug
// stays though it may have no page now, then no page of another path gets the slug.
void settle_held_slugs(
    std::vector<ingest::Page>& pages, const std::map<std::string, std::string>& holders,
    const std::function<bool(const std::string& slug, const std::string& path)>& stays);

}  // namespace stoka::pipeline
