// Hooks that go to the machine past their Env.
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "vigil/properties/verify/findings.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

// Calls a function after each run.
template <typename Function>
class AfterEachRun : public SessionRunHook {
 public:
  explicit AfterEachRun(Function function) : function_(std::move(function)) {}
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    function_();
    return absl::OkStatus();
  }

 private:
  Function function_;
};

template <typename Function>
HookMaker Doing(Function function) {
  return [function](HookWorld&) { return std::make_unique<AfterEachRun<Function>>(function); };
}

// Changes nothing that anybody could see, and is seen all the same.
void StepsPerSecond() { static_cast<void>(std::chrono::system_clock::now().time_since_epoch().count()); }
void SecondsNow() { static_cast<void>(std::time(nullptr)); }
void TimeOfDay() {
  timeval now{};
  gettimeofday(&now, nullptr);
}
void WritesDevNull() {
  std::ofstream out("/dev/null");
  out << "step\n";
}
void ReadsConfiguration() {
  if (std::FILE* const file = std::fopen("/etc/hostname", "r"); file != nullptr) std::fclose(file);
}
void RandomDevice() {
  std::random_device device;
  static_cast<void>(device());
}
void CRandom() { static_cast<void>(std::rand()); }
void Naps() { std::this_thread::sleep_for(std::chrono::nanoseconds(1)); }
void OwnThread() {
  std::thread([] {}).join();
}
void Connects() { static_cast<void>(connect(-1, nullptr, 0)); }

// Writes the last step into a file of Env's, without leave.
class WritesAFile : public SessionRunHook {
 public:
  explicit WritesAFile(const Env& env) : env_(env) {}
  absl::Status End(Session*) override { return WriteAtomically(*env_.files, "/last_step", "4"); }

 private:
  const Env env_;
};

}  // namespace

std::vector<ZooHook> WrongOutside() {
  return {
      {"measures_wall_clock", "computes steps per second by the machine's clock", promise::kClock,
       Doing(StepsPerSecond)},
      {"asks_time", "asks time()", promise::kClock, Doing(SecondsNow)},
      {"asks_time_of_day", "asks gettimeofday()", promise::kClock, Doing(TimeOfDay)},
      {"writes_by_stream", "writes a file by std::ofstream", promise::kFiles, Doing(WritesDevNull)},
      {"reads_by_stdio", "reads a file by fopen()", promise::kFiles, Doing(ReadsConfiguration)},
      {"draws_by_device", "draws from std::random_device", promise::kRandom, Doing(RandomDevice)},
      {"draws_by_rand", "draws by rand()", promise::kRandom, Doing(CRandom)},
      {"naps", "sleeps for real", promise::kSleeps, Doing(Naps)},
      {"own_thread", "starts a std::thread", promise::kOwnThread, Doing(OwnThread)},
      {"connects", "opens a connection", promise::kOthers, Doing(Connects)},
      {"writes_a_file", "writes a file of Env's without leave", promise::kWrites,
       [](HookWorld& w) { return std::make_unique<WritesAFile>(w.env()); }},
  };
}

}  // namespace vigil
