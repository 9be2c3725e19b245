// The model of the fake server: words and nothing else, so that a test can tell what is near.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::testing {

// Of unit length. Texts that share words are near each other.
std::vector<float> vector_of(std::string_view text, int dim);

// How much of the query's words the text has, as a logit: about -4 for none, 3.5 for all.
double score_of(std::string_view query, std::string_view text);

double sigmoid(double logit);

}  // namespace stoka::testing
