#include "session/interests.h"

#include <algorithm>
#include <map>

#include "base/url.h"

namespace stoka::session {
namespace {

// Keeps the largest weight of each tag.
class InterestTable {
 public:
  void add(const std::string& tag, double weight, std::string_view source) {
    if (tag.empty() || weight <= 0) return;
    Interest& interest = by_tag_[tag];
    if (weight > interest.weight) interest = {tag, weight, std::string(source)};
  }

  std::vector<Interest> by_weight() const {
    std::vector<Interest> out;
    for (const auto& [tag, interest] : by_tag_) out.push_back(interest);
    std::stable_sort(out.begin(), out.end(),
                     [](const Interest& a, const Interest& b) { return a.weight > b.weight; });
    return out;
  }

 private:
  std::map<std::string, Interest> by_tag_;
};

}  // namespace

std::vector<Interest> interests(const Visitor& visitor, const PageContext& context,
                                const TagLookup& tags_of, Instant now,
                                const InterestWeights& weights) {
  InterestTable table;
  for (const std::string& tag : visitor.interests) table.add(tag, weights.declared, "declared");
  for (const HistoryEntry& reading : visitor.history) {
    double days = std::chrono::duration<double, std::ratio<86400>>(now - reading.at).count();
    double freshness = std::clamp(1.0 - days / weights.history_days, 0.0, 1.0);
    for (const std::string& tag : tags_of(reading.slug))
      table.add(tag, weights.history * freshness, "history");
  }
  for (const std::string& slug : context.seen_slugs)
    for (const std::string& tag : tags_of(slug)) table.add(tag, weights.history, "history");
  for (const std::string& tag : tags_of(page_slug(context.page)))
    table.add(tag, weights.context, "context");
  return table.by_weight();
}

}  // namespace stoka::session
