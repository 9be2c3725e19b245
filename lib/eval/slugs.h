#pragma once

#include "eval/case.h"
#include "pipeline/catalog.h"

namespace stoka::eval {

// A case that names a page that does not exist checks nothing, or can never pass: a data error that
// names file, line, slug and the one that was meant.
Result<> check_slugs(const Cases& cases, const pipeline::Catalog& catalog);

}  // namespace stoka::eval
