#include "vigil/properties/documents/faults_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/properties/documents/markdown.h"
#include "vigil/sim/checkers/causes.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kFaultsHead = R"(# Faults

Every kind of fault that a simulated cluster meets: what it does, where it comes from in real life, and what came of it in the
campaign that this page was made with. *Planned* counts entries of plans (and properties of links), *fired* how often such a
fault began to happen, *effective* how often it changed something: what fired without effect is inert, and the text of a failing
job names it. An entry or a link may strike many requests, then it fires more often than it was planned. A campaign of at least
2,000 seeds in which some kind never fired, or never changed anything, fails.

This page is generated, the numbers too:
)";

std::string FaultSection(const sim::FaultKindInfo& info, const ClusterTally& tally) {
  const auto found = tally.faults.find(std::string(info.name));
  const ClusterTally::FaultKind count = found == tally.faults.end() ? ClusterTally::FaultKind() : found->second;
  return fmt::format("\n## {}\n\n{}{}- In the campaign: planned {}, fired {}, effective {}, in {} jobs\n", info.name,
                     MarkdownItem(info.does), MarkdownItem(fmt::format("In real life: {}", info.origin)), count.planned,
                     count.fired, count.effective, count.jobs);
}

constexpr std::string_view kCausesHead = R"(
# Causes

Which of them may lead to which end of a task, and why. `job.errors_have_a_cause` judges by this table: a task ends cleanly, or with a
code that a row explains by one of its faults which has fired, not planned for a later time, and where the task could feel it: at the
task itself, at a server or between the two (where sessions need every task, anywhere). A row about others that are gone asks where
*they* were struck.

| code | at | why | faults |
|---|---|---|---|
)";

std::string CauseRow(const sim::Cause& cause) {
  std::vector<std::string_view> codes;
  for (const Code code : cause.codes) codes.push_back(CodeName(code));
  std::vector<std::string_view> faults;
  for (const sim::FaultKind fault : cause.faults) faults.push_back(sim::InfoOf(fault).name);
  return fmt::format("| {} | {} | {} | {} |\n", fmt::join(codes, ", "), cause.who, cause.rule, fmt::join(faults, ", "));
}

}  // namespace

std::string FaultsDocument(const ClusterTally& tally, std::uint64_t first_seed, std::uint64_t last_seed) {
  std::string text(kFaultsHead);
  text += fmt::format("`./vigil check --suite cluster --seeds {}..{} --faults-document docs/faults.md`\n", first_seed,
                      last_seed);
  for (const sim::FaultKindInfo& info : sim::AllFaultKinds()) text += FaultSection(info, tally);
  text += kCausesHead;
  for (const sim::Cause& cause : sim::Causes()) text += CauseRow(cause);
  return text;
}

}  // namespace vigil::properties
