// The forged histories of what looks at what a job leaves behind on servers.
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

JobEvidence AtRest(std::string_view held, std::int64_t graphs) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kStarted}, {2, kHand, Kind::kEnded}, {90, "ps:0", Kind::kAtRest}});
  evidence.history.back().subject = held;
  evidence.history.back().step = graphs;
  return evidence;
}

// The same; that message was sent to that server at that second, and nobody got it, by a fault that has fired.
JobEvidence Unheard(std::string_view held, std::int64_t graphs, std::string_view server, std::string_view method,
                    int second = 50) {
  JobEvidence evidence = AtRest(held, graphs);
  evidence.history.insert(evidence.history.begin(), Tell({{10, "ps:0", Kind::kStarted}}).front());
  evidence.facts.faults = {{"cut", 1, 1, 1}};
  evidence.facts.unheard = {
      {std::string(kHand), {1}, std::string(server), std::string(method), Time{std::chrono::seconds(second)}}};
  return evidence;
}

// A server that keeps a graph, whose master, which is there all the time, has given it back so often in vain.
JobEvidence GivenBack(std::size_t times) {
  JobEvidence evidence = Unheard("", 1, "ps:0", "/tensorflow.WorkerService/DeregisterGraph");
  evidence.facts.unheard.front().sender = "ps:1";
  evidence.facts.unheard.resize(times, evidence.facts.unheard.front());
  evidence.history.insert(evidence.history.begin(), Tell({{1, "ps:1", Kind::kStarted}}).front());
  return evidence;
}

// The same of a master that was taken for dead and went on beside its next life, which ended at once: that life of it
// has given the graph back.
JobEvidence GivenBackBy(int life) {
  JobEvidence evidence = GivenBack(1);
  evidence.facts.unheard.front().lives = {life};
  for (JobMoment& moment :
       Tell({{40, ZombieOf("ps:1"), Kind::kReplaced}, {41, "ps:1", Kind::kStarted}, {51, "ps:1", Kind::kEnded}})) {
    if (!IsZombie(moment.task)) moment.life = 2;
    evidence.history.push_back(std::move(moment));
  }
  return evidence;
}

// A worker whose life ends with a step on its server, or is killed at that; and whose next one fails.
JobEvidence HeldByALife(bool ends) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kStarted}, {2, kHand, Kind::kAtRest}});
  evidence.history.back().subject = "1 steps";
  if (ends) evidence.history.push_back(Tell({{3, kHand, Kind::kEnded}}).front());
  for (JobMoment& moment : Tell({{4, kHand, Kind::kStarted}, {5, kHand, Kind::kEnded, 0, Code::kAborted}})) {
    moment.life = 2;
    if (!ends) moment.code = Code::kOk;
    evidence.history.push_back(std::move(moment));
  }
  return evidence;
}

// A server that keeps a graph; a worker was killed before it began, or after.
JobEvidence KilledAndBackAt(int worker_back, int server_began) {
  JobEvidence evidence =
      Evidence({{1, kHand, Kind::kStarted}, {worker_back, kHand, Kind::kStarted}, {80, kHand, Kind::kEnded}});
  evidence.history[1].life = evidence.history[2].life = 2;
  for (JobMoment& moment : Tell({{server_began, "ps:0", Kind::kStarted}, {90, "ps:0", Kind::kAtRest, 1}}))
    evidence.history.push_back(std::move(moment));
  return evidence;
}

// A server that keeps a graph; another one, whose master made the sessions, died and is back.
JobEvidence MasterBackAt(int master_back, int server_began) {
  JobEvidence evidence = Evidence({{1, "ps:0", Kind::kStarted},
                                   {master_back, "ps:0", Kind::kStarted},
                                   {80, kHand, Kind::kStarted},
                                   {81, kHand, Kind::kEnded},
                                   {90, "ps:0", Kind::kAtRest}});
  evidence.spec.workload.master = "ps:0";
  evidence.history[1].life = evidence.history[4].life = 2;
  for (JobMoment& moment : Tell({{server_began, "ps:1", Kind::kStarted}, {90, "ps:1", Kind::kAtRest, 1}}))
    evidence.history.push_back(std::move(moment));
  return evidence;
}

// The same, where a run that came back had begun in that second: the master was back in second 20.
JobEvidence MasterTrainsFrom(int second) {
  JobEvidence evidence = MasterBackAt(20, 10);
  const JobHistory run =
      Tell({{second, kHand, Kind::kRunStarted}, {81, kHand, Kind::kRunReturned, 1, Code::kOk, {1, 1}}});
  evidence.history.insert(evidence.history.begin() + 3, run.begin(), run.end());
  return evidence;
}

// The same, of the master's next life.
JobEvidence MasterHolds(std::string_view held) {
  JobEvidence evidence = MasterBackAt(20, 10);
  for (JobMoment& moment : evidence.history) {
    if (moment.kind != Kind::kAtRest) continue;
    moment.step = 0;
    if (moment.task == "ps:0") moment.subject = held;
  }
  return evidence;
}

// Two servers of a job whose sessions the first one's master makes: the second keeps a graph, and the first what is
// said, which nobody or somebody has closed in vain.
JobEvidence LeftAtTheMaster(std::string_view held, bool in_vain) {
  JobEvidence evidence = AtRest(held, 0);
  evidence.spec.workload.master = "ps:0";
  if (in_vain)
    evidence.facts.unheard = {
        {std::string(kHand), {1}, "ps:0", "/tensorflow.MasterService/CloseSession", Time{std::chrono::seconds(50)}}};
  for (JobMoment& moment : Tell({{1, "ps:1", Kind::kStarted}, {90, "ps:1", Kind::kAtRest, 1}}))
    evidence.history.push_back(std::move(moment));
  return evidence;
}

}  // namespace

std::vector<CheckerCase> RestCases() {
  return {
      {"job.resources_return", "a server keeps a graph", AtRest("", 0), AtRest("", 1)},
      {"job.resources_return", "a server keeps a file open", AtRest("", 0), AtRest("1 open files", 0)},
      {"job.resources_return", "somebody waits at a queue in no step", AtRest("", 0), AtRest("1 places in lines", 0)},
      {"job.resources_return", "a goodbye to a step excuses who waits in no step",
       Unheard("1 steps", 0, "ps:0", "/tensorflow.WorkerService/CleanupGraph"),
       Unheard("1 places in lines", 0, "ps:0", "/tensorflow.WorkerService/CleanupGraph")},
      {"job.resources_return", "a server keeps a step", AtRest("", 0), AtRest("1 steps", 0)},
      {"job.resources_return", "a goodbye that was not heard excuses what was a session's alone",
       Unheard("1 steps", 0, "ps:0", "/tensorflow.WorkerService/CleanupGraph"),
       Unheard("1 own resource sets", 0, "ps:0", "/tensorflow.WorkerService/CleanupGraph")},
      {"job.resources_return", "a fault that struck something else excuses it",
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/DeregisterGraph"),
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/RunGraph")},
      {"job.resources_return", "the goodbye to another server excuses it",
       Unheard("1 steps", 0, "ps:0", "/tensorflow.WorkerService/CleanupGraph"),
       Unheard("1 steps", 0, "ps:1", "/tensorflow.WorkerService/CleanupGraph")},
      {"job.resources_return", "the goodbye to a step excuses a graph",
       Unheard("1 steps, 2 of /tensorflow.WorkerService/RecvTensor", 0, "ps:0",
               "/tensorflow.WorkerService/CleanupGraph"),
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/CleanupGraph")},
      {"job.resources_return", "one goodbye excuses two graphs",
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/DeregisterGraph"),
       Unheard("", 2, "ps:0", "/tensorflow.WorkerService/DeregisterGraph")},
      {"job.resources_return", "a goodbye that could have been said again excuses it", GivenBack(3), GivenBack(2)},
      {"job.resources_return", "the end of a life on another machine excuses it", GivenBackBy(2), GivenBackBy(1)},
      {"job.resources_return", "the goodbye to an earlier life of the server excuses it",
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/DeregisterGraph", 11),
       Unheard("", 1, "ps:0", "/tensorflow.WorkerService/DeregisterGraph", 9)},
      {"job.resources_return", "the end of another life excuses it", HeldByALife(false), HeldByALife(true)},
      {"job.resources_return", "a death before the server began excuses it", KilledAndBackAt(20, 10),
       KilledAndBackAt(20, 30)},
      {"job.resources_return", "the death of the master before the server began excuses it", MasterBackAt(20, 10),
       MasterBackAt(20, 30)},
      {"job.resources_return", "the death of a master excuses what it left where its next life has trained",
       MasterTrainsFrom(19), MasterTrainsFrom(20)},
      {"job.resources_return", "the death of a master excuses what its next life holds", MasterHolds(""),
       MasterHolds("1 sessions")},
      {"job.resources_return", "a session is left that nobody has closed in vain",
       LeftAtTheMaster("1 sessions, 1 of watch tasks", true), LeftAtTheMaster("1 sessions, 1 of watch tasks", false)},
      {"job.resources_return", "the session of one goodbye excuses two watchers",
       LeftAtTheMaster("1 sessions, 1 of watch tasks", true), LeftAtTheMaster("1 sessions, 2 of watch tasks", true)},
      {"job.resources_return", "the goodbye to a session that is gone excuses graphs",
       LeftAtTheMaster("1 sessions", true), LeftAtTheMaster("", true)},
  };
}

}  // namespace vigil::sim
