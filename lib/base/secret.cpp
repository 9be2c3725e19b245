#include "base/secret.h"

namespace stoka {

std::string Secret::redact(std::string_view text) const {
  std::string out(text);
  if (value_.empty()) return out;
  for (size_t at = out.find(value_); at != std::string::npos; at = out.find(value_, at + 3))
    out.replace(at, value_.size(), "***");
  return out;
}

}  // namespace stoka
