// What the index of a site holds, as far as lines of the voice depend on it.
#pragma once

#include <array>
#include <string_view>

namespace stoka::golden {

struct SiteFacts {
  bool has_changelog = false;  // whether there is a document of type changelog
  bool has_product = false;    // whether there is a document of type product
  bool has_old_essay = false;  // whether a document of type philosophy is older than a year

  // Whether the site meets `condition`: one of kConditions, or empty, which every site meets.
  bool meets(std::string_view condition) const {
    if (condition == "changelog") return has_changelog;
    if (condition == "product") return has_product;
    if (condition == "old_essay") return has_old_essay;
    return condition.empty();
  }
  bool operator==(const SiteFacts&) const = default;
};

// The conditions that golden data may put on its lines, in tables [needs.CONDITION].
inline constexpr std::array<std::string_view, 3> kConditions = {"changelog", "product",
                                                                "old_essay"};

}  // namespace stoka::golden
