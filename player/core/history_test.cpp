#include "player/core/history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::player {
namespace {

using nlohmann::json;

const core::LeagueId kLeague("league_test");

PlayedMatch match(const char* id, const char* opponent, MatchVerdict verdict = MatchVerdict::kWin) {
  return {.league_id = kLeague,
          .match_id = core::MatchId(id),
          .round_id = 2,
          .opponent_id = core::PlayerId(opponent),
          .verdict = verdict,
          .own_choice = "even",
          .opponent_choice = "odd",
          .drawn_number = 8};
}

MatchHistory two_matches() {
  MatchHistory history;
  history.add(match("R1M1", "P02"));
  PlayedMatch lost = match("R2M1", "P03", MatchVerdict::kLoss);
  lost.is_technical = true;
  lost.own_choice = lost.opponent_choice = std::nullopt;
  lost.drawn_number = std::nullopt;
  history.add(lost);
  return history;
}

TEST(MatchHistory, AnswersByOpponentAndLeague) {
  MatchHistory history = two_matches();
  PlayedMatch elsewhere = match("R1M1", "P02");
  elsewhere.league_id = core::LeagueId("another");
  EXPECT_TRUE(history.add(elsewhere));
  EXPECT_EQ(history.choices_of(kLeague, core::PlayerId("P02")),
            std::vector<std::string_view>{"odd"});
  EXPECT_TRUE(history.choices_of(kLeague, core::PlayerId("P03")).empty());
  EXPECT_EQ(history.last_own_choice(kLeague), "even");
  EXPECT_EQ(history.drawn_numbers(kLeague), std::vector{8});
}

TEST(MatchHistory, ARepeatedGameOverCountsOnce) {
  MatchHistory history = two_matches();
  EXPECT_FALSE(history.add(match("R1M1", "P02", MatchVerdict::kLoss)));
  EXPECT_EQ(history.tally(), (ResultCounts{.wins = 1, .losses = 1, .draws = 0}));
  EXPECT_EQ(history.matches().size(), 2U);
}

TEST(MatchHistory, ForgetsTheOldestBeyondItsCapacityButNotTheTally) {
  MatchHistory history(2);
  for (const char* id : {"R1M1", "R2M1", "R3M1"}) history.add(match(id, "P02"));
  ASSERT_EQ(history.matches().size(), 2U);
  EXPECT_EQ(history.matches().front().match_id.str(), "R2M1");
  EXPECT_EQ(history.tally().wins, 3);
}

TEST(MatchHistory, AnswersByOpponentAfterTheOldestMatchesAreForgotten) {
  MatchHistory history(3);
  for (int i = 1; i <= 9; ++i) {
    PlayedMatch next = match(("R" + std::to_string(i) + "M1").c_str(), i % 2 == 0 ? "P02" : "P03");
    next.opponent_choice = std::to_string(i);
    history.add(next);
  }
  EXPECT_EQ(history.choices_of(kLeague, core::PlayerId("P02")), std::vector<std::string_view>{"8"});
  EXPECT_EQ(history.choices_of(kLeague, core::PlayerId("P03")),
            (std::vector<std::string_view>{"7", "9"}));
  EXPECT_EQ(history.meetings_with(kLeague, core::PlayerId("P03")).front()->round_id, 2);
  history.add(match("R10M1", "P04"));
  history.add(match("R11M1", "P04"));
  EXPECT_TRUE(history.choices_of(kLeague, core::PlayerId("P02")).empty());
}

TEST(HistoryJson, HasTheLayoutOfHistoryJson) {
  const json expected = {
      {"schema_version", "1.0.0"},
      {"player_id", "P01"},
      {"stats", {{"total_matches", 2}, {"wins", 1}, {"losses", 1}, {"draws", 0}}},
      {"matches",
       {{{"league_id", "league_test"},
         {"league_key", nullptr},
         {"match_id", "R1M1"},
         {"round_id", 2},
         {"opponent_id", "P02"},
         {"result", "WIN"},
         {"technical", false},
         {"my_choice", "even"},
         {"opponent_choice", "odd"},
         {"drawn_number", 8}},
        {{"league_id", "league_test"},
         {"league_key", nullptr},
         {"match_id", "R2M1"},
         {"round_id", 2},
         {"opponent_id", "P03"},
         {"result", "LOSS"},
         {"technical", true},
         {"my_choice", nullptr},
         {"opponent_choice", nullptr},
         {"drawn_number", nullptr}}}}};
  EXPECT_EQ(history_to_json(two_matches(), core::PlayerId("P01")), expected);
}

TEST(HistoryJson, ComesBackAsItWas) {
  const MatchHistory history = two_matches();
  const auto back = history_from_json(history_to_json(history, core::PlayerId("P01")));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, history);
}

TEST(HistoryJson, TheTallyOfForgottenMatchesComesBackToo) {
  MatchHistory history(1);
  history.add(match("R1M1", "P02"));
  history.add(match("R2M1", "P02", MatchVerdict::kDraw));
  const auto back = history_from_json(history_to_json(history, core::PlayerId("P01")), 1);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, history);
  EXPECT_EQ(back->tally().wins, 1);
}

TEST(HistoryJson, EachBadFieldIsNamed) {
  struct Case {
    const char* pointer;
    json value;
  };
  const Case cases[] = {
      {"/schema_version", "2.0.0"},
      {"/stats", 5},
      {"/matches", json::object()},
      {"/stats/wins", -1},
      {"/stats/draws", 1e300},
      {"/matches/0", "x"},
      {"/matches/1/result", "LOST"},
      {"/matches/0/match_id", 7},
      {"/matches/0/my_choice", ""},
      {"/matches/0/opponent_choice", 1},
      {"/matches/0/drawn_number", 99999999999999},
      {"/matches/1/technical", nullptr},
  };
  for (const Case& bad : cases) {
    json document = history_to_json(two_matches(), core::PlayerId("P01"));
    document[json::json_pointer(bad.pointer)] = bad.value;
    const auto history = history_from_json(document);
    ASSERT_FALSE(history) << bad.pointer;
    EXPECT_EQ(history.error().field.rfind(bad.pointer, 0), 0U)
        << bad.pointer << " but " << history.error().field;
  }
  EXPECT_FALSE(history_from_json(json::array()));
  EXPECT_FALSE(history_from_json(nullptr));
}

}  // namespace
}  // namespace league::player
