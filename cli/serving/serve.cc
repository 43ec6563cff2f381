// The program `vigil-serve` (`./vigil serve`): one task of a cluster, as a process of its own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/serving/serving_program.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil::cli {
namespace {

constexpr char kProgram[] = "vigil-serve";

constexpr char kServeNotes[] =
    "SPEC names every task of the cluster, jobs separated by semicolons: ps=HOST:PORT,HOST:PORT;worker=HOST:PORT\n"
    "A line on standard output tells when it serves; the log is on standard error. Ctrl-C or SIGTERM ends it: what is\n"
    "under way is cancelled first. A second one ends it at once.\n"
    "\n"
    "Whoever reaches a server can run any op in it, files and all. It listens on this machine alone (127.0.0.1,\n"
    "localhost) unless --beyond-loopback is given; then use TLS, or a network that only the cluster is in.\n"
    "\n"
    "Examples:\n"
    "  vigil-serve --cluster 'ps=127.0.0.1:2222;worker=127.0.0.1:2223' --job ps --task 0\n"
    "  vigil-serve --cluster 'local=127.0.0.1:0'    # a port that is free; the line on standard output tells it\n"
    "  vigil-serve --cluster \"$SPEC\" --job worker --task 1 --beyond-loopback --tls-authorities ca.pem \\\n"
    "      --tls-certificate worker1.pem --tls-key worker1.key\n"
    "\n"
    "Exit codes: 0 ended by a signal, after what was under way had ended; 1 it could not serve (an address in use, "
    "files\n"
    "of TLS), or could not say that it does; 2 misuse.\n";

struct ServeArguments {
  std::string cluster;
  std::optional<std::string> job;
  std::optional<int> task;
  int intra_op_threads = 1;
  std::uint64_t start_number = 0;
  bool beyond_loopback = false;
  bool quiet = false;
  TlsFiles tls;
};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

absl::StatusOr<ClusterSpec> ParseCluster(const std::string& text) {
  ClusterSpec::Jobs jobs;
  for (const std::string& each : Split(text, ';')) {
    const std::size_t equals = each.find('=');
    const std::string job = each.substr(0, equals);
    std::vector<std::string> tasks;
    if (equals != std::string::npos) tasks = Split(each.substr(equals + 1), ',');
    bool whole = !job.empty() && !tasks.empty();
    for (const std::string& address : tasks) whole = whole && address.find(':') != std::string::npos;
    if (!whole) {
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("--cluster: '{}' is no job and its tasks: JOB=HOST:PORT,HOST:PORT", each));
    }
    if (!jobs.emplace(job, std::move(tasks)).second) {
      return MakeStatus(Code::kInvalidArgument, fmt::format("--cluster: the job '{}' is there twice", job));
    }
  }
  return ClusterSpec::Create(jobs);
}

int Tell(int code, std::string_view what) { return TellError(kProgram, code, what); }

int ServeUntilSignalled(const ServeArguments& arguments, const ClusterSpec& cluster) {
  EndSignals signals;
  RealEnv real({.log_threshold = arguments.quiet ? Severity::kError : Severity::kInfo,
                .intra_op_threads = arguments.intra_op_threads});
  GrpcNetworkOptions options{.beyond_loopback = arguments.beyond_loopback};
  if (!arguments.tls.authorities.empty()) options.tls = arguments.tls;
  absl::StatusOr<std::unique_ptr<GrpcNetwork>> network = GrpcNetwork::Create(real.env(), options);
  if (!network.ok()) return Tell(kCannotServe, MessageOf(network.status()));
  Env env = real.env();
  env.network = network->get();
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Create(env, {.cluster = cluster,
                                                                        .job_name = arguments.job,
                                                                        .task_index = arguments.task,
                                                                        .start_number = arguments.start_number});
  if (!server.ok()) {
    const Code code = CodeOf(server.status());
    return Tell(code == Code::kUnknown ? kCannotServe : kWrongWords, MessageOf(server.status()));
  }
  const int said = Say(kProgram, fmt::format("/job:{}/task:{} serves at {}\n", (*server)->job_name(),
                                             (*server)->task_index(), (*server)->target()));
  if (said != 0) return said;
  signals.Wait();
  const Server::Load load = (*server)->load();
  if (!arguments.quiet) {
    Remark(fmt::format("vigil-serve: ends; it holds {} sessions, {} graphs, {} steps and {} calls\n", load.sessions,
                       load.graphs, load.steps, load.calls));
  }
  (*server)->Stop();
  return 0;
}

// What is wrong with options that are given all or none. (Which of two CLI11 names depends on where they lie.)
std::string WhatIsApart(std::span<CLI::Option* const> options) {
  const auto is_given = [](const CLI::Option* option) { return option->count() > 0; };
  const auto given = std::ranges::find_if(options, is_given);
  const auto missing = std::ranges::find_if_not(options, is_given);
  if (given == options.end() || missing == options.end()) return "";
  return fmt::format("{} requires {}", (*given)->get_name(), (*missing)->get_name());
}

int Serve(int count, const char* const* words) {
  ServeArguments a;
  CLI::App app("Serves one task of a cluster, until a signal ends it", kProgram);
  app.footer(kServeNotes);
  app.add_option("--cluster", a.cluster, "The tasks of the cluster and where they are")->required()->type_name("SPEC");
  app.add_option("--job", a.job, "The job of this task (default: the only one)")->type_name("JOB");
  app.add_option("--task", a.task, "Its number in the job (default: the only one)")
      ->check(CheckNumber(0, std::numeric_limits<int>::max()))
      ->type_name("N");
  app.add_option("--start-number", a.start_number,
                 "Which start of this task this is, greater than those before: by it the others know which of two "
                 "processes is the later one (SLURM_RESTART_COUNT plus one)")
      ->check(CheckSeed)
      ->type_name("N");
  app.add_option("--intra-op-threads", a.intra_op_threads, "How many threads work on one op (default: 1)")
      ->check(CheckNumber(1, 1024))
      ->type_name("N");
  app.add_flag("--beyond-loopback", a.beyond_loopback, "Let other machines reach it");
  app.add_flag("--quiet", a.quiet, "Log errors only");
  bool one_sided = false;
  CLI::Option* const ca =
      app.add_option("--tls-authorities", a.tls.authorities, "Who signs the certificates of the cluster (PEM)");
  CLI::Option* const certificate =
      app.add_option("--tls-certificate", a.tls.certificate, "The certificate of this task (PEM)");
  CLI::Option* const key = app.add_option("--tls-key", a.tls.key, "Its key (PEM)");
  const std::array files = {ca, certificate, key};
  for (CLI::Option* const each : files) each->type_name("FILE");
  app.add_flag("--tls-one-sided", one_sided, "Ask clients for no certificate")->needs(ca);
  app.add_option("--tls-name", a.tls.server_name, "Whose certificate the others show (default: their hosts')")
      ->needs(ca)
      ->type_name("HOST");
  try {
    app.parse(count, words);
    a.tls.mutual = !one_sided;
  } catch (const CLI::CallForHelp&) {
    return Say(kProgram, app.help());
  } catch (const CLI::Error& error) {
    return Tell(kWrongWords, error.what());
  }
  if (const std::string apart = WhatIsApart(files); !apart.empty()) return Tell(kWrongWords, apart);
  const absl::StatusOr<ClusterSpec> cluster = ParseCluster(a.cluster);
  if (!cluster.ok()) return Tell(kWrongWords, MessageOf(cluster.status()));
  return ServeUntilSignalled(a, *cluster);
}

}  // namespace
}  // namespace vigil::cli

int main(int count, char** words) {
  // What gRPC could not do is told by what is asked of it.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  vigil::cli::HoldClosedStreams();
  return vigil::cli::Serve(count, words);
}
