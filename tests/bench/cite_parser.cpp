// Measures the throughput of the citation parser for text without tags, in deltas of the size that
// a model sends and in one piece, compared with copying the same bytes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "cite/citation_parser.h"

namespace {

struct Counter final : stoka::cite::TagSink {
  uint64_t bytes = 0;
  uint64_t tags = 0;
  void text(std::string_view text) override { bytes += text.size(); }
  void tag(const std::string&, const std::string&) override { ++tags; }
};

// The best of several rounds, in MB/s.
template <class Round>
double speed(size_t bytes, const Round& round) {
  double best = 0;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    round();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(bytes) / took.count() / 1e6);
  }
  return best;
}

void parse(std::string_view text, size_t delta, uint64_t& passed) {
  Counter counter;
  stoka::cite::CitationParser parser(counter);
  for (size_t at = 0; at < text.size(); at += delta) parser.push(text.substr(at, delta));
  parser.finish();
  passed += counter.bytes;
}

void report(const char* name, const std::string& text) {
  uint64_t passed = 0;
  std::string copy(text.size(), '\0');
  const double base = speed(text.size(), [&] {
    std::memcpy(copy.data(), text.data(), text.size());
    passed += static_cast<unsigned char>(copy[passed % copy.size()]);
  });
  std::printf("%-10s memcpy        %9.0f MB/s\n", name, base);
  for (const size_t delta : {size_t{4}, size_t{16}, size_t{64}, text.size()}) {
    const double rate = speed(text.size(), [&] { parse(text, delta, passed); });
    std::printf("%-10s delta %7zu %9.0f MB/s  %.3f of memcpy\n", name, delta, rate, rate / base);
  }
  std::printf("%-10s checksum %llu\n", name, static_cast<unsigned long long>(passed));
}

std::string fill(std::string_view sentence, size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += sentence;
  return out;
}

}  // namespace

int main() {
  constexpr size_t kBytes = size_t{8} << 20;
  report("ascii",
         fill("Autonomy without constraint is just chaos with better marketing. ", kBytes));
  report("brackets", fill("if a < b then a <= c and b << 2, most of the time. ", kBytes));
  report("umlauts", fill("Größe ist kein Maß für Güte \u2014 sagt \u201Eman\u201C. ", kBytes));
}
