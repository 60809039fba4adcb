#include "tools/check/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace league::tools::check {
namespace {

Report report_with(Outcome outcome) {
  Report report;
  report.findings.push_back({.info = {.id = "P-1/one"}, .verdict = {.outcome = outcome}});
  return report;
}

TEST(Baseline, KnowsIdsAndIgnoresComments) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("league_check_baseline_" + std::to_string(::getpid()));
  std::ofstream(file) << "# of the first week\nP-1/one  # soon\n\nP-2/two\n";
  auto known = read_baseline(file.string());
  std::filesystem::remove(file);
  ASSERT_TRUE(known);
  EXPECT_EQ(*known, (std::set<std::string>{"P-1/one", "P-2/two"}));
}

TEST(Baseline, AFileThatIsNotThereIsAnError) {
  EXPECT_FALSE(read_baseline("/nowhere/at/all"));
  EXPECT_TRUE(read_baseline("")->empty());
}

TEST(Baseline, AKnownFailureIsMarked) {
  Report report = report_with(Outcome::kFailed);
  apply_baseline({"P-1/one"}, report);
  EXPECT_TRUE(report.findings[0].is_known);
  EXPECT_TRUE(report.stale.empty());
}

TEST(Baseline, AnEntryThatPassesOrDoesNotExistIsStale) {
  Report report = report_with(Outcome::kPassed);
  apply_baseline({"P-1/one", "P-9/none"}, report);
  EXPECT_EQ(report.stale, (std::vector<std::string>{"P-1/one", "P-9/none"}));
}

TEST(Baseline, ASkippedCheckSaysNothing) {
  Report report = report_with(Outcome::kSkipped);
  apply_baseline({"P-1/one"}, report);
  EXPECT_TRUE(report.stale.empty());
}

}  // namespace
}  // namespace league::tools::check
