#include "flags.h"

namespace stoka::app {

// "-n,--dry-run": at most one short name, which comes first.
std::string Flag::short_name() const {
  const bool has_short = names.size() > 1 && names[0] == '-' && names[1] != '-';
  return has_short ? names.substr(0, names.find(',')) : "";
}

std::string Flag::long_name() const {
  const size_t comma = names.find(',');
  return comma == std::string::npos ? names : names.substr(comma + 1);
}

}  // namespace stoka::app
