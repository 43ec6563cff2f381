// Reads events files back, for the tests of this folder.
#ifndef VIGIL_CORE_SUMMARY_TESTING_H_
#define VIGIL_CORE_SUMMARY_TESTING_H_

#include <string>
#include <vector>

#include "vigil/core/env/files.h"
#include "vigil/core/io/event.pb.h"

namespace vigil {

// All events of a file; fails the test if it is damaged or does not begin with its version.
std::vector<proto::Event> ReadEvents(Files& files, const std::string& path);
// The same as text without version, times and writer: "step: 3 summary { ... }".
std::vector<std::string> EventTexts(Files& files, const std::string& path);
// Paths of the events files in a directory.
std::vector<std::string> EventsFiles(Files& files, const std::string& directory);

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_TESTING_H_
