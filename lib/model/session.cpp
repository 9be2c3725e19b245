#include "model/session.h"

#include <algorithm>

namespace stoka {

bool Session::has_shown(std::string_view slug) const {
  return std::find(shown_slugs.begin(), shown_slugs.end(), slug) != shown_slugs.end();
}

}  // namespace stoka
