// What a job leaves behind on servers that live on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

constexpr Time kBefore{Duration::min()};

// A goodbye that nobody answers is said three times, for ten seconds each (core/cluster/goodbye.h).
constexpr std::int64_t kGoodbyes = 3;
constexpr std::chrono::seconds kGoodbyesTake{30};

struct Life {
  Time began = kBefore;
  Time over = kNever;      // at the latest
  Time end = kNever;       // of its program
  bool ended = false;      // by itself
  bool zombie = false;     // goes on beside the next one, until everything has healed
  bool stays = false;      // is there when nobody asks for anything any more
  Time trained = kBefore;  // when a run came back the last time; of the master of all: when such a run had begun
  Code code = Code::kOk;
};
using LifeName = std::pair<std::string, int>;  // the task, and which of its lives
using Lives = std::map<LifeName, Life>;

LifeName NameOf(const JobMoment& moment) { return {std::string(WithoutZombie(moment.task)), moment.life}; }

// A run that came back was made by the life of the master of all in which it had begun, if it did not go on beside
// another one. What it read of the ledger it read of all servers.
void NoteOfTheMaster(const JobMoment& returned, Time began, const LifeName& master, Lives& lives) {
  const auto life = lives.find(master);
  if (life == lives.end() || returned.ledger.empty() || began < life->second.began) return;
  life->second.trained = std::max(life->second.trained, began);
}

Lives LivesOf(const JobRun& run) {
  Lives lives;
  LifeName master{run.spec.workload.master, 0};
  std::map<std::string, Time, std::less<>> runs;  // when those that are under way have begun
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kReplaced) lives[NameOf(moment)].zombie = true;
    if (moment.kind == JobMoment::Kind::kHealed) {
      for (auto& [name, life] : lives) {
        if (life.zombie) life.over = moment.at;
      }
    }
    if (moment.kind == JobMoment::Kind::kStarted) {
      lives[{moment.task, moment.life}].began = moment.at;
      if (moment.task == master.first) master.second = moment.life;
      const auto before = lives.find({moment.task, moment.life - 1});
      if (before != lives.end() && !before->second.zombie) before->second.over = moment.at;
    }
    if (moment.kind == JobMoment::Kind::kRunStarted) runs[moment.task] = moment.at;
    if (moment.kind == JobMoment::Kind::kRunReturned) {
      lives[NameOf(moment)].trained = moment.at;
      NoteOfTheMaster(moment, runs.try_emplace(moment.task, kBefore).first->second, master, lives);
    }
    if (moment.kind == JobMoment::Kind::kAtRest) lives[{moment.task, moment.life}].stays = true;
    if (moment.kind != JobMoment::Kind::kEnded) continue;
    Life& life = lives[NameOf(moment)];
    life.ended = true;
    life.end = moment.at;
    life.code = moment.code;
  }
  return lives;
}

// Whether a later process of that task has trained with that life of a server, or has been the master of who has.
bool WasFollowedOn(const Lives& lives, const std::pair<std::string, int>& name, const Life& server) {
  return std::ranges::any_of(lives, [&](const auto& entry) {
    const auto& [later, life] = entry;
    return later.first == name.first && later.second > name.second && life.trained > server.began;
  });
}

// A master that died without a word has told nobody that its graphs and values are not needed any more. A server that
// began after that never had them; and one that hears of the next process of that task lets them go. The client of
// another task's master need not say anything: what is not heard of goes, if not `soon`.
bool AMasterDiedOn(const JobRun& run, const Lives& lives, const Life& server, bool soon) {
  return std::ranges::any_of(lives, [&](const auto& entry) {
    const auto& [name, life] = entry;
    if (server.began >= life.over) return false;  // its own next life, too
    if (IsServer(name.first)) {
      return name.first == run.spec.workload.master && !life.stays &&
             (HasZombies(run) || !WasFollowedOn(lives, name, server));
    }
    if (life.ended || name.first.find(kEvaluatorJob) == 0) return false;
    return run.spec.workload.master.empty() ? !WasFollowedOn(lives, name, server) : soon;
  });
}

// Whether who sent it was there to say it again, and again.
bool CouldSayItAgain(const UnheardCall& call, const Lives& lives) {
  return std::ranges::any_of(call.lives, [&](int number) {
    const auto found = lives.find({call.sender, number});
    if (found == lives.end()) return false;
    const Life& life = found->second;
    return life.began <= call.sent && call.sent + kGoodbyesTake < std::min(life.over, life.end);
  });
}

// How much that life of the server can have kept since goodbyes of that kind never reached it: all three of each, or
// those whose senders were gone too soon.
std::int64_t Unheard(const JobRun& run, const Lives& lives, const std::string& server, const Life& life,
                     std::string_view method) {
  std::int64_t alone = 0;
  std::int64_t in_vain = 0;
  for (const UnheardCall& call : run.facts.unheard) {
    if (call.server != server || !call.method.ends_with(method) || call.sent < life.began) continue;
    ++(CouldSayItAgain(call, lives) ? in_vain : alone);
  }
  return alone + in_vain / kGoodbyes;
}

// What of "2 steps, 1 of /service/Method" goodbyes that were not heard do not explain.
std::string Unexplained(const JobRun& run, const Lives& lives, const JobMoment& moment, const Life& life) {
  const std::int64_t cleanups = Unheard(run, lives, moment.task, life, "/CleanupGraph");
  const std::int64_t closings = Unheard(run, lives, moment.task, life, "/CloseSession");
  std::vector<std::string_view> left;
  for (std::string_view rest = moment.subject; !rest.empty();) {
    const std::string_view held = rest.substr(0, rest.find(", "));
    rest.remove_prefix(std::min(rest.size(), held.size() + 2));
    std::int64_t count = 0;
    std::from_chars(held.data(), held.data() + held.size(), count);
    // What is under way belongs to a step, which may wait for many values.
    const bool of_steps = held.ends_with(" steps") ? count <= cleanups : held.find(" of ") != held.npos && cleanups > 0;
    // Each has a task that watches its servers.
    const bool of_sessions = (held.ends_with(" sessions") || held.ends_with(" of watch tasks")) && count <= closings;
    if (!of_steps && !of_sessions) left.push_back(held);
  }
  return fmt::format("{}", fmt::join(left, ", "));
}

// Whether the master of all keeps a session: where the goodbye to one is lost, its graphs stay on all servers.
bool ASessionIsLeft(const JobRun& run, JobMoment::Kind look) {
  return std::ranges::any_of(run.history, [&run, look](const JobMoment& moment) {
    return moment.kind == look && moment.task == run.spec.workload.master &&
           moment.subject.find(" sessions") != moment.subject.npos;
  });
}

void CheckLook(const JobRun& run, JobMoment::Kind look, Findings& findings) {
  const Lives lives = LivesOf(run);
  const bool session_left = ASessionIsLeft(run, look);
  for (const JobMoment& moment : run.history) {
    if (moment.kind != look) continue;
    const auto found = lives.find(NameOf(moment));
    const Life life = found == lives.end() ? Life{} : found->second;
    const bool server = IsServer(moment.task);
    // Of a program that fails a last step may still be on its way out; one that was killed at its end has not ended.
    if (server ? AMasterDiedOn(run, lives, life, look == JobMoment::Kind::kAtRestSoon)
               : !life.ended || life.code != Code::kOk)
      continue;
    // The master of another task tells this one a little later that its graphs are not needed any more.
    if (!server && !run.spec.workload.master.empty()) continue;
    findings.Arm();
    const std::string held = server ? Unexplained(run, lives, moment, life) : moment.subject;
    const std::int64_t graphs = server ? Unheard(run, lives, moment.task, life, "/DeregisterGraph") : 0;
    if (!held.empty()) findings.Violate(moment, "a server that holds nothing for anybody", held);
    if (moment.step > graphs && !session_left) {
      findings.Violate(moment, graphs == 0 ? "a server that keeps no graph" : fmt::format("at most {} graphs", graphs),
                       fmt::format("{} graphs", moment.step));
    }
  }
}

void CheckAtRest(const JobRun& run, Findings& findings) {
  CheckLook(run, JobMoment::Kind::kAtRestSoon, findings);
  CheckLook(run, JobMoment::Kind::kAtRest, findings);
}

}  // namespace

const Checker kResourcesReturn = {
    .id = "job.resources_return",
    .sentence =
        "A program that ends cleanly leaves no step and no session on its server; when every fault has ended and every "
        "training task has gone, the servers that live on keep no step, graph or request of anybody, nothing that was "
        "a session's alone, nobody in a line of a queue or an accumulator, no file open, and no request of theirs "
        "counts as on its way.",
    .source = "MasterSession::Close: tells the workers to forget the graphs; TensorFlow's CleanupGraph",
    .check = CheckAtRest,
    .excuses =
        "on a server that lives on, as many graphs (steps, sessions) as were given back (DeregisterGraph, "
        "CleanupGraph, "
        "CloseSession) to this life of it by messages that reached no handler: three times each, or once by who was "
        "gone within half a minute; graphs where such a session is left at the master that makes all; all on it where "
        "that master, or a training task with a master of its own, died without a word in its time and did not come "
        "back to train, and in the first minutes also where a client of that master did; programs that end with an "
        "error or are "
        "killed, or whose sessions another task's master makes; on the server of a program, as many steps as tasks "
        "that it has started still run at that moment",
    .why =
        "nobody tells the servers for ever what is not needed any more; a step that failed may still be on its way "
        "out; who runs a step when its program ends has not given it back (in calm lives job.no_task_left says whether "
        "such a task may be left)",
};

}  // namespace vigil::sim
