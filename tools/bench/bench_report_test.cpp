#include "tools/bench/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::tools::bench {
namespace {

/// 100 matches of 7 calls in 2 s; the floor plays 1,000 matches per second.
BenchRun run_with(WorkCounts samples) {
  BenchRun run;
  run.players = 64;
  run.leagues = 1;
  run.traffic.matches = 100;
  run.traffic.seconds = 2;
  run.traffic.referee.calls = 700;
  run.traffic.log_bytes = 6'400'000;
  run.floor_before = {.matches = 900, .calls = 6'300, .seconds = 1, .cpu_seconds = 1};
  run.floor_after = {.matches = 1'100, .calls = 7'700, .seconds = 1, .cpu_seconds = 1};
  run.processes = {{.name = "referee",
                    .cpu = {.user_seconds = 0.6, .system_seconds = 0.4},
                    .peak_memory = 10'000'000,
                    .switches = {.voluntary = 1'400, .involuntary = 70},
                    .samples = std::move(samples)}};
  return run;
}

nlohmann::json reported(const BenchRun& run) {
  return bench_json({.sizes = {{run, run}}, .single_match = {}, .no_samples = {}})["league"];
}

TEST(BenchReport, ComparesALeagueWithTheMeanOfBothFloors) {
  const auto json = reported(run_with({}));
  EXPECT_DOUBLE_EQ(json["matches_per_second"], 50);
  EXPECT_DOUBLE_EQ(json["ratio_to_floor"], 0.05);
  EXPECT_DOUBLE_EQ(json["log_bytes_per_match"], 64'000);
  EXPECT_DOUBLE_EQ(json["cpu_us_per_match"], 10'000);
}

TEST(BenchReport, SamplesDivideTheTimeOutsideTheKernel) {
  const auto json = reported(run_with({{WorkKind::kParse, 2}, {WorkKind::kLog, 1}}));
  EXPECT_DOUBLE_EQ(json["cpu_share"]["kernel"], 0.4);
  EXPECT_DOUBLE_EQ(json["cpu_share"]["parse"], 0.4);
  EXPECT_DOUBLE_EQ(json["cpu_share"]["log"], 0.2);
  EXPECT_FALSE(json["cpu_share"].contains("other"));
  EXPECT_DOUBLE_EQ(json["processes"]["referee"]["voluntary_switches_per_call"], 2);
  EXPECT_DOUBLE_EQ(json["processes"]["referee"]["involuntary_switches_per_call"], 0.1);
}

TEST(BenchReport, WithoutSamplesOnlyTheKernelIsKnown) {
  const auto json = reported(run_with({}));
  EXPECT_DOUBLE_EQ(json["cpu_share"]["kernel"], 0.4);
  EXPECT_DOUBLE_EQ(json["cpu_share"]["other"], 0.6);
  EXPECT_FALSE(json["cpu_share"].contains("parse"));
}

TEST(BenchReport, PeopleReadTheSame) {
  const BenchRun run = run_with({{WorkKind::kParse, 1}});
  const std::string text =
      bench_text({.sizes = {{run, run}}, .single_match = {}, .no_samples = "not permitted"});
  for (const char* part : {"64 players, whole league (all broadcasts), 1 league\n",
                           "50 matches/s (100 matches in 2.00 s)", "ratio 0.0500",
                           "64000 bytes of logs", "parsing JSON", "not permitted"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace league::tools::bench
