// A fake server and an embedder that asks it.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "embed/embedder.h"
#include "support/json.h"
#include "support/test_upstream.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

inline double cosine(const embed::Vector& a, const embed::Vector& b) {
  REQUIRE(a.size() == b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Bodies that were sent to paths with this end.
inline std::vector<nlohmann::json> bodies(const FakeUpstream& server, std::string_view path) {
  std::vector<nlohmann::json> out;
  for (const SeenRequest& request : server.seen())
    if (request.path.ends_with(path))
      out.push_back(nlohmann::json::parse(request.body, nullptr, false));
  return out;
}

inline std::vector<std::string> some_texts(size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back("text number " + std::to_string(i) + " of word" + std::to_string(i * 7));
  return out;
}

// The same texts one by one: what a batch must equal, whatever order the server answers in.
inline void check_same_as_alone(embed::Embedder& embedder, const std::vector<std::string>& texts,
                                const embed::Embedded& embedded) {
  REQUIRE(embedded.vectors.size() == texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = embedder.embed_query(texts[i], {});
    REQUIRE_MESSAGE(alone.has_value(), alone.error().message);
    CHECK(cosine(embedded.vectors[i], *alone) == doctest::Approx(1).epsilon(1e-5));
  }
}

}  // namespace stoka::testing
