// Shared by evaluation tests: the built-in files and a broken reranker.
#pragma once

#include <string_view>

#include "base/embedded.h"
#include "eval/predicates.h"
#include "rerank/builtin.h"
#include "store/store.h"

namespace stoka::testing {

inline std::string_view built_in(std::string_view name) {
  for (const EmbeddedFile& file : embedded::evals())
    if (file.name == name) return file.text;
  return {};
}

inline const eval::Phrases& phrases() {
  static const eval::Phrases read = eval::read_phrases(built_in("phrases.toml")).value();
  return read;
}

// Reverses the order of the built-in reranker.
struct Backwards final : rerank::Reranker {
  explicit Backwards(store::Store& store) : right(store) {}
  rerank::BuiltinReranker right;
  std::string name() const override { return "backwards"; }
  Result<rerank::Scores> score(std::string_view query, std::span<const Hit> hits,
                               std::stop_token stop) override {
    auto scores = right.score(query, hits, stop);
    for (auto& score : scores.value()) score = 1 - *score;
    return scores;
  }
};

}  // namespace stoka::testing
