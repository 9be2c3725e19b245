// What a server sends for vectors, before anything of it is believed.
#pragma once

#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "embed/embedder.h"

namespace stoka::embed {

using Rows = std::vector<std::vector<double>>;  // null is NaN

struct Complaint {
  std::string what;        // "sent 3 vectors for 4 texts"
  bool of_a_text = false;  // NaN, null, zeros: what servers send for a text their model fails on
};

// One vector of `dim` finite numbers a text, scaled to unit length; or what is wrong with the rows,
// the worst first. With dim 0 any dimension does, if all have it.
tl::expected<std::vector<Vector>, Complaint> check_vectors(const Rows& rows, size_t texts, int dim);

// Empty if there is no direction in the values: all zero, or not finite.
Vector unit(std::span<const double> values);

}  // namespace stoka::embed
