#include <gtest/gtest.h>

#include "game/draw.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

class LeagueOf : public ::testing::TestWithParam<int> {};

TEST_P(LeagueOf, EndsWithRightSums) {
  int players = GetParam();
  LeagueFixture league({.players = players, .referees = 2, .seed = 7});
  ASSERT_TRUE(league.play());
  expect_sound(league);
  auto status = league.status();
  EXPECT_EQ(status["technical_losses"], 0);
  EXPECT_EQ(status["total_rounds"], players % 2 == 0 ? players - 1 : players);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LeagueOf, ::testing::Values(2, 4, 5, 8));

TEST(League, GivesEachPlayerOfAnOddNumberOneBye) {
  LeagueFixture league({.players = 5});
  ASSERT_TRUE(league.play());
  for (const char* id : {"P01", "P02", "P03", "P04", "P05"}) {
    EXPECT_EQ(league.script(id).arrived("ROUND_ANNOUNCEMENT"), 5) << id;
    EXPECT_EQ(league.script(id).arrived("GAME_INVITATION"), 4) << id;
  }
}

TEST(League, TheSameSeedPlaysTheSameLeague) {
  auto final_table = [](std::uint64_t seed) {
    LeagueFixture league({.players = 6, .seed = seed});
    EXPECT_TRUE(league.play());
    return spoken(league, "P01", Direction::kIn, Kind::kRequest, "LEAGUE_COMPLETED")
        .at(0)
        .message["final_standings"]
        .dump();
  };
  EXPECT_EQ(final_table(5), final_table(5));
  EXPECT_NE(final_table(5), final_table(6));
}

TEST(League, AnswersAReportBeforeItBroadcastsAnything) {
  LeagueFixture league({.players = 4, .referees = 2, .capacity = 1});
  ASSERT_TRUE(league.play());
  int accepted = 0;
  int broadcasts = 0;
  for (const auto& one : league.recording.all()) {
    bool from_manager = one.agent == "league_manager" && one.direction == Direction::kOut;
    bool is_answer = one.agent.starts_with("REF") && one.direction == Direction::kIn &&
                     one.kind == Kind::kReply && one.message.is_object();
    if (is_answer && one.message.contains("match_id") && !one.message.contains("message_type"))
      ++accepted;
    if (!from_manager || one.kind != Kind::kRequest || one.type != "LEAGUE_STANDINGS_UPDATE")
      continue;
    // Two matches a round: both answers have reached their referees before the round's first
    // broadcast.
    EXPECT_EQ(accepted, 2 * (broadcasts / 4 + 1));
    ++broadcasts;
  }
  EXPECT_EQ(broadcasts, 3 * 4);
}

TEST(League, AsksBothPlayersBeforeEitherAnswerIsKnown) {
  LeagueFixture league({.players = 4});
  ASSERT_TRUE(league.play());
  std::map<std::string, std::pair<int, int>> by_match;  // calls, answers
  for (const auto& one : league.recording.of("REF01")) {
    auto& [calls, answers] = by_match[one.conversation_id];
    if (one.is(Direction::kOut, Kind::kRequest, "CHOOSE_PARITY_CALL")) {
      EXPECT_EQ(answers, 0) << one.conversation_id;
      ++calls;
    }
    if (one.is(Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE")) ++answers;
  }
  int matches = 0;
  for (const auto& [conversation, counted] : by_match) {
    if (counted.first == 0) continue;
    EXPECT_EQ(counted, std::pair(2, 2)) << conversation;
    ++matches;
  }
  EXPECT_EQ(matches, 6);
}

// Otherwise the log of a killed referee can end after the consequence and before the answer, and
// the verifier then reports a wrong order.
TEST(League, ARefereeLogsAnAnswerBeforeWhatFollowsFromIt) {
  LeagueFixture league({.players = 4});
  ASSERT_TRUE(league.play());
  std::map<std::string, std::map<std::string, int>> answers;  // by conversation, then by type
  int followed = 0;
  for (const auto& one : league.recording.of("REF01")) {
    auto& known = answers[one.conversation_id];
    if (one.direction == Direction::kIn && one.kind == Kind::kReply)
      ++known[one.peer == "league_manager" ? one.peer : one.type];
    if (one.direction != Direction::kOut || one.kind != Kind::kRequest) continue;
    if (one.type == "CHOOSE_PARITY_CALL") {
      EXPECT_EQ(known["GAME_JOIN_ACK"], 2);
    }
    if (one.type == "MATCH_RESULT_REPORT") {
      EXPECT_EQ(known["CHOOSE_PARITY_RESPONSE"], 2);
    }
    if (one.type == "GAME_OVER") {
      EXPECT_EQ(known["league_manager"], 1);
    }
    followed += one.conversation_id.empty() ? 0 : 1;
  }
  EXPECT_GE(followed, 6 * 7);
}

TEST(League, TellsAPlayerNothingOfTheDrawBeforeItIsOver) {
  LeagueFixture league({.players = 4});
  ASSERT_TRUE(league.play());
  std::map<std::string, std::string> proofs;  // by match
  auto all = league.recording.all();
  for (const auto& one : all) {
    if (one.type == "GAME_OVER" && one.message.is_object() && one.message.contains("draw_proof"))
      proofs[one.message["match_id"]] = one.message["draw_proof"];
  }
  ASSERT_EQ(proofs.size(), 6U);
  std::set<std::string> over;  // player and match
  for (const auto& one : all) {
    if (!one.agent.starts_with("P") || one.direction != Direction::kIn) continue;
    json message = one.message;
    message.erase("game");  // the words that can be chosen are no secret
    if (message.contains("context")) message["context"].erase("game");
    std::string text = message.dump();
    if (one.type == "GAME_OVER")
      over.insert(one.agent + one.message["match_id"].get<std::string>());
    for (const auto& [match, proof] : proofs) {
      if (over.contains(one.agent + match)) continue;
      EXPECT_EQ(text.find(proof), std::string::npos) << one.agent << " " << one.type;
    }
    if (one.type == "GAME_OVER") continue;
    for (const char* word : {"\"even\"", "\"odd\"", "drawn_number", "choices", "parity_choice"})
      EXPECT_EQ(text.find(word), std::string::npos) << one.agent << " " << one.type;
  }
  EXPECT_EQ(over.size(), 12U);
}

TEST(League, EveryDrawCanBeProved) {
  LeagueFixture league({.players = 5, .referees = 2, .strategies = {"even", "odd", "random"}});
  ASSERT_TRUE(league.play());
  std::map<std::string, json> announced;
  for (const auto& one :
       spoken(league, "P01", Direction::kIn, Kind::kRequest, "ROUND_ANNOUNCEMENT")) {
    for (const auto& match : one.message["matches"]) announced[match["match_id"]] = match;
  }
  ASSERT_EQ(announced.size(), 10U);
  int proved = 0;
  for (const auto& one : league.recording.all()) {
    if (!one.is(Direction::kOut, Kind::kRequest, "GAME_OVER")) continue;
    std::string id = one.message["match_id"];
    auto seed = game::parse_seed(one.message["draw_proof"].get<std::string>());
    ASSERT_TRUE(seed);
    EXPECT_EQ(game::draw_commitment(*seed, id), announced[id]["draw_commitment"]) << id;
    game::Choices choices;
    game::Bindings bindings;
    for (game::Side side : game::kBothSides) {
      const std::string player =
          announced[id][side == game::Side::kA ? "player_A_id" : "player_B_id"];
      choices[side] = one.message["game_result"]["choices"][player];
      if (!one.message.value("choice_commitments", json::object()).contains(player)) continue;
      bindings.commitments[side] = one.message["choice_commitments"][player];
      bindings.nonces[side] = one.message["choice_nonces"][player];
    }
    EXPECT_EQ(one.message["draw_version"], game::draw_version(bindings));
    EXPECT_EQ(
        game::draw_number({.seed = *seed, .match_id = id, .choices = choices, .bindings = bindings},
                          {1, 10}),
        one.message["game_result"]["drawn_number"]);
    ++proved;
  }
  EXPECT_EQ(proved, 20);  // both players of each match
}

TEST(League, NeverGivesARefereeMoreThanItCanTake) {
  LeagueFixture league({.players = 8, .referees = 1, .capacity = 2, .seed = 3});
  // Players answer late, so that matches overlap.
  for (const char* id : {"P01", "P03", "P05"})
    league.script(id).on("GAME_INVITATION", Deviation::late(milliseconds(700)));
  league.register_all();
  int most = 0;
  ASSERT_TRUE(league.run_until([&] {
    most = std::max(most, league.running_matches(0));
    return league.is_over();
  }));
  EXPECT_EQ(most, 2);
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  for (const auto& one : league.recording.of("REF01")) {
    if (one.message.is_object()) {
      EXPECT_FALSE(one.message.contains("refused")) << one.message;
    }
  }
}

TEST(League, GivesALargeRefereeAWholeRoundInMessagesThatItAccepts) {
  LeagueFixture league({.players = 140, .capacity = 1000});
  league.register_all();
  ASSERT_TRUE(
      league.run_until([&] { return league.script("REF01").arrived("ROUND_ANNOUNCEMENT") == 2; }));
  std::size_t matches = 0;
  for (const auto& one : league.recording.of("REF01")) {
    if (!one.is(Direction::kIn, Kind::kRequest, "ROUND_ANNOUNCEMENT")) continue;
    EXPECT_LE(one.message["matches"].size(), 64U);
    EXPECT_LT(one.message.dump().size(), agent::runtime::Settings{}.http.max_body_bytes);
    matches += one.message["matches"].size();
  }
  EXPECT_EQ(matches, 70U);
}

TEST(League, ASlowPlayerDelaysOnlyItsOwnMatch) {
  LeagueFixture league({.players = 6});
  league.script("P01").on("GAME_INVITATION", Deviation::late(milliseconds(4500)), 1);
  auto start = league.time.steady_now();
  ASSERT_TRUE(league.play());
  for (const auto& one : league.recording.all()) {
    if (!one.is(Direction::kOut, Kind::kRequest, "MATCH_RESULT_REPORT")) continue;
    std::string id = one.message["match_id"];
    if (!id.starts_with("R1M")) continue;
    bool is_own = one.message["result"]["score"].contains("P01");
    EXPECT_EQ(one.at - start >= milliseconds(4500), is_own) << id;
  }
  EXPECT_EQ(league.status()["technical_losses"], 0);
}

TEST(League, HidesChoicesInTheStateOfARunningMatch) {
  LeagueFixture league({.players = 2, .strategies = {"even", "odd"}});
  league.script("P02").on("CHOOSE_PARITY_CALL", Deviation::late(seconds(20)));
  league.register_all();
  ASSERT_TRUE(
      league.run_until([&] { return league.script("P02").arrived("CHOOSE_PARITY_CALL") > 0; }));
  league.settle();
  auto running = league.call("REF01", "get_match_state", {{"match_id", "R1M1"}})["result"];
  EXPECT_EQ(running["state"], "COLLECTING_CHOICES");
  EXPECT_EQ(running["players"]["P01"]["state"], "ANSWERED");
  EXPECT_FALSE(running["players"]["P01"].contains("choice"));
  ASSERT_TRUE(league.play());
  auto done = league.call("REF01", "get_match_state", {{"match_id", "R1M1"}})["result"];
  EXPECT_EQ(done["players"]["P01"]["choice"], "even");
}

}  // namespace
}  // namespace league::testing
