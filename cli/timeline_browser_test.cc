// A large timeline in a real browser: the page checks itself, and its picture is not empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

constexpr char kJob[] =
    R"({"id":"browser","behaviour":"default","cluster":{"tasks":{"chief":1,"ps":2,"worker":2}},)"
    R"("workload":{"name":"async_regression","last_step":2000},"plan":[{"at_s":2,"crash":"worker:0","restart_after_s":2},)"
    R"({"at_s":6,"cut":["worker:1","ps:0"],"for_s":3}],"limit_s":900})";

// The value of data-NAME of the body; "" if it is not there.
std::string DataOf(const std::string& document, const std::string& name) {
  const std::string begins = fmt::format(" data-{}=\"", name);
  const std::size_t at = document.find(begins);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begins.size();
  return document.substr(from, document.find('"', from) - from);
}

TEST(TimelineInABrowser, TwentyThousandEventsAreDrawnAndStayFluent) {
  const TemporaryFolder folder;
  folder.Write("job.json", kJob);
  RunShell(folder.path(), "$VIGIL replay job.json --timeline job.html");
  const std::string browser = fmt::format(
      "HOME=$PWD timeout -s KILL 120 '{}' --headless=new --no-sandbox --disable-gpu --user-data-dir=$PWD/profile "
      "--window-size=1500,900 --virtual-time-budget=20000 ",
      VIGIL_CHROMIUM);
  const std::string document = RunShell(folder.path(), browser + "--dump-dom \"file://$PWD/job.html#selfcheck\"").out;
  EXPECT_EQ(DataOf(document, "check"), "right");
  EXPECT_GE(std::atoi(DataOf(document, "marks").c_str()), 20'000);
  EXPECT_EQ(DataOf(document, "drawn"), DataOf(document, "marks"));
  EXPECT_GT(std::atoi(DataOf(document, "arrows").c_str()), 100);
  EXPECT_GT(std::atof(DataOf(document, "painted").c_str()), 5) << "percent of the canvas";
  // In ms. On a free machine some 20; a page that looks at every pair of marks takes a minute.
  EXPECT_LT(std::atof(DataOf(document, "frame").c_str()), 3000) << DataOf(document, "frame");
  RunShell(folder.path(), browser + "--screenshot=job.png \"file://$PWD/job.html\"");
  RunShell(folder.path(), browser + "--screenshot=empty.png about:blank");
  const std::string picture = folder.Read("job.png");
  EXPECT_THAT(picture, testing::StartsWith("\x89PNG"));
  EXPECT_GT(picture.size(), 5 * folder.Read("empty.png").size());
}

}  // namespace
}  // namespace vigil::cli
