#include "vigil/properties/documents/faults_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCounts = "- In the campaign: ";

std::string WithoutCounts(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    rest += line.starts_with(kCounts) ? kCounts : line;
    rest += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return rest;
}

TEST(FaultsDocumentTest, SaysWhatTheFaultsAre) {
  PosixFiles files;
  const absl::StatusOr<std::string> written = ReadAll(files, std::string(VIGIL_SOURCE_DIR) + "/docs/faults.md");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(WithoutCounts(*written), WithoutCounts(FaultsDocument({}, 1, 2000)))
      << "docs/faults.md is stale; it says how to make it again";
  EXPECT_THAT(*written, Not(HasSubstr(", fired 0, "))) << "made by a campaign that was too small";
}

TEST(FaultsDocumentTest, SaysWhatTheyMayLeadTo) {
  EXPECT_THAT(FaultsDocument({}, 1, 2000), HasSubstr("\n| RESOURCE_EXHAUSTED | any task | A full disk is an error, not "
                                                     "a reason to try again. | no_space, full_disk |\n"));
}

TEST(FaultsDocumentTest, CountsWhatTheCampaignMet) {
  ClusterTally tally;
  tally.faults["pause"] = {.jobs = 2, .planned = 7, .fired = 5, .effective = 3};
  const std::string document = FaultsDocument(tally, 3, 9);
  EXPECT_THAT(document, HasSubstr("--seeds 3..9 "));
  EXPECT_THAT(document, HasSubstr("\n- In the campaign: planned 7, fired 5, effective 3, in 2 jobs\n"));
  for (const sim::FaultKindInfo& info : sim::AllFaultKinds())
    EXPECT_THAT(document, HasSubstr("\n## " + std::string(info.name) + "\n"));
}

}  // namespace
}  // namespace vigil::properties
