// Helpers for tests of embedders that ask a fake server.
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

// The bodies of the requests whose path ends with `path_end`.
inline std::vector<nlohmann::json> request_bodies(const FakeUpstream& server,
                                                  std::string_view path_end) {
  std::vector<nlohmann::json> out;
  for (const SeenRequest& request : server.requests())
    if (request.path.ends_with(path_end))
      out.push_back(nlohmann::json::parse(request.body, nullptr, false));
  return out;
}

inline std::vector<std::string> some_texts(size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back("text number " + std::to_string(i) + " of word" + std::to_string(i * 7));
  return out;
}

// Lets the embedder cache the server's information, and forgets the requests for it.
inline void connect(embed::Embedder& embedder, FakeUpstream& server) {
  const auto identity = embedder.identity(embed::InputType::query, {});
  REQUIRE_MESSAGE(identity.has_value(), identity.error().message);
  server.reset();
}

inline embed::Embeddings embed_all(embed::Embedder& embedder,
                                   const std::vector<std::string>& texts) {
  auto embedded = embedder.embed_documents(texts, {}, {});
  REQUIRE_MESSAGE(embedded.has_value(), embedded.error().message);
  return std::move(*embedded);
}

// Checks that each text has the vector that it gets when it is embedded alone, so that no vector
// belongs to another text.
inline void check_order(embed::Embedder& embedder, const std::vector<std::string>& texts,
                        const embed::Embeddings& embedded) {
  REQUIRE(embedded.vectors.size() == texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = embedder.embed_query(texts[i], {});
    REQUIRE_MESSAGE(alone.has_value(), alone.error().message);
    CHECK(cosine(embedded.vectors[i], *alone) == doctest::Approx(1).epsilon(1e-5));
  }
}

}  // namespace stoka::testing
