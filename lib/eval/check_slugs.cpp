#include <fmt/format.h>

#include "base/suggestion.h"
#include "eval/case.h"
#include "pipeline/catalog.h"
#include "text/normalize.h"

namespace stoka::eval {
namespace {

class SlugChecker {
 public:
  SlugChecker(const Cases& cases, const pipeline::Catalog& catalog)
      : cases_(cases), catalog_(catalog) {
    for (const store::DocumentInfo& info : catalog.documents())
      known_.push_back(info.document.slug);
  }

  Result<> check(const std::string& name, std::string_view field, const std::string& slug) const {
    if (catalog_.find(slug) != nullptr) return {};
    const auto place = cases_.places.find(name);
    return fail(ErrorKind::data,
                fmt::format("{}: {} '{}' is not a page of the index{}",
                            place == cases_.places.end() ? name : place->second, field,
                            text::one_line(slug), did_you_mean(slug, known_)),
                "stoka status -v lists the slugs");
  }

  Result<> check(const Case& one) const {
    const std::string name = one.suite + "/" + one.id;
    for (const auto& [field, slugs] : {std::pair{"ideal_cite", &one.ideal_cite},
                                       {"must_not_cite", &one.must_not_cite},
                                       {"seen", &one.page.seen_slugs}})
      for (const std::string& slug : *slugs) {
        // A scripted model may cite an invented slug, which the case then forbids.
        const bool invented = one.model && slugs == &one.must_not_cite;
        if (!invented) STOKA_TRY(check(name, field, slug));
      }
    return {};
  }

 private:
  const Cases& cases_;
  const pipeline::Catalog& catalog_;
  std::vector<std::string> known_;
};

}  // namespace

Result<> check_slugs(const Cases& cases, const pipeline::Catalog& catalog) {
  const SlugChecker checker(cases, catalog);
  for (const Case& one : cases.cases) STOKA_TRY(checker.check(one));
  for (const Query& one : cases.queries)
    for (const auto& [slug, gain] : one.relevant)
      STOKA_TRY(checker.check("retrieval/" + one.id, "relevant", slug));
  return {};
}

}  // namespace stoka::eval
