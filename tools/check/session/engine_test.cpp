#include "tools/check/engine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <stdexcept>

#include "tools/check/report.h"
#include "tools/check/session/player_session.h"

namespace league::tools::check {
namespace {

Check check_of(const std::string& id, std::function<Verdict()> run, Level level = Level::kMust) {
  Check check{.info = {.id = id, .level = level}, .run = std::move(run)};
  check.info.needs_play = false;
  return check;
}

Verdict bad() { return fail({}, "", "good", "bad"); }

TEST(Engine, GoesOnAfterAFailureAndAfterAnException) {
  const std::vector<Check> checks = {
      check_of("P-1/a", bad),
      check_of("P-1/b", []() -> Verdict { throw std::runtime_error("oops"); }),
      check_of("P-1/c", pass)};
  const auto findings = run_checks(checks, {});
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kHarness);
  EXPECT_EQ(findings[2].verdict.outcome, Outcome::kPassed);
}

TEST(Engine, WhatPassesWhenItIsRepeatedIsFlaky) {
  int calls = 0;
  const std::vector<Check> checks = {
      check_of("P-1/a", [&calls] { return ++calls == 1 ? bad() : pass(); })};
  EXPECT_EQ(run_checks(checks, {})[0].verdict.outcome, Outcome::kFlaky);
}

TEST(Engine, WhatAWrongSpellingMakesImpossibleIsSkipped) {
  RunOptions options;
  options.is_playing = [] { return true; };
  options.has_word = [] { return false; };
  auto over = check_of("P-4.10/over", bad);
  over.info.needs_word = true;
  const auto findings = run_checks({check_of("P-4.9/word", bad), over}, options);
  EXPECT_EQ(findings[0].verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kSkipped);
}

TEST(Engine, ABotThatIsGoneIsNotBlamedForTheRest) {
  RunOptions options;
  options.is_there = [] { return false; };
  const auto findings = run_checks({check_of("P-1/a", bad), check_of("P-1/b", bad)}, options);
  EXPECT_EQ(findings[0].verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kSkipped);
  EXPECT_NE(findings[1].verdict.got.find("P-1/a"), std::string::npos);
}

TEST(Engine, TheEndOfTheProcessIsTheFindingAndTheRestIsSkipped) {
  std::string end;
  RunOptions options;
  options.is_there = [&] { return end.empty(); };
  options.obituary = [&] { return end; };
  int tries = 0;
  const auto deadly = check_of("P-1/deadly", [&] {
    ++tries;
    end = "while answering CHOOSE_PARITY_CALL, its process ended with exit code 3";
    return bad();
  });
  const auto findings = run_checks({deadly, check_of("P-1/b", bad)}, options);
  EXPECT_EQ(findings[0].verdict.got, end);
  EXPECT_NE(fix_of(findings[0]), findings[0].info.fix);
  EXPECT_EQ(tries, 1) << "nobody is left to ask";
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kSkipped);
}

TEST(Engine, ASlowMachineCostsAQuickBotNothing) {
  RunOptions options;
  std::chrono::steady_clock::time_point now{};
  options.now = [&now] { return now; };
  options.budget = std::chrono::seconds(1);
  const auto after = [&](std::chrono::seconds delay, bool is_quick) {
    options.is_quick = [is_quick] { return is_quick; };
    const auto slow = check_of("P-1/slow", [&now, delay] {
      now += delay;
      return pass();
    });
    return run_checks({slow, check_of("P-1/b", pass)}, options)[1].verdict;
  };
  EXPECT_EQ(after(std::chrono::seconds(3), true).outcome, Outcome::kPassed);
  EXPECT_TRUE(after(std::chrono::seconds(3), false).is_untried());
  EXPECT_TRUE(after(std::chrono::seconds(30), true).is_untried());
}

TEST(Engine, ABotThatDiedIsStartedAgainAFewTimes) {
  int revivals = 0;
  bool is_alive = true;
  RunOptions options;
  options.is_there = [&] { return is_alive; };
  options.revive = [&] {
    is_alive = true;
    return ++revivals < 3;
  };
  const auto deadly = check_of("P-1/deadly", [&] {
    is_alive = false;
    return bad();
  });
  const auto findings = run_checks(
      {deadly, check_of("P-1/b", pass), deadly, deadly, check_of("P-1/c", pass)}, options);
  EXPECT_NE(findings[0].verdict.got.find("started again"), std::string::npos);
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kPassed);
  EXPECT_EQ(findings[3].verdict.got.find("started again"), std::string::npos);
  EXPECT_EQ(findings[4].verdict.outcome, Outcome::kSkipped) << "it did not come back";
  EXPECT_EQ(revivals, 3);
}

TEST(Engine, ABotThatDoesNotPlayIsAskedOnlyTheBasics) {
  RunOptions options;
  options.is_playing = [] { return false; };
  Check other = check_of("P-1/b", bad);
  other.info.needs_play = true;
  const auto findings = run_checks({check_of("P-1/a", bad), other}, options);
  EXPECT_EQ(findings[0].verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(findings[1].verdict.outcome, Outcome::kSkipped);
}

TEST(Engine, SelectsByIdClauseAndBeginning) {
  EXPECT_TRUE(is_selected("P-4.9/x", {}));
  EXPECT_TRUE(is_selected("P-4.9/x", {"P-4.9/x"}));
  EXPECT_TRUE(is_selected("P-4.9/x", {"P-4.9"}));
  EXPECT_TRUE(is_selected("P-4.9/x", {"P-4*"}));
  EXPECT_FALSE(is_selected("P-4.9/x", {"P-4"}));
  EXPECT_FALSE(is_selected("P-4.9/x", {"P-4.9/y"}));
}

Finding finding(Level level, Outcome outcome, bool is_basic = false) {
  Finding made;
  made.info.level = level;
  made.info.is_basic = is_basic;
  made.verdict.outcome = outcome;
  return made;
}

TEST(Grade, FollowsFromTheWorstFailure) {
  const Finding basic = finding(Level::kMust, Outcome::kPassed, true);
  EXPECT_EQ(grade_of({}), Grade::kNone);
  EXPECT_EQ(grade_of({finding(Level::kMust, Outcome::kFailed, true)}), Grade::kNone);
  EXPECT_EQ(grade_of({basic, finding(Level::kMust, Outcome::kFailed)}), Grade::kPlays);
  EXPECT_EQ(grade_of({basic, finding(Level::kRobust, Outcome::kFailed)}), Grade::kConforms);
  EXPECT_EQ(grade_of({basic, finding(Level::kMust, Outcome::kFlaky)}), Grade::kConforms);
  EXPECT_EQ(grade_of({basic, finding(Level::kShould, Outcome::kFailed)}), Grade::kRobust);
  EXPECT_EQ(grade_of({basic, finding(Level::kMust, Outcome::kSkipped)}), Grade::kRobust);
  // A bot that answers so slowly that most checks find no time is not robust.
  const auto untried = [](Level level) {
    Finding made = finding(level, Outcome::kSkipped);
    made.verdict = skip(std::string(kNoTime));
    return made;
  };
  EXPECT_EQ(grade_of({basic, untried(Level::kMust)}), Grade::kPlays);
  EXPECT_EQ(grade_of({basic, untried(Level::kRobust)}), Grade::kConforms);
  EXPECT_EQ(grade_of({basic, untried(Level::kShould)}), Grade::kRobust);
}

TEST(Checks, EachHasAnIdOfItsOwnAClauseAndARemedy) {
  std::size_t in_all = 0;
  for (const char* role : {"player", "referee", "manager"}) {
    std::set<std::string> ids;
    for (const CheckInfo& info : list_checks(role)) {
      EXPECT_TRUE(ids.insert(info.id).second) << role << ": " << info.id << " twice";
      EXPECT_FALSE(clause_text(info.clause()).empty()) << info.id << " has no clause";
      EXPECT_FALSE(info.text.empty()) << info.id;
      EXPECT_FALSE(info.fix.empty()) << info.id;
    }
    in_all += ids.size();
    EXPECT_GE(ids.size(), std::string(role) == "player" ? 80U : 20U) << role;
  }
  EXPECT_GE(in_all, 120U);
}

}  // namespace
}  // namespace league::tools::check
