#include "support/upstream/word_model.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

namespace stoka::testing {
namespace {

// The words in lower case and in the singular. Bytes beyond ASCII count as letters.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  auto end = [&] {
    if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
    if (!word.empty()) out.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0)
      word += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    else
      end();
  }
  end();
  return out;
}

// Short words have little weight.
double weight(const std::string& word) {
  return word.size() < 4 ? 0.2 : std::min(2.0, static_cast<double>(word.size()) / 5);
}

uint64_t hash(std::string_view text) {
  uint64_t out = 14695981039346656037u;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return out ^ (out >> 29);
}

}  // namespace

std::vector<float> vector_of(std::string_view text, int dim) {
  std::vector<double> sum(static_cast<size_t>(dim));
  for (const std::string& word : words(text)) {
    uint64_t bits = hash(word);
    for (int i = 0; i < 4; ++i, bits >>= 16)
      sum[(bits & 0x7fff) % sum.size()] += (bits & 0x8000) != 0 ? weight(word) : -weight(word);
  }
  double square = 0;
  for (const double x : sum) square += x * x;
  if (square == 0) square = sum[0] = 1;
  std::vector<float> out;
  for (const double x : sum) out.push_back(static_cast<float>(x / std::sqrt(square)));
  return out;
}

double score_of(std::string_view query, std::string_view text) {
  const std::vector<std::string> in_text = words(text);
  double all = 0, found = 0;
  for (const std::string& word : words(query)) {
    all += weight(word);
    if (std::find(in_text.begin(), in_text.end(), word) != in_text.end()) found += weight(word);
  }
  return -4 + 7.5 * (all == 0 ? 0 : found / all);
}

double sigmoid(double logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace stoka::testing
