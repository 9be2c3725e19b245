#include "model/document.h"

#include <algorithm>

namespace stoka {

bool Chunk::has_tag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string reading_time(int minutes) { return std::to_string(minutes) + " min"; }

}  // namespace stoka
