#include "rerank/policy.h"

#include <algorithm>
#include <map>

#include "text/normalize.h"

namespace stoka::rerank {
namespace {

bool ranks_before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.chunk.slug != b.chunk.slug) return a.chunk.slug < b.chunk.slug;
  return a.chunk.index < b.chunk.index;
}

void apply(Hit& hit, std::string_view rule, double factor) {
  hit.score *= factor;
  hit.factors.push_back({std::string(rule), factor});
}

}  // namespace

bool is_navigational(std::string_view query) {
  std::string folded = text::fold(query);
  for (std::string_view opener : {"what is ", "what's ", "tell me about ", "do you have "})
    if (folded.starts_with(opener)) return true;
  return false;
}

std::vector<Hit> apply_policy(std::vector<Hit> hits, const PolicyContext& context,
                              const PolicyOptions& options, std::vector<Hit>* dropped) {
  bool navigational = is_navigational(context.query);
  for (Hit& hit : hits) {
    hit.score = hit.raw;
    hit.factors.clear();
    if (context.shown.contains(hit.chunk.slug)) apply(hit, "shown", options.shown);
    if (context.turns >= options.deep_reader_turns && hit.chunk.has_tag("philosophy"))
      apply(hit, "deep-reader", options.deep_reader);
    if (hit.chunk.date) {
      auto age = (context.today - *hit.chunk.date).count();
      if (age >= 0 && age <= options.recent_days) apply(hit, "recent", options.recent);
    }
    if (navigational && hit.chunk.type == "product")
      apply(hit, "navigational", options.navigational);
  }
  std::sort(hits.begin(), hits.end(), ranks_before);

  std::map<std::string, size_t> taken;
  std::vector<Hit> kept, left_out;
  for (Hit& hit : hits) {
    size_t before = taken[hit.chunk.slug]++;
    if (before > 0) apply(hit, "same-source", options.same_source);
    (before < options.max_per_slug ? kept : left_out).push_back(std::move(hit));
  }
  for (Hit& hit : kept) hit.score = std::clamp(hit.score, 0.0, 1.0);
  std::sort(kept.begin(), kept.end(), ranks_before);
  if (kept.size() > options.keep) {
    std::move(kept.begin() + static_cast<long>(options.keep), kept.end(),
              std::back_inserter(left_out));
    kept.resize(options.keep);
  }
  if (dropped) *dropped = std::move(left_out);
  return kept;
}

}  // namespace stoka::rerank
