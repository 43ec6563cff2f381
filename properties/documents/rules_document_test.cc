#include "vigil/properties/documents/rules_document.h"

#include <gtest/gtest.h>

#include "vigil/core/env/real/posix_files.h"

namespace vigil::properties {
namespace {

TEST(RulesDocumentTest, IsUpToDate) {
  PosixFiles files;
  const absl::StatusOr<std::string> written = ReadAll(files, std::string(VIGIL_SOURCE_DIR) + "/docs/rules.md");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(*written, RulesDocument())
      << "docs/rules.md is stale; regenerate it: ./vigil rules --markdown > docs/rules.md";
}

}  // namespace
}  // namespace vigil::properties
