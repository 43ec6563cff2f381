#include "vigil/properties/verify/outside/outside.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <random>

namespace vigil {
namespace {

std::atomic<OutsideCalls*>& Watcher() {
  static constinit std::atomic<OutsideCalls*> watcher = nullptr;
  return watcher;
}

void Note(OutsideKind kind, const char* name) {
  OutsideCalls* const calls = Watcher().load(std::memory_order_acquire);
  if (calls == nullptr) return;
  const char* none = nullptr;
  calls->first[static_cast<std::size_t>(kind)].compare_exchange_strong(none, name);
}

// The function that ours stands in front of.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t ModeOf(int flags, va_list arguments) {
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

OutsideCalls* WatchOutside(OutsideCalls* calls) { return Watcher().exchange(calls, std::memory_order_acq_rel); }

}  // namespace vigil

using vigil::Next;
using vigil::Note;
using vigil::OutsideKind;

// Passes a call on to the C library.
#define VIGIL_OUTSIDE(kind, result, name, parameters, arguments, attributes) \
  extern "C" result name parameters attributes {                             \
    Note(OutsideKind::kind, #name);                                          \
    static auto* const next = Next<result parameters>(#name);                \
    return next arguments;                                                   \
  }

VIGIL_OUTSIDE(kClock, int, clock_gettime, (clockid_t clock, struct timespec* now), (clock, now), noexcept)
VIGIL_OUTSIDE(kClock, int, gettimeofday, (struct timeval * now, void* zone), (now, zone), noexcept)
VIGIL_OUTSIDE(kClock, time_t, time, (time_t * now), (now), noexcept)
VIGIL_OUTSIDE(kClock, int, timespec_get, (struct timespec * now, int base), (now, base), noexcept)
VIGIL_OUTSIDE(kFiles, FILE*, fopen, (const char* path, const char* mode), (path, mode), )
VIGIL_OUTSIDE(kFiles, FILE*, fopen64, (const char* path, const char* mode), (path, mode), )
VIGIL_OUTSIDE(kFiles, DIR*, opendir, (const char* path), (path), )
VIGIL_OUTSIDE(kFiles, int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept)
VIGIL_OUTSIDE(kFiles, int, unlink, (const char* path), (path), noexcept)
VIGIL_OUTSIDE(kFiles, int, remove, (const char* path), (path), noexcept)
VIGIL_OUTSIDE(kFiles, int, rename, (const char* from, const char* to), (from, to), noexcept)
VIGIL_OUTSIDE(kRandom, ssize_t, getrandom, (void* data, size_t size, unsigned flags), (data, size, flags), )
VIGIL_OUTSIDE(kRandom, int, getentropy, (void* data, size_t size), (data, size), )
VIGIL_OUTSIDE(kRandom, int, rand, (), (), noexcept)
VIGIL_OUTSIDE(kRandom, long, random, (), (), noexcept)  // NOLINT: the C library's type
VIGIL_OUTSIDE(kRandom, double, drand48, (), (), noexcept)
VIGIL_OUTSIDE(kSleep, int, nanosleep, (const struct timespec* wanted, struct timespec* left), (wanted, left), )
VIGIL_OUTSIDE(kSleep, int, clock_nanosleep,
              (clockid_t clock, int flags, const struct timespec* wanted, struct timespec* left),
              (clock, flags, wanted, left), )
VIGIL_OUTSIDE(kSleep, int, usleep, (useconds_t wanted), (wanted), )
VIGIL_OUTSIDE(kSleep, unsigned, sleep, (unsigned wanted), (wanted), )
VIGIL_OUTSIDE(kThread, int, pthread_create,
              (pthread_t * thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument),
              (thread, attributes, start, argument), noexcept)
VIGIL_OUTSIDE(kOthers, int, connect, (int socket, const struct sockaddr* to, socklen_t size), (socket, to, size), )
VIGIL_OUTSIDE(kOthers, int, bind, (int socket, const struct sockaddr* to, socklen_t size), (socket, to, size), noexcept)
VIGIL_OUTSIDE(kOthers, int, getaddrinfo,
              (const char* node, const char* service, const struct addrinfo* hints, struct addrinfo** found),
              (node, service, hints, found), )
VIGIL_OUTSIDE(kOthers, int, system, (const char* command), (command), )
VIGIL_OUTSIDE(kOthers, FILE*, popen, (const char* command, const char* mode), (command, mode), )
VIGIL_OUTSIDE(kOthers, int, posix_spawn,
              (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const words[], char* const environment[]),
              (pid, path, actions, attributes, words, environment), )
VIGIL_OUTSIDE(kOthers, int, posix_spawnp,
              (pid_t * pid, const char* file, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const words[], char* const environment[]),
              (pid, file, actions, attributes, words, environment), )

#define VIGIL_OUTSIDE_OPEN(name)                                                  \
  extern "C" int name(const char* path, int flags, ...) {                         \
    va_list arguments;                                                            \
    va_start(arguments, flags);                                                   \
    const mode_t mode = vigil::ModeOf(flags, arguments);                          \
    va_end(arguments);                                                            \
    Note(OutsideKind::kFiles, #name);                                             \
    static auto* const next = Next<int(const char* path, int flags, ...)>(#name); \
    return next(path, flags, mode);                                               \
  }
VIGIL_OUTSIDE_OPEN(open)
VIGIL_OUTSIDE_OPEN(open64)

#define VIGIL_OUTSIDE_OPENAT(name)                                                               \
  extern "C" int name(int directory, const char* path, int flags, ...) {                         \
    va_list arguments;                                                                           \
    va_start(arguments, flags);                                                                  \
    const mode_t mode = vigil::ModeOf(flags, arguments);                                         \
    va_end(arguments);                                                                           \
    Note(OutsideKind::kFiles, #name);                                                            \
    static auto* const next = Next<int(int directory, const char* path, int flags, ...)>(#name); \
    return next(directory, path, flags, mode);                                                   \
  }
VIGIL_OUTSIDE_OPENAT(openat)
VIGIL_OUTSIDE_OPENAT(openat64)

// libstdc++'s own: it may ask the processor, whom nobody can stand in front of.
std::random_device::result_type std::random_device::_M_getval() {
  Note(OutsideKind::kRandom, "std::random_device");
  using Function = result_type(std::random_device*);
  static auto* const next = Next<Function>("_ZNSt13random_device9_M_getvalEv");
  return next(this);
}
