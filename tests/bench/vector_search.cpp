// Measures exact search over 100,000 vectors of 512 dimensions, compared with summing the same
// memory.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "search/vectors.h"

namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kRows = 100000;
constexpr size_t kDim = 512;
constexpr int kRounds = 15;

// The median duration of a round in milliseconds.
template <class Work>
double measure(const Work& work) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Steady::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Steady::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

float sum(const std::vector<float>& values) {
  constexpr size_t kLanes = 64;
  float lanes[kLanes] = {};
  for (size_t i = 0; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  float total = 0;
  for (const float lane : lanes) total += lane;
  return total;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  stoka::search::VectorTable table;
  table.dim = kDim;
  table.values.resize(kRows * kDim);
  for (float& value : table.values) value = static_cast<float>(random()) / 4294967296.0F - 0.5F;
  for (size_t row = 0; row < kRows; ++row) {
    table.ids.push_back(static_cast<int64_t>(row));
    stoka::search::normalize({table.values.data() + row * kDim, kDim});
  }
  const std::vector<float> query(table.values.begin(), table.values.begin() + kDim);

  float keep = 0;
  const double baseline = measure([&] { keep += sum(table.values); });
  std::printf("%-28s %8s %8s\n", "100,000 x 512 float32", "ms", "ratio");
  std::printf("%-28s %8.2f %8.2f\n", "plain sum", baseline, 1.0);
  for (const size_t k : {1, 20, 100, 1000}) {
    const double time = measure(
        [&] { keep += float(stoka::search::top_k_with_ties(table, query, k).front().score); });
    std::printf("top k, k = %-17zu %8.2f %8.2f\n", k, time, time / baseline);
  }
  std::printf("(checksum %g)\n", keep);
}
