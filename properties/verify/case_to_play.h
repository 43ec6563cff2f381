// How a test of one hook is told to play one case only: by an environment variable, as GoogleTest itself is told what
// to run.
//
//   VIGIL_VERIFY_CASE=random_17 ./my_test --gtest_filter=VigilVerify.EarlyStopping
//
// Thread safety: for the main thread.
#ifndef VIGIL_PROPERTIES_VERIFY_CASE_TO_PLAY_H_
#define VIGIL_PROPERTIES_VERIFY_CASE_TO_PLAY_H_

#include <string>
#include <string_view>

namespace vigil {

// "" = all.
std::string CaseToPlay();
// With "{}" for the case.
std::string ReplayLineOfTest(std::string_view name);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_CASE_TO_PLAY_H_
