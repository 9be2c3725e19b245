// Products whose page and entry in a products.json are read by different index runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::pipeline {

// Reads the other half of each product of which `pages` holds one half and `known`, what is
// indexed, another from outside the run: the page of an entry, or all entries of the products.json
// that has the page's. `in_run` tells whether a path belongs to the run. A page keeps its slug and
// address, and is read only if its file is as it was.
std::vector<ingest::Page> read_other_halves(
    const std::vector<ingest::Page>& pages, const std::map<std::string, Document>& known,
    const std::function<bool(const std::string& path)>& in_run, std::string_view shape);

}  // namespace stoka::pipeline
