// What the stream changed in the answer of a model before the visitor saw it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::cite {

enum class InterventionKind {
  cut,          // a sentence beyond the most that may stand without a citation
  unsupported,  // a sentence with a name, number or quotation that was not retrieved
  forbidden,    // a sentence that speaks against the NEVER list
  cited,        // the answer cited nothing, so the best source that was not shown is cited
  voided,       // nothing that the answer said was supported, so the void reply replaces it
};
inline constexpr std::array<InterventionKind, 5> kInterventionKinds = {
    InterventionKind::cut, InterventionKind::unsupported, InterventionKind::forbidden,
    InterventionKind::cited, InterventionKind::voided};

// "cut", "unsupported", "forbidden", "cited", "voided".
std::string_view to_string(InterventionKind kind);

// All interventions of one kind in an answer.
struct Intervention {
  InterventionKind kind = InterventionKind::cut;
  size_t count = 0;
  std::string detail;  // of the first: what was found, or which slug was cited
};
using Interventions = std::vector<Intervention>;  // at most one of each kind, in order of the first

void record(Interventions& all, InterventionKind kind, std::string_view detail, size_t count = 1);

}  // namespace stoka::cite
