#include "vigil/properties/documents/faults_document.h"

#include <fmt/format.h>

#include <string_view>

#include "vigil/properties/documents/markdown.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kFaultsHead = R"(# Faults

Every kind of fault that a simulated cluster meets: what it does, where it comes from in real life, and what came of it in the
campaign that this page was made with. *Planned* counts entries of plans (and properties of links), *fired* how often such a
fault began to happen, *effective* how often it changed something: what fired without effect is inert, and the text of a failing
job names it. An entry or a link may strike many requests, then it fires more often than it was planned. A campaign of at least
2,000 seeds in which some kind never fired fails.

This page is generated, the numbers too:
)";

std::string FaultSection(const sim::FaultKindInfo& info, const ClusterTally& tally) {
  const auto found = tally.faults.find(std::string(info.name));
  const ClusterTally::FaultKind count = found == tally.faults.end() ? ClusterTally::FaultKind() : found->second;
  return fmt::format("\n## {}\n\n{}{}- In the campaign: planned {}, fired {}, effective {}, in {} jobs\n", info.name,
                     MarkdownItem(info.does), MarkdownItem(fmt::format("In real life: {}", info.origin)), count.planned,
                     count.fired, count.effective, count.jobs);
}

}  // namespace

std::string FaultsDocument(const ClusterTally& tally, std::uint64_t first_seed, std::uint64_t last_seed) {
  std::string text(kFaultsHead);
  text += fmt::format("`./vigil check --suite cluster --seeds {}..{} --faults-document docs/faults.md`\n", first_seed,
                      last_seed);
  for (const sim::FaultKindInfo& info : sim::AllFaultKinds()) text += FaultSection(info, tally);
  return text;
}

}  // namespace vigil::properties
