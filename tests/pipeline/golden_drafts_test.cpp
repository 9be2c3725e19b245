#include "pipeline/golden_drafts.h"

#include <doctest/doctest.h>

#include <set>

#include "support/site_fixture.h"
#include "text/entities.h"
#include "text/normalize.h"

namespace golden_drafts_test {

using namespace stoka;
using namespace stoka::testing;

TEST_CASE("three examples are drafted, of pages of different types, with verbatim quotes") {
  SiteFixture fixture;
  const auto drafts = pipeline::draft_exchanges(*fixture.store);
  REQUIRE_MESSAGE(drafts, drafts.error().message);
  REQUIRE(drafts->size() == 3);
  std::set<std::string> types;
  for (const golden::GoldenExchange& draft : *drafts) {
    CAPTURE(draft.stoka);
    REQUIRE(draft.slugs.size() == 1);
    const std::string& slug = draft.slugs.front();
    const auto chunks = fixture.store->document_chunks(slug).value();
    REQUIRE(!chunks.empty());
    types.insert(chunks.front().chunk.type);
    CHECK(draft.visitor.find(chunks.front().chunk.title) != std::string::npos);
    CHECK(draft.stoka.find("<cite slug=\"" + slug + "\" quote=\"") != std::string::npos);
    const bool verbatim = std::any_of(chunks.begin(), chunks.end(), [&](const auto& stored) {
      const std::string content = text::collapse_whitespace(stored.chunk.content);
      const size_t at = draft.stoka.find("quote=\"") + 7;
      const std::string quoted = draft.stoka.substr(at, draft.stoka.find("\"/>", at) - at);
      return !quoted.empty() && text::escape_attribute(content).find(quoted) != std::string::npos;
    });
    CHECK(verbatim);
    for (const char c : draft.stoka.substr(0, draft.stoka.find("<cite"))) CHECK(c != '!');
  }
  CHECK(types.size() == 3);
}

TEST_CASE("an empty index has no drafts") {
  SiteFixture fixture(false);
  const auto drafts = pipeline::draft_exchanges(*fixture.store);
  REQUIRE_MESSAGE(drafts, drafts.error().message);
  CHECK(drafts->empty());
}

}  // namespace golden_drafts_test
