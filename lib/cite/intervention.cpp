#include "cite/intervention.h"

#include <algorithm>

namespace stoka::cite {

std::string_view to_string(InterventionKind kind) {
  switch (kind) {
    case InterventionKind::cut:
      return "cut";
    case InterventionKind::unsupported:
      return "unsupported";
    case InterventionKind::forbidden:
      return "forbidden";
    case InterventionKind::cited:
      return "cited";
    case InterventionKind::voided:
      break;
  }
  return "voided";
}

void record(Interventions& all, InterventionKind kind, std::string_view detail, size_t count) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Intervention& one) { return one.kind == kind; });
  if (same != all.end())
    same->count += count;
  else
    all.push_back({kind, count, std::string(detail)});
}

}  // namespace stoka::cite
