#include "embed/vectors_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stoka::embed {
namespace {

constexpr double kLeastLength = 1e-9;

tl::unexpected<Complaint> complain(std::string what, bool of_a_text = false) {
  return tl::unexpected<Complaint>({std::move(what), of_a_text});
}

}  // namespace

tl::expected<std::vector<Vector>, Complaint> check_vectors(const Rows& rows, size_t texts,
                                                           int dim) {
  if (rows.size() != texts)
    return complain(fmt::format("sent {} vectors for {} texts", rows.size(), texts));
  const size_t wanted = dim > 0 || rows.empty() ? static_cast<size_t>(dim) : rows.front().size();
  for (const std::vector<double>& row : rows) {
    if (row.empty()) return complain("sent a vector without numbers");
    if (row.size() != wanted)
      return complain(
          fmt::format("sent a vector of dimension {} where {} was due", row.size(), wanted));
  }
  std::vector<Vector> out;
  for (const std::vector<double>& row : rows) {
    out.push_back(unit(row));
    if (!out.back().empty()) continue;
    const bool finite =
        std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
    return complain(finite ? "sent a vector of zeros" : "sent a vector with null or NaN in it",
                    true);
  }
  return out;
}

Vector unit(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  const double length = std::sqrt(squares);
  if (!std::isfinite(length) || length < kLeastLength) return {};
  Vector out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(static_cast<float>(value / length));
  return out;
}

}  // namespace stoka::embed
