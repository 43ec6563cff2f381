// Mixed versions: what earlier versions of this library said to each other, kept as bytes in wire/*.txt, against the
// servers, the master and the client of today.
//
// A file of the corpus is one conversation of a client, the master of worker:0 and the worker of ps:0, as a recording
// network saw it. Each of the three is played in turn by its bytes alone, against the real other ones. A new version is
// added, never changed:
//   core_cluster_server_test --gtest_filter="WireCorpus*"; mv /tmp/vigil_wire.txt core/cluster/server/wire/YYYY_MM.txt
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/escaping.h"
#include "vigil/core/base/code.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/server/testing.h"

namespace vigil {
namespace {

using testing::ElementsAre;

constexpr std::string_view kMaster = "worker0:2222";
constexpr std::string_view kWorker = "ps0:2222";

std::string Hex(const std::string& bytes) { return bytes.empty() ? "-" : absl::BytesToHexString(bytes); }

std::vector<std::filesystem::path> CorpusFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(VIGIL_SOURCE_DIR) / "core/cluster/server/wire")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Notes what is said, in the order of the requests.
class RecordingNetwork final : public Network {
 public:
  explicit RecordingNetwork(Network& inner) : inner_(inner) {}
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override {
    return inner_.Listen(address, std::move(handler));
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    Exchange& exchange = said_.emplace_back();
    exchange.to = request.to;
    exchange.method = request.method;
    exchange.request = std::string(request.body);
    return inner_.Start(std::move(request), [&exchange, done = std::move(done)](NetworkReply reply) {
      if (reply.ok()) exchange.reply = std::string(*reply);
      done(std::move(reply));
    });
  }
  void Cancel(std::uint64_t call) override { inner_.Cancel(call); }

  const std::deque<Exchange>& said() const { return said_; }

 private:
  Network& inner_;
  std::deque<Exchange> said_;
};

// Answers as somebody once did, each method in turn; the last answer stands for all that follow.
class OldPeer {
 public:
  OldPeer(Network& network, const std::string& address, const std::vector<Exchange>& corpus) {
    for (const Exchange& exchange : corpus) {
      if (exchange.to == address && exchange.reply.has_value()) answers_[exchange.method].push_back(*exchange.reply);
    }
    absl::StatusOr<std::unique_ptr<Listener>> listener =
        network.Listen(address, [this](IncomingCall& call) -> NetworkReply { return Answer(call.method()); });
    EXPECT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
  }

 private:
  NetworkReply Answer(const std::string& method) {
    const auto found = answers_.find(method);
    if (found == answers_.end()) return MakeStatus(Code::kUnimplemented, "Method not found: " + method);
    std::string answer = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return absl::Cord(std::move(answer));
  }

  std::map<std::string, std::deque<std::string>> answers_;
  std::unique_ptr<Listener> listener_;
};

class WireCorpus : public testing::Test {
 protected:
  WireCorpus() : cluster_(BaseEnv(), {{"ps", 1}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    {
      DeviceScope scope(b_, "/job:ps/task:0");
      v_ = ops::MakeVariable(b_, "v", b_.Const("v/initial", Tensor::Scalar<double>(1)));
      bump_ = ops::AssignAdd(b_, "bump", v_.ref, b_.Const("two", Tensor::Scalar<double>(2))).node;
    }
    DeviceScope scope(b_, "/job:worker/task:0");
    x_ = ops::Placeholder(b_, "x", DType::kDouble);
    sum_ = b_.Op("AddV2", {v_.read, x_}, {.name = "sum"});
  }
  ~WireCorpus() override { fake_.tasks.EndAll(); }

  Env BaseEnv() {
    Env env = fake_.env();
    env.network = &network_;
    return env;
  }
  template <typename Method, typename Request>
  std::string Ask(std::string_view to, const Method& method, const Request& request) {
    return Text(
        CallAndWait(cluster_.client(),
                    {.to = std::string(to), .method = method.text(), .body = absl::Cord(request.SerializeAsString())})
            .status());
  }

  // What a program sees of a conversation in which every method is used.
  std::vector<std::string> Converse() {
    std::vector<std::string> seen;
    const absl::StatusOr<std::unique_ptr<Session>> made =
        ClusterSessionFactory(cluster_.client())
            .Create(graph_, fmt::format("grpc://{}", kMaster), {.keepalive = std::chrono::seconds(40)});
    if (!made.ok()) return {Text(made.status())};
    Session* const session = made->get();
    const auto run = [&](std::vector<Output> fetches, std::vector<NodeId> targets,
                         std::vector<std::pair<Output, Tensor>> feeds = {}) {
      const RunOutcome out = RunAll(*session, std::move(fetches), std::move(targets), std::move(feeds));
      std::string text = Text(out.status);
      for (const Tensor& value : out.values) text += fmt::format(" {}", value.scalar<double>());
      seen.push_back(text);
    };
    run({}, {b_.Group("init", {v_.initializer}).node});
    run({}, {bump_});
    run({sum_}, {}, {{x_, Tensor::Scalar<double>(4)}});
    run({b_.Op("Mul", {sum_, sum_}, {.name = "square"})}, {}, {{x_, Tensor::Scalar<double>(4)}});  // extends the graph
    // Nobody says these without a reason that takes minutes, or a failure.
    proto::KeepSessionRequest alive;
    alive.set_session_handle("nobody's");
    Ask(kMaster, methods::kKeepSession, alive);
    // These are TensorFlow's clients' alone.
    Ask(kMaster, methods::kMakeCallable, proto::MakeCallableRequest());
    Ask(kMaster, methods::kRunCallable, proto::RunCallableRequest());
    Ask(kMaster, methods::kReleaseCallable, proto::ReleaseCallableRequest());
    seen.push_back(Ask(kMaster, methods::kListDevices, proto::ListDevicesRequest()));
    proto::CleanupGraphRequest over;
    over.set_step_id(77);
    seen.push_back(Ask(kWorker, methods::kCleanupGraph, over));
    seen.push_back(Text(session->Close()));
    seen.push_back(Text(ResetCluster(cluster_.client(), fmt::format("grpc://{}", kMaster))));
    fake_.tasks.RunReady();
    return seen;
  }

  // Of each request to that address, in its order, whether it is answered as it once was. What waits for another one is
  // answered later.
  void ExpectAnswered(std::string_view address, const std::vector<Exchange>& corpus) {
    std::deque<std::optional<NetworkReply>> replies;
    for (const Exchange& exchange : corpus) {
      if (exchange.to != address) continue;
      std::optional<NetworkReply>& reply = replies.emplace_back();
      network_.Start({.to = exchange.to, .method = exchange.method, .body = absl::Cord(exchange.request)},
                     [&reply](NetworkReply got) { reply = std::move(got); });
      fake_.tasks.RunReady();
    }
    std::size_t i = 0;
    for (const Exchange& exchange : corpus) {
      if (exchange.to != address) continue;
      const std::optional<NetworkReply>& reply = replies[i++];
      ASSERT_TRUE(reply.has_value()) << exchange.method << " was never answered";
      EXPECT_EQ(reply->ok(), exchange.reply.has_value()) << exchange.method << ": " << Text(reply->status());
      if (reply->ok() && exchange.reply.has_value()) {
        EXPECT_EQ(Hex(std::string(**reply)), Hex(*exchange.reply)) << exchange.method;
      }
    }
    EXPECT_GT(i, 5U);
  }

  fakes::FakeEnv fake_;
  RecordingNetwork network_{fake_.network};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  ops::Variable v_;
  Output x_, sum_;
  NodeId bump_ = kNoNode;
};

const auto kSeen = ElementsAre("OK", "OK", "OK 7", "OK 49", "OK", "OK", "OK", "OK");

TEST_F(WireCorpus, EveryMethodIsUsed) {
  cluster_.StartAll();
  EXPECT_THAT(Converse(), kSeen);
  std::set<std::string> used;
  for (const Exchange& exchange : network_.said()) used.insert(exchange.method.substr(exchange.method.rfind('/') + 1));
  EXPECT_THAT(used, testing::UnorderedElementsAreArray(kMethodNames));
  std::ofstream out(testing::TempDir() + "/vigil_wire.txt");
  out << "# Who is asked, what, the request, the answer. See wire_corpus_test.cc.\n";
  for (const Exchange& exchange : network_.said()) {
    out << exchange.to << " " << exchange.method << " " << Hex(exchange.request) << " "
        << (exchange.reply.has_value() ? Hex(*exchange.reply) : "error") << "\n";
  }
}

// Else a worker keeps what is asked of a step that no run of it will come of (worker_service.h).
TEST_F(WireCorpus, WhoAsksForAValueSaysWhoseStepItIs) {
  cluster_.StartAll();
  EXPECT_THAT(Converse(), kSeen);
  std::set<std::uint64_t> masters;
  for (const Exchange& exchange : network_.said()) {
    proto::RecvTensorRequest request;
    if (exchange.method != methods::kRecvTensor.text()) continue;
    EXPECT_TRUE(request.ParseFromString(exchange.request));
    masters.insert(request.master_incarnation());
  }
  EXPECT_THAT(masters, ElementsAre(cluster_.server("worker", 0).worker().device().incarnation()));
}

TEST_F(WireCorpus, TheNewestUsesEveryMethod) {
  std::set<std::string> used;
  ASSERT_FALSE(CorpusFiles().empty());
  for (const Exchange& exchange : ReadExchanges(CorpusFiles().back()))
    used.insert(exchange.method.substr(exchange.method.rfind('/') + 1));
  EXPECT_THAT(used, testing::UnorderedElementsAreArray(kMethodNames))
      << "a method is new: record a new file, as wire_corpus_test.cc says";
}

// Each case begins anew, with the numbers that are drawn in every recording.
class OldWire : public WireCorpus, public testing::WithParamInterface<std::filesystem::path> {
 protected:
  OldWire() : said_(ReadExchanges(GetParam())) {}
  const std::vector<Exchange> said_;
};

TEST_P(OldWire, ClientsAreServed) {
  cluster_.StartAll();
  ExpectAnswered(kMaster, said_);
}

TEST_P(OldWire, MastersAreServed) {
  cluster_.StartAll();
  ExpectAnswered(kWorker, said_);
}

TEST_P(OldWire, WorkersAreUnderstood) {
  cluster_.Start("worker", 0);
  const OldPeer worker(network_, std::string(kWorker), said_);
  EXPECT_THAT(Converse(), kSeen);
}

TEST_P(OldWire, MastersAreUnderstood) {
  cluster_.Start("ps", 0);
  const OldPeer master(network_, std::string(kMaster), said_);
  EXPECT_THAT(Converse(), kSeen);
}

INSTANTIATE_TEST_SUITE_P(Corpus, OldWire, testing::ValuesIn(CorpusFiles()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace vigil
