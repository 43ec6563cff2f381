// What the thread sanitizer is told in every program that it looks at.
//
// Debian's absl is compiled without it. How many share a piece of a cord, or an error, is counted in its libraries, so
// the sanitizer does not see that the last of them frees it after the others have let go. Naming the libraries is not
// enough: they free in a tail call, which the sanitizer takes for one of the program itself. So what a library frees
// goes through the functions below.
#include <dlfcn.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/internal/cord_internal.h"

extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_cord.so\n"
         "called_from_lib:libabsl_status.so\n";
}
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);

namespace {

// Calls the library's function that `own` stands before.
template <typename Argument>
void CallLibrary(void (*own)(Argument), Argument argument) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(own), &info) == 0 || info.dli_sname == nullptr) __builtin_trap();
  void* const next = dlsym(RTLD_NEXT, info.dli_sname);
  if (next == nullptr) __builtin_trap();
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  reinterpret_cast<void (*)(Argument)>(next)(argument);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

}  // namespace

void absl::Status::UnrefNonInlined(std::uintptr_t rep) { CallLibrary(&absl::Status::UnrefNonInlined, rep); }

void absl::cord_internal::CordRep::Destroy(CordRep* rep) { CallLibrary(&CordRep::Destroy, rep); }
