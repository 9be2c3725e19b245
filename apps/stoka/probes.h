// Asks each part whether it does its work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app.h"
#include "providers.h"
#include "store/store.h"

namespace stoka::app {

struct Part {
  std::string role;  // "embedder", "reranker", "generator"
  std::string name = {};
  std::string model = {};  // as the server calls it; empty: none
  int dim = 0;
  std::string detail = {};
  std::optional<Error> error = {};
  double ms = 0;  // that asking took
};

// A model is asked for vectors, a reranker for scores, of a text that fits a question and one that
// does not, and must tell them apart; a generator for its models. Built-in parts are told by what
// is in the index.
std::vector<Part> probe(App& app, Providers& providers, const store::IndexStats& stats);

}  // namespace stoka::app
