// Reads and validates the vectors in a response of an embedding server.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "embed/embedder.h"

namespace stoka::embed {

// Vectors as the server sent them, not validated yet. A null in the JSON becomes NaN.
using RawVectors = std::vector<std::vector<double>>;

// Reads a response. An error message continues a sentence about the server: "sent no JSON".

// Reads the format of text-embeddings-inference: [[0.1, …], …] in the order of the texts.
tl::expected<RawVectors, std::string> parse_tei_vectors(std::string_view body);

// Reads the format of OpenAI: {"data":[{"index":0,"embedding":[0.1, …]}, …]} in any order. If no
// entry has an index, the entries are in the order of the texts. An embedding may also be a string:
// base64 of little-endian float32.
tl::expected<RawVectors, std::string> parse_openai_vectors(std::string_view body);

struct InvalidVectors {
  std::string message;  // what is wrong, e.g. "sent 3 vectors for 4 texts"
  // Whether a vector is all zeros or has a NaN or null. Servers send such a vector when the model
  // fails on one text, so the other texts may still be embedded.
  bool is_caused_by_text = false;
};

// Checks that there are `texts` vectors of `dim` finite numbers each and scales them to unit
// length. Wrong counts and dimensions are reported before bad numbers. A `dim` of 0 accepts any
// dimension that all vectors share.
tl::expected<std::vector<Vector>, InvalidVectors> validate_vectors(const RawVectors& vectors,
                                                                   size_t texts, int dim);

}  // namespace stoka::embed
