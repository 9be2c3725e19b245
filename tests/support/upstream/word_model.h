// The model of the fake server. It compares words only, so that a test can predict its results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::testing {

// An embedding of unit length. Texts that share words have a high cosine similarity.
std::vector<float> vector_of(std::string_view text, int dim);

// A logit of the share of the query's words that the text has: -4 for none, 3.5 for all.
double score_of(std::string_view query, std::string_view text);

double sigmoid(double logit);

}  // namespace stoka::testing
