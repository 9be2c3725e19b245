// The record of what the stream changed in a model's answer before the visitor saw the answer.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::cite {

enum class InterventionKind {
  cut,          // a sentence was dropped, because too many stood without a citation
  unsupported,  // a sentence had a name, number or quotation that was not retrieved
  forbidden,    // a sentence broke a rule of the NEVER list
  cited,        // the answer cited nothing, so the best source that was not shown is cited
  voided,       // nothing that the answer said was supported, so the void reply replaces it
};
inline constexpr std::array<InterventionKind, 5> kInterventionKinds = {
    InterventionKind::cut, InterventionKind::unsupported, InterventionKind::forbidden,
    InterventionKind::cited, InterventionKind::voided};

// Returns "cut", "unsupported", "forbidden", "cited" or "voided".
std::string_view to_string(InterventionKind kind);

// All interventions of one kind in an answer.
struct Intervention {
  InterventionKind kind = InterventionKind::cut;
  size_t count = 0;
  std::string detail;  // the words found or the slug cited, of the first intervention
};
using Interventions = std::vector<Intervention>;  // one for each kind that occurred

void record(Interventions& all, InterventionKind kind, std::string_view detail, size_t count = 1);

}  // namespace stoka::cite
