// Assigns slugs to pages so that a file keeps its slug from one index run to the next.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ingest/page.h"

namespace stoka::pipeline {

// Gives each page its final slug. `owners` maps each indexed slug to the path of its file. If
// several pages prefer the same slug, the page of the owner gets it. `is_reserved` says whether the
// document of an indexed slug stays in the index even if no page has its path now; such a slug is
// not given to a page with another path.
void assign_slugs(
    std::vector<ingest::Page>& pages, const std::map<std::string, std::string>& owners,
    const std::function<bool(const std::string& slug, const std::string& path)>& is_reserved);

}  // namespace stoka::pipeline
