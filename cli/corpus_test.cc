// `vigil check --corpus` and `vigil merge --corpus`: what is kept, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class CorpusTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

TEST_F(CorpusTest, KeepsWhatReachesSomethingNew) {
  const Ran first = Run("$VIGIL check --suite random --seeds 1..300 --jobs 2 --corpus a");
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, ContainsRegex("\ncorpus of random: 0 scenarios before, [1-9][0-9]* now; [0-9]+ pairs"));
  // Whatever the number of jobs.
  EXPECT_EQ(Run("$VIGIL check --suite random --seeds 1..300 --jobs 1 --corpus b").out, first.out);
  EXPECT_EQ(folder_.Read("a/random.corpus"), folder_.Read("b/random.corpus"));
  // Another campaign goes on from it, and all that was reached still is.
  const Ran second = Run("$VIGIL check --suite random --seeds 1001..1300 --jobs 2 --corpus a");
  EXPECT_EQ(second.code, 0) << second.out << second.err;
  EXPECT_THAT(second.out, ContainsRegex("\ncorpus of random: [1-9][0-9]* scenarios before"));
}

TEST_F(CorpusTest, MergesWhatSeveralHaveKept) {
  EXPECT_EQ(Run("$VIGIL check --suite random --seeds 1..200 --jobs 2 --corpus a").code, 0);
  EXPECT_EQ(Run("$VIGIL check --suite random --seeds 1001..1200 --jobs 2 --corpus b").code, 0);
  EXPECT_EQ(
      Run("$VIGIL merge --corpus ab a b && $VIGIL merge --corpus ba b a && cmp ab/random.corpus ba/random.corpus").code,
      0);
  // Once more changes nothing.
  EXPECT_EQ(Run("cp ab/random.corpus before; $VIGIL merge --corpus ab a b ba && cmp ab/random.corpus before").code, 0);
}

TEST_F(CorpusTest, OfClusters) {
  const Ran ran = Run("$VIGIL check --suite cluster --seeds 1..40 --jobs 2 --corpus a");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("\ncorpus of cluster: 0 scenarios before, [1-9][0-9]* now"));
}

TEST_F(CorpusTest, MergesOnlyWhereThereIsOne) {
  EXPECT_EQ(Run("mkdir empty; $VIGIL check --suite random --seeds 1..9 --corpus c").code, 0);
  for (const char* const folder : {"nowhere", "empty"}) {
    for (const char* const others : {"", "c "}) {
      const Ran ran = Run(fmt::format("$VIGIL merge --corpus d {}{}", others, folder));
      EXPECT_EQ(ran.code, 2) << others << folder;
      EXPECT_THAT(ran.err,
                  HasSubstr(fmt::format("error: in '{}' there is no random.corpus or cluster.corpus", folder)));
    }
  }
  EXPECT_EQ(Run("$VIGIL merge --corpus d c").code, 0) << "where they are merged there may be none yet";
  const Ran failures = Run("$VIGIL merge --corpus d c --failures f");
  EXPECT_EQ(failures.code, 2);
  EXPECT_THAT(failures.err, HasSubstr("--failures: not with --corpus"));
}

TEST_F(CorpusTest, RefusesWhatIsNone) {
  const auto refused = [this](const std::string& text) {
    folder_.Write("c/random.corpus", text);
    const Ran ran = Run("$VIGIL check --suite random --seeds 1..9 --corpus c");
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("error: the corpus 'c/random.corpus' cannot be used: "));
    EXPECT_EQ(Run("$VIGIL merge --corpus d c").code, 2);
    EXPECT_EQ(Run("test -e d/random.corpus").code, 1);
    return ran.err;
  };
  EXPECT_EQ(Run("$VIGIL check --suite random --seeds 1..9 --corpus c").code, 0);
  const std::string good = folder_.Read("c/random.corpus");
  EXPECT_THAT(refused(""), HasSubstr("it is empty; remove it"));
  EXPECT_THAT(refused("hello\n"), HasSubstr("it is no corpus"));
  EXPECT_THAT(refused(good.substr(0, good.size() / 2)), HasSubstr("damaged or not whole"));
  std::string other = good;
  other[other.find("\"rules\":\"") + 9] ^= 1;
  EXPECT_THAT(refused(other), HasSubstr("its checksum is another"));
  // What it would be added to is left as it is.
  EXPECT_EQ(Run("mkdir g; $VIGIL check --suite random --seeds 1..9 --corpus g").code, 0);
  EXPECT_EQ(Run("cp c/random.corpus before; $VIGIL merge --corpus c g").code, 2);
  EXPECT_EQ(Run("cmp c/random.corpus before").code, 0);
  EXPECT_THAT(Run("$VIGIL check --suite recorded --corpus c").err,
              HasSubstr("--corpus: it needs the suite random or cluster"));
  EXPECT_THAT(Run("$VIGIL check --suite random --corpus c --state x").err, HasSubstr("--state: not with --corpus"));
  EXPECT_THAT(Run("$VIGIL check --suite random --corpus c --shard 1/2").err, HasSubstr("--corpus: not with --shard"));
  for (const char* const suite : {"random", "cluster"}) {
    const Ran ran = Run(fmt::format("$VIGIL check --suite {0} --seeds 1..9 --corpus g --json g/{0}.corpus", suite));
    EXPECT_EQ(ran.code, 2) << suite;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("would overwrite what is read: 'g/{}.corpus'", suite)));
  }
  EXPECT_THAT(Run("head -c 17 g/random.corpus").out, HasSubstr("{\"vigil corpus\":1"));
  folder_.Write("file", "");
  EXPECT_EQ(Run("$VIGIL check --suite random --seeds 1..9 --corpus file/x").code, 2);
}

}  // namespace
}  // namespace vigil::cli
