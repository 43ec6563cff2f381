// The program `vigil-proxy` (`./vigil proxy`): stands between a client and its master, and lets go wrong what a plan
// says.
#include "vigil/proxy/proxy.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "vigil/cli/serving/serving_program.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

constexpr char kProgram[] = "vigil-proxy";

constexpr char kProxyNotes[] =
    "Point the training at the proxy instead of at its master; nothing else of it changes. Every call passes through,\n"
    "but those that the plan names. docs/proxy.md has the format of a plan, and a way through in ten minutes.\n"
    "\n"
    "A line on standard output tells when it listens. Ctrl-C or SIGTERM ends it: then it prints what the plan did, "
    "and\n"
    "the line that does the same again.\n"
    "\n"
    "Examples:\n"
    "  vigil-proxy --listen 127.0.0.1:2223 --to 127.0.0.1:2222                  # only looks\n"
    "  vigil-proxy --listen 127.0.0.1:2223 --to 127.0.0.1:2222 --seed 7 --trace calls.jsonl\n"
    "  vigil-proxy --listen 127.0.0.1:2223 --to 127.0.0.1:2222 --plan plan.json\n"
    "\n"
    "Exit codes: 0 ended by a signal; 1 it could not listen, or a file could not be written; 2 misuse.\n";

struct ProxyArguments {
  std::string listen = "127.0.0.1:0";
  std::string to;
  std::string plan;
  std::optional<std::uint64_t> seed;
  std::string write_plan;
  std::string trace;
  bool json = false;
};

int Tell(int code, std::string_view what) { return TellError(kProgram, code, what); }

// What does the same once more.
std::string Again(const ProxyArguments& arguments) {
  using replays::ShellWord;
  std::string again =
      fmt::format("./vigil proxy --listen {} --to {}", ShellWord(arguments.listen), ShellWord(arguments.to));
  if (!arguments.plan.empty()) again += " --plan " + ShellWord(arguments.plan);
  if (arguments.seed.has_value()) again += fmt::format(" --seed {}", *arguments.seed);
  return again;
}

// What was called, and what the plan did.
std::string TableOf(const proxy::Proxy& proxy, const ProxyArguments& arguments) {
  std::string table = fmt::format("{:<16} {:>8}\n", "calls", "number");
  for (const auto& [kind, count] : proxy.calls()) table += fmt::format("{:<16} {:>8}\n", proxy::NameOf(kind), count);
  const std::vector<proxy::FiredFault> fired = proxy.fired();
  if (!fired.empty()) table += fmt::format("\n{:>5}  {:<56} {:>7} {:>6}\n", "fault", "", "planned", "fired");
  for (std::size_t i = 0; i < fired.size(); ++i) {
    table += fmt::format("{:>5}  {:<56} {:>7} {:>6}{}\n", i + 1, proxy::Describe(fired[i].fault), fired[i].fault.times,
                         fired[i].fired, fired[i].fired == 0 ? "  never: there were fewer such calls" : "");
  }
  return table + fmt::format("\n  {}\n", Again(arguments));
}

absl::StatusOr<proxy::Plan> PlanOf(Files& files, const ProxyArguments& arguments) {
  if (arguments.seed.has_value()) return proxy::DrawPlan(*arguments.seed);
  if (arguments.plan.empty()) return proxy::Plan();
  const absl::StatusOr<std::string> text = ReadAll(files, arguments.plan);
  if (!text.ok()) return text.status();
  absl::StatusOr<proxy::Plan> plan = proxy::ParsePlan(*text);
  if (!plan.ok())
    return MakeStatus(Code::kInvalidArgument, fmt::format("{}: {}", arguments.plan, MessageOf(plan.status())));
  return plan;
}

// The trace, a line a call, each written at once: what is there counts if the proxy is killed.
class TraceFile {
 public:
  explicit TraceFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
  void Add(const proxy::CallRecord& call) {
    if (file_ == nullptr || !failed_.ok()) return;
    failed_ = file_->Append(proxy::PrintCall(call) + "\n");
  }
  const absl::Status& failed() const { return failed_; }

 private:
  const std::unique_ptr<File> file_;
  absl::Status failed_;
};

int Run(const ProxyArguments& arguments) {
  EndSignals signals;
  RealEnv real({.log_threshold = Severity::kWarning});
  Env env = real.env();
  const absl::StatusOr<proxy::Plan> plan = PlanOf(*env.files, arguments);
  if (!plan.ok()) return Tell(kWrongWords, MessageOf(plan.status()));
  if (!arguments.write_plan.empty()) {
    const absl::Status wrote = WriteAtomically(*env.files, arguments.write_plan, proxy::PrintPlan(*plan));
    if (!wrote.ok()) return Tell(kCannotServe, MessageOf(wrote));
  }
  std::unique_ptr<File> file;
  if (!arguments.trace.empty()) {
    absl::StatusOr<std::unique_ptr<File>> opened = env.files->Open(arguments.trace, OpenMode::kTruncate);
    if (!opened.ok()) return Tell(kCannotServe, MessageOf(opened.status()));
    file = *std::move(opened);
  }
  TraceFile trace(std::move(file));
  const absl::StatusOr<std::unique_ptr<GrpcNetwork>> network = GrpcNetwork::Create(env, {});
  if (!network.ok()) return Tell(kCannotServe, MessageOf(network.status()));
  env.network = network->get();
  proxy::Proxy between(
      env, {.to = arguments.to, .plan = *plan, .told = [&trace](const proxy::CallRecord& call) { trace.Add(call); }});
  absl::StatusOr<std::unique_ptr<Listener>> listener = env.network->Listen(arguments.listen, between.handler());
  if (!listener.ok()) {
    const bool misuse = CodeOf(listener.status()) == Code::kInvalidArgument;
    return Tell(misuse ? kWrongWords : kCannotServe, MessageOf(listener.status()));
  }
  std::string begun;
  if (arguments.seed.has_value() && !arguments.json)
    begun = fmt::format("the plan of seed {}:\n{}", *arguments.seed, proxy::PrintPlan(*plan));
  begun += fmt::format("proxy of {} serves at grpc://{}\n", arguments.to, (*listener)->address());
  if (const int said = Say(kProgram, begun); said != 0) return said;
  signals.Wait();
  between.Stop();
  listener->reset();
  const int said = Say(
      kProgram, arguments.json ? proxy::PrintReport(between, Again(arguments)) + "\n" : TableOf(between, arguments));
  if (!trace.failed().ok()) return Tell(kCannotServe, MessageOf(trace.failed()));
  return said;
}

// What is wrong with files of which one would be written over another one; "" = nothing.
std::string WhatIsLost(const ProxyArguments& arguments) {
  const std::pair<const char*, const std::string&> files[] = {
      {"--plan", arguments.plan}, {"--write-plan", arguments.write_plan}, {"--trace", arguments.trace}};
  for (const auto& [one, path] : files) {
    for (const auto& [other, behind] : files) {
      if (one != other && !path.empty() && !behind.empty() && SameFile(path, behind))
        return fmt::format("{} and {} name the same file", one, other);
    }
  }
  return "";
}

int Proxy(int count, const char* const* words) {
  ProxyArguments a;
  CLI::App app("Stands between a client and its master, and lets go wrong what a plan says", kProgram);
  app.footer(kProxyNotes);
  app.add_option("--to", a.to, "The master, or the server that it is in")->required()->type_name("HOST:PORT");
  app.add_option("--listen", a.listen, "Where it is reached (default: 127.0.0.1:0, a port that is free)")
      ->type_name("HOST:PORT");
  CLI::Option* const plan = app.add_option("--plan", a.plan, "What goes wrong (docs/proxy.md)")->type_name("FILE");
  app.add_option("--seed", a.seed, "Draw what goes wrong")->check(CheckSeed)->type_name("SEED")->excludes(plan);
  app.add_option("--write-plan", a.write_plan, "Write the plan to this file")->type_name("FILE");
  app.add_option("--trace", a.trace, "Write a line of JSON for each call to this file")->type_name("FILE");
  app.add_flag("--json", a.json, "What was called and what the plan did as JSON, on one line");
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    return Say(kProgram, app.help());
  } catch (const CLI::Error& error) {
    return Tell(kWrongWords, error.what());
  }
  if (a.to.find(':') == std::string::npos)
    return Tell(kWrongWords, fmt::format("--to: '{}' is no address: HOST:PORT", a.to));
  if (const std::string lost = WhatIsLost(a); !lost.empty()) return Tell(kWrongWords, lost);
  return Run(a);
}

}  // namespace
}  // namespace vigil::cli

int main(int count, char** words) {
  // What gRPC could not do is told by what is asked of it.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  vigil::cli::HoldClosedStreams();
  return vigil::cli::Proxy(count, words);
}
