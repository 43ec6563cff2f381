#include "vigil/properties/rules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vigil/properties/rules/rule_cases.h"
#include "vigil/properties/rules/stream.h"

namespace vigil::properties {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

RunFacts FactsFor(std::string_view words) { return FactsOf(RuleCase{.facts = words}); }

std::vector<std::string> Ids() {
  std::vector<std::string> ids;
  for (const RuleFactory factory : AllRules()) ids.emplace_back(factory()->info().id);
  return ids;
}

std::uint64_t Armed(const Judgement& judgement, std::string_view id) {
  const std::vector<std::string> ids = Ids();
  const auto at = std::find(ids.begin(), ids.end(), id) - ids.begin();
  return judgement.armed.at(static_cast<std::size_t>(at));
}

std::string Words(const Stream& stream, const std::vector<std::size_t>& indices) {
  std::string words;
  for (const std::size_t i : indices) words += (words.empty() ? "" : " ") + stream.words.at(i);
  return words;
}

std::string Describe(const Judgement& judgement, const Stream& stream) {
  std::string text;
  for (const Violation& v : judgement.violations) {
    text += std::string(v.rule) + " [" + Words(stream, v.witness) + "] expected: " + v.expected +
            "; actual: " + v.actual + "\n";
  }
  return text;
}

class RuleCaseTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleCaseTest, GoodStreamKeepsEveryRule) {
  const Stream stream = ParseStream(GetParam().keeps);
  const Judgement judgement = Judge(stream.trace, FactsFor(GetParam().facts));
  EXPECT_EQ(Describe(judgement, stream), "");
}

TEST_P(RuleCaseTest, BadStreamBreaksTheRuleWithItsWitness) {
  const Stream stream = ParseStream(GetParam().breaks);
  const Judgement judgement = Judge(stream.trace, FactsFor(GetParam().facts));
  const auto found = std::find_if(judgement.violations.begin(), judgement.violations.end(),
                                  [](const Violation& v) { return v.rule == GetParam().rule; });
  ASSERT_NE(found, judgement.violations.end()) << Describe(judgement, stream);
  EXPECT_EQ(Words(stream, found->witness), GetParam().witness);
  EXPECT_FALSE(found->expected.empty());
  EXPECT_FALSE(found->actual.empty());
}

std::string TestName(const ::testing::TestParamInfo<RuleCase>& info) {
  std::string name(info.param.rule);
  std::replace(name.begin(), name.end(), '.', '_');
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(All, RuleCaseTest, ::testing::ValuesIn(RuleCases()), TestName);

TEST(RulesTest, IdsAreUniqueAndSentencesComplete) {
  std::set<std::string> ids;
  for (const RuleFactory factory : AllRules()) {
    const RuleInfo info = factory()->info();
    EXPECT_TRUE(ids.insert(std::string(info.id)).second) << info.id;
    EXPECT_NE(info.id.find('.'), std::string_view::npos) << info.id;
    EXPECT_TRUE(info.sentence.ends_with(".")) << info.id;
    // TensorFlow knows neither behaviours of ours nor what our own documents promise beyond it.
    const bool ours = info.holds == Holds::kDefault || info.documented.starts_with("docs/");
    EXPECT_TRUE(ours || !info.observed.empty()) << info.id << " was never recorded";
    EXPECT_FALSE(info.documented.empty() && info.observed.empty()) << info.id << " is nobody's promise";
    EXPECT_EQ(info.excuses.empty(), info.why.empty())
        << info.id << " excuses something without a reason, or the other way";
  }
}

TEST(RulesTest, EveryRuleHasACaseThatArmsItAndOneThatBreaksIt) {
  std::set<std::string> armed;
  std::set<std::string> broken;
  for (const RuleCase& c : RuleCases()) {
    const std::string id(c.rule);
    ASSERT_THAT(Ids(), Contains(id));
    if (Armed(Judge(ParseStream(c.keeps).trace, FactsFor(c.facts)), id) > 0) armed.insert(id);
    broken.insert(id);
  }
  EXPECT_THAT(armed, UnorderedElementsAreArray(Ids()));
  EXPECT_THAT(broken, UnorderedElementsAreArray(Ids()));
}

TEST(RulesTest, ARunThatWasCutOffIsJudgedByWhatItDid) {
  const Stream stream = ParseStream("open run( before0");
  EXPECT_THAT(Judge(stream.trace, FactsFor(""), false).violations, IsEmpty());
}

TEST(RulesTest, NothingIsJudgedOfASessionThatTheRulesDoNotSpeakOf) {
  const Stream stream = ParseStream("begin1 begin0");
  RunFacts facts = FactsFor("");
  facts.judged = false;
  EXPECT_THAT(Judge(stream.trace, facts).violations, IsEmpty());
}

TEST(RulesTest, ASupervisorByHandHasNoScopeForAReportToComeOutOf) {
  const Stream stream = ParseStream("finalized made note:session q:cstop!OTHER note:exit_clean");
  RunFacts facts = FactsFor("supervisor");
  EXPECT_EQ(Judge(stream.trace, facts).violations.size(), 1U);
  facts.by_hand = true;
  EXPECT_THAT(Judge(stream.trace, facts).violations, IsEmpty());
}

TEST(RulesTest, WhatASupervisorWasNotGivenItNeitherRunsNorAsks) {
  const Stream silent = ParseStream("finalized created init read=0 log:start=0 note:session");
  RunFacts facts = FactsFor("supervisor");
  EXPECT_EQ(Judge(silent.trace, facts).violations.size(), 2U);
  facts.asks_ready = false;
  EXPECT_THAT(Judge(silent.trace, facts).violations, IsEmpty());
  const Stream as_it_is = ParseStream("finalized created local ready note:session");
  EXPECT_EQ(Judge(as_it_is.trace, facts).violations.size(), 1U);
  facts.initialises = false;
  EXPECT_THAT(Judge(as_it_is.trace, facts).violations, IsEmpty());
}

TEST(RulesTest, AWorkerThatIsAskedAnewNeedNotHaveSlept) {
  EXPECT_EQ(Judge(ParseStream("begin0 begin1 finalized created rfl=no close created").trace, FactsFor("worker"))
                .violations.size(),
            1U);
  EXPECT_THAT(
      Judge(ParseStream("begin0 begin1 finalized created rfl=no close note:prepare created").trace, FactsFor("worker"))
          .violations,
      IsEmpty());
}

TEST(RulesTest, AReadinessThatSaysNoByFailingIsNoFailure) {
  const std::string stream = "open run( before0!ABORTED recovery!ABORTED@1 giveup created init rfl local ready!";
  EXPECT_THAT(Judge(ParseStream(stream + "FAILED_PRECONDITION=0 run)!USAGE").trace, FactsFor("")).violations,
              IsEmpty());
  EXPECT_THAT(Judge(ParseStream(stream + "ABORTED=0 run)!USAGE").trace, FactsFor("")).violations, Not(IsEmpty()));
}

std::string Told(const std::string& stream, const RunFacts& facts) {
  const Stream parsed = ParseStream(stream);
  return Describe(Judge(parsed.trace, facts), parsed);
}

TEST(RulesTest, ARestoreThatGaveWayToAnOlderOneIsNoFailureOfOurs) {
  const std::string stream =
      "open run( before0!ABORTED recovery!ABORTED@1 giveup sleep=1 +1 created restore!NOT_FOUND ";
  RunFacts facts = FactsFor("default");
  facts.may_restore = true;
  EXPECT_EQ(Told(stream + "restore rfl local ready acs0 acs1 run)!USAGE", facts), "");
  EXPECT_EQ(Told(stream + "restore!NOT_FOUND run)!USAGE", facts),
            "error.run_passes_on_what_failed [run( restore!NOT_FOUND run)!USAGE] expected: NOT_FOUND; actual: USAGE\n");
  EXPECT_EQ(Told(stream + "restore rfl local!ABORTED run)!USAGE", facts),
            "error.run_passes_on_what_failed [run( local!ABORTED run)!USAGE] expected: ABORTED; actual: USAGE\n");
}

TEST(RulesTest, AQuestionAfterASignalMayFailWithWhatHasFailedInIt) {
  const std::string made_anew = "open cstop!ABORTED recovery!ABORTED@1 giveup ";
  EXPECT_EQ(Told(made_anew + "created!INTERNAL note:sigterm stop!INTERNAL", FactsFor("")), "");
  EXPECT_EQ(Told("open run( before0!INTERNAL run)!INTERNAL note:sigterm stop!INTERNAL", FactsFor("")),
            "stop.sigterm_ends_the_loop [note:sigterm stop!INTERNAL] expected: yes; actual: it fails with INTERNAL\n");
}

TEST(RulesTest, AWorkerWhoseRunHasFailedLooksAgainAtOnce) {
  const std::string failed = "worker run( before0!ABORTED recovery!ABORTED@1 giveup created rfl=no close ";
  EXPECT_EQ(Told(failed + "sleep created!INTERNAL run)!INTERNAL run( created", FactsFor("worker")), "");
  EXPECT_EQ(Told(failed + "created", FactsFor("worker")),
            "worker.sleeps_between_two_looks [rfl=no created] expected: a sleep between two looks; actual: none\n");
}

TEST(RulesTest, AWorkerGivesUpASessionThatDoesNotGetReady) {
  const std::string stream = "worker run( before0!ABORTED recovery!ABORTED@1 giveup created rfl";
  const std::string broken =
      "error.run_passes_on_what_failed [run( run)!DEADLINE_EXCEEDED] expected: USAGE; actual: DEADLINE_EXCEEDED\n";
  EXPECT_EQ(Told(stream + "=no close run)!DEADLINE_EXCEEDED", FactsFor("worker")), "");
  EXPECT_EQ(Told(stream + " local ready run)!DEADLINE_EXCEEDED", FactsFor("worker")), broken);
  EXPECT_EQ(Told("worker run( run)!DEADLINE_EXCEEDED", FactsFor("worker")), broken);
}

TEST(RulesTest, ARuleThatAsksForDetailsWhichItNeverSeesIsStopped) {
  const Watch watch(FactsFor(""));
  const CallOfHook call{};
  const Event event{.kind = EventKind::kNote};
  Moment now{watch, call, event, 0, true, Time()};
  const std::pair<unsigned, bool (*)(const Moment&)> asks[] = {
      {kRunParts, [](const Moment& m) { return m.Part(RunPart::kFetches); }},
      {kHookDetails, [](const Moment& m) { return m.Detail(HookDetail::kSaves); }},
      {kSaverDetails, [](const Moment& m) { return m.Saver(SaverDetail::kSaves); }},
      {kCoordinatorDetails, [](const Moment& m) { return m.Coordinates(CoordinatorDetail::kJoins); }},
      {kQueueDetails, [](const Moment& m) { return m.Queues(QueueDetail::kStarted); }},
  };
  for (const auto& [details, ask] : asks) {
    now.details = details;
    EXPECT_FALSE(ask(now));
    now.details = ~details;
    EXPECT_DEATH(ask(now), "CHECK failed");
  }
}

TEST(RulesTest, ARuleOfTensorFlowAloneIsSilentElsewhere) {
  const Stream stream = ParseStream("begin0 begin1 finalized created!ABORTED recovery!ABORTED sleep new");
  RunFacts facts = FactsFor("");
  EXPECT_EQ(Judge(stream.trace, facts).violations.size(), 1U);
  facts.tensorflow = false;
  EXPECT_THAT(Judge(stream.trace, facts).violations, IsEmpty());
}

}  // namespace
}  // namespace vigil::properties
