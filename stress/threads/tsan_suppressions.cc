// What the thread sanitizer is told in every program that it looks at.
//
// Debian's absl is compiled without it. How many share a piece of a cord, or an error, is counted in its libraries, so
// the sanitizer does not see that the last of them frees it after the others have let go.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_cord.so\n"
         "called_from_lib:libabsl_status.so\n";
}
