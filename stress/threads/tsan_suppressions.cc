// What the thread sanitizer is told in every program that it looks at.
//
// Debian's absl is compiled without it. How many share a piece of a cord, or an error, is counted in its libraries, so
// the sanitizer does not see that the last of them frees it after the others have let go. Naming the libraries is not
// enough: they free in a tail call, which the sanitizer takes for one of the program itself. So the functions below
// come before the libraries' own.
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

// With the same effect as the library's: here the sanitizer sees all of the counter.
void absl::Status::UnrefNonInlined(std::uintptr_t rep) {
  status_internal::StatusRep* const shared = RepToPointer(rep);
  if (shared->ref.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
}

// Of a piece of a cord the library counts in many places: what the last owner frees is not looked at.
void absl::cord_internal::CordRep::Destroy(CordRep* rep) {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&CordRep::Destroy), &own) == 0 || own.dli_sname == nullptr) __builtin_trap();
  void* const next = dlsym(RTLD_NEXT, own.dli_sname);
  if (next == nullptr) __builtin_trap();
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  reinterpret_cast<void (*)(CordRep*)>(next)(rep);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
