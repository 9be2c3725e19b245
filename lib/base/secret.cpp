#include "base/secret.h"

namespace stoka {

std::string Secret::redact(std::string_view text) const {
  if (value_.size() < kLeastSecret) return std::string(text);
  std::string out;
  for (;;) {
    const size_t at = text.find(value_);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += "***";
    text.remove_prefix(at + value_.size());
  }
}

}  // namespace stoka
