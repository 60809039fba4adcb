#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using league_manager::events::MatchAssigned;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// Loses every call of the first referee while `*is_dead`; the second one's reports take their
/// time, so that its match is still open when the first one comes back.
FaultPlan dying_referee(const std::shared_ptr<bool>& is_dead) {
  return [is_dead](const std::string& caller, const transport::link::OutboundCall& call) {
    if (caller == "REF01" && *is_dead) return Fault{Fault::Kind::kLoseRequest, {}};
    if (caller == "REF02" && call.notes->message_type == "MATCH_RESULT_REPORT")
      return Fault{Fault::Kind::kDelay, seconds(9)};
    return Fault{};
  };
}

/// Two referees; the first dies with a match in hand, comes back when its match has been given to
/// the other, and reports late.
class DyingReferee : public ::testing::Test {
 protected:
  DyingReferee() {
    league_.register_all();
    EXPECT_TRUE(league_.run_until([&] { return league_.running_matches(0) > 0; }));
    *is_dead_ = true;
    league_.disconnect("REF01");
    EXPECT_TRUE(league_.run_until([&] { return !reassigned().empty(); }, minutes(1)));
    *is_dead_ = false;
    league_.connect("REF01");
    EXPECT_TRUE(league_.play());
  }

  [[nodiscard]] std::vector<MatchAssigned> reassigned() const {
    std::vector<MatchAssigned> found;
    for (const auto& one : events_of<MatchAssigned>(league_)) {
      if (one.attempt == 2) found.push_back(one);
    }
    return found;
  }

  std::shared_ptr<bool> is_dead_ = std::make_shared<bool>(false);
  LeagueFixture league_{{.players = 4, .referees = 2, .faults = dying_referee(is_dead_)}};
};

TEST_F(DyingReferee, ItsMatchIsPlayedByAnother) {
  expect_sound(league_);
  ASSERT_EQ(reassigned().size(), 1U);
  EXPECT_EQ(reassigned()[0].referee, 1);
  EXPECT_EQ(league_.status()["technical_losses"], 0);
}

TEST_F(DyingReferee, TheSecondAttemptHasItsOwnConversationAndTheSameSeed) {
  ASSERT_EQ(reassigned().size(), 1U);
  std::string id = reassigned()[0].match.id().str();
  json assignments;
  for (const auto& one : league_.recording.all()) {
    if (!one.is(Direction::kOut, Kind::kRequest, "ROUND_ANNOUNCEMENT")) continue;
    for (const auto& match : one.message["matches"]) {
      if (match["match_id"] == id && match.contains("attempt"))
        assignments[std::to_string(match["attempt"].get<int>())] = match;
    }
  }
  ASSERT_EQ(assignments.size(), 2U);
  const auto& first = assignments["1"];
  const auto& second = assignments["2"];
  EXPECT_EQ(first["conversation_id"].get<std::string>().back(), '1');
  EXPECT_EQ(second["conversation_id"].get<std::string>().back(), '2');
  EXPECT_EQ(first["draw_seed"], second["draw_seed"]);
  EXPECT_NE(first["player_A_credential"], second["player_A_credential"]);
  int over = 0;
  for (const auto& one : league_.recording.all()) {
    if (!one.is(Direction::kOut, Kind::kRequest, "GAME_OVER") || one.message["match_id"] != id)
      continue;
    EXPECT_EQ(one.agent, "REF02");
    EXPECT_EQ(one.message["draw_proof"], first["draw_seed"]);
    ++over;
  }
  EXPECT_EQ(over, 2);
}

TEST_F(DyingReferee, ALateReportOfTheOldAttemptIsRefusedAndRecorded) {
  auto stale = events_of<league_manager::events::StaleReportRecorded>(league_);
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].attempt, 1);
  EXPECT_EQ(stale[0].referee, 0);
  bool is_told = false;
  for (const auto& one : league_.recording.of("REF01")) {
    if (one.direction != Direction::kIn || !one.message.is_object()) continue;
    is_told = is_told || one.message.value("error_code", "") == "E033";
  }
  EXPECT_TRUE(is_told);
}

TEST(Misfortune, ALostReportAnswerIsRepeatedWithTheSameNextMatches) {
  bool is_lost = false;
  LeagueFixture league(
      {.players = 4, .capacity = 1, .faults = [&](const std::string&, const auto& call) {
         if (is_lost || call.notes->message_type != "MATCH_RESULT_REPORT") return Fault{};
         is_lost = true;
         return Fault{Fault::Kind::kLoseReply, {}};
       }});
  ASSERT_TRUE(league.play());
  expect_sound(league);
  std::vector<json> answers;  // to the two reports of R1M1
  for (const auto& one : league.recording.of("league_manager")) {
    bool is_answer = one.direction == Direction::kOut && one.kind == Kind::kReply;
    if (is_answer && one.message.is_object() && one.message.value("match_id", "") == "R1M1")
      answers.push_back(one.message);
  }
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_EQ(answers[0]["matches"].size(), 1U);
  EXPECT_EQ(answers[0]["matches"][0]["match_id"], "R1M2");
  EXPECT_EQ(answers[0], answers[1]);
  for (const auto& one : events_of<MatchAssigned>(league)) EXPECT_EQ(one.attempt, 1);
}

TEST(Misfortune, ASilentRefereeLosesItsMatchesToTheOther) {
  LeagueFixture league({.players = 4, .referees = 2});
  league.script("REF01").on("ROUND_ANNOUNCEMENT", Deviation::silence());
  ASSERT_TRUE(league.play(minutes(30)));
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  for (const auto& one : events_of<league_manager::events::MatchReported>(league))
    EXPECT_EQ(one.referee, 1);
}

TEST(Misfortune, ARefereeThatLivesButNeverReportsIsOvertaken) {
  LeagueFixture league({.players = 4, .referees = 2});
  league.options.faults = [](const std::string& from, const transport::link::OutboundCall& call) {
    bool is_registration = call.notes->message_type == "REFEREE_REGISTER_REQUEST";
    return Fault{
        from == "REF01" && !is_registration ? Fault::Kind::kLoseRequest : Fault::Kind::kNone, {}};
  };
  ASSERT_TRUE(league.play(minutes(60)));
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
}

TEST(Misfortune, ALeagueWithoutRefereesWaitsForOne) {
  LeagueFixture league({.players = 4, .referees = 2});
  league.register_all();
  league.disconnect("REF01");
  league.disconnect("REF02");
  EXPECT_FALSE(league.play(minutes(60)));
  EXPECT_EQ(league.status()["matches_completed"], 0);
  league.connect("REF02");
  ASSERT_TRUE(league.play(minutes(60)));
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
}

TEST(Misfortune, TheBreakerSparesBroadcastsButNeverAGameCall) {
  LeagueFixture league({.players = 8});
  for (const char* type : {"ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED"})
    league.script("P01").on(type, Deviation::silence());
  // Somebody else is so slow that the silent one's broadcasts end before the league does.
  league.script("P02").on("CHOOSE_PARITY_CALL", Deviation::late(seconds(29)));
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  EXPECT_EQ(league.script("P01").arrived("GAME_INVITATION"), 7);
  EXPECT_EQ(league.script("P01").arrived("CHOOSE_PARITY_CALL"), 7);
  int to_p01 = league.script("P01").arrived("ROUND_ANNOUNCEMENT") +
               league.script("P01").arrived("LEAGUE_STANDINGS_UPDATE") +
               league.script("P01").arrived("ROUND_COMPLETED");
  int to_p03 = league.script("P03").arrived("ROUND_ANNOUNCEMENT") +
               league.script("P03").arrived("LEAGUE_STANDINGS_UPDATE") +
               league.script("P03").arrived("ROUND_COMPLETED");
  EXPECT_EQ(to_p03, 3 * 7);
  EXPECT_GE(to_p01, 5);
  EXPECT_LT(to_p01, to_p03);
}

struct Fate {
  const char* name;
  const char* type;  ///< of the message that P01 answers wrongly
  Deviation deviation;
  const char* ending;  ///< of its only match
};

Deviation edit(std::string key, json value) {
  return Deviation::edit(
      [key = std::move(key), value = std::move(value)](json& message) { message[key] = value; });
}

/// P01 (strategy `even`) against P02 (`even`), who draw when both are well.
std::vector<Fate> fates() {
  const char* join = "GAME_INVITATION";
  const char* choose = "CHOOSE_PARITY_CALL";
  return {
      {"a silent invitee", join, Deviation::silence(), "TIMEOUT_JOIN"},
      {"a silent chooser", choose, Deviation::silence(), "TIMEOUT_CHOICE"},
      {"a late invitee", join, Deviation::late(seconds(6)), "TIMEOUT_JOIN"},
      {"a late chooser", choose, Deviation::late(seconds(31)), "TIMEOUT_CHOICE"},
      {"a chooser just in time", choose, Deviation::late(milliseconds(29'999)), "NORMAL"},
      {"who declines", join, edit("accept", false), "DECLINED"},
      {"who says Even", choose, edit("parity_choice", "Even"), "INVALID_CHOICE"},
      {"who says 0", choose, edit("parity_choice", 0), "INVALID_CHOICE"},
      {"who says null", choose, edit("parity_choice", nullptr), "INVALID_CHOICE"},
      {"who names another match", choose, edit("match_id", "R9M9"), "WRONG_MATCH"},
      {"who joins another match", join, edit("match_id", "R9M9"), "WRONG_MATCH"},
      {"who answers garbage", choose, Deviation::bytes("]]{{"), "INVALID_REPLY"},
      {"who answers nothing", choose, Deviation::bytes(""), "INVALID_REPLY"},
      {"who answers an array", choose, Deviation::bytes("[1,2]"), "INVALID_REPLY"},
      {"who answers another type", choose, edit("message_type", "GAME_JOIN_ACK"), "INVALID_REPLY"},
      {"who answers an error", choose,
       Deviation::bytes(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}})"),
       "INVALID_REPLY"},
      {"whose gateway is down", choose, Deviation::bytes("<html>", 502), "CONNECTION_CHOICE"},
      {"whose clock is in another zone", choose, edit("timestamp", "2025-01-15T10:30:00+02:00"),
       "INVALID_REPLY"},
  };
}

TEST(Misfortune, EachFailureHasItsReasonAndItsWinner) {
  for (const auto& fate : fates()) {
    SCOPED_TRACE(fate.name);
    LeagueFixture league({.players = 2, .strategies = {"even"}});
    league.script("P01").on(fate.type, fate.deviation);
    ASSERT_TRUE(league.play());
    expect_sound(league);
    std::string reason = fate.ending;
    std::string points = reason == "NORMAL" ? "1" : "0";
    std::string others = reason == "NORMAL" ? "1" : "3";
    std::string ending = ending_of(league, "R1M1");
    EXPECT_TRUE(ending == "P01 " + points + " P02 " + others + " " + reason ||
                ending == "P02 " + others + " P01 " + points + " " + reason)
        << ending;
  }
}

TEST(Misfortune, TwoDeadPlayersBothLose) {
  LeagueFixture league({.players = 2});
  for (const char* id : {"P01", "P02"})
    league.script(id).on("CHOOSE_PARITY_CALL", Deviation::silence());
  ASSERT_TRUE(league.play());
  EXPECT_EQ(ending_of(league, "R1M1"), "P01 0 P02 0 BOTH_FAILED");
}

TEST(Misfortune, ThePlayerIsToldOfEachFailedAttempt) {
  LeagueFixture league({.players = 2});
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence());
  ASSERT_TRUE(league.play());
  auto told = spoken(league, "P01", Direction::kIn, Kind::kRequest, "GAME_ERROR");
  ASSERT_EQ(told.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const auto& message = told[static_cast<std::size_t>(i)].message;
    EXPECT_EQ(message["error_code"], "E001");
    EXPECT_EQ(message["affected_player"], "P01");
    EXPECT_EQ(message["retry_count"], i + 1);
    EXPECT_EQ(message["max_retries"], 3);
    EXPECT_EQ(message["action_required"], i < 2 ? "CHOOSE_PARITY_RESPONSE" : "NONE");
  }
  EXPECT_EQ(league.script("P01").arrived("CHOOSE_PARITY_CALL"), 3);
  EXPECT_EQ(league.script("P02").arrived("GAME_ERROR"), 0);
}

/// What P01 does with the credentials of its answers, in both modes.
TEST(Misfortune, ForeignCredentialsAreNotedInOpenModeAndRefusedInStrictMode) {
  struct Case {
    const char* leniency;
    Deviation deviation;
  };
  const std::vector<Case> cases = {
      {"missing_reply_token", Deviation::edit([](json& one) { one.erase("auth_token"); })},
      {"foreign_reply_token", edit("auth_token", "tok_p02_of_somebody_else")},
      {"foreign_reply_sender", edit("sender", "player:P02")},
      {"foreign_reply_player", edit("player_id", "P02")},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.leniency);
    for (auto mode : {envelope::Mode::kOpen, envelope::Mode::kStrict}) {
      LeagueFixture league({.players = 2, .strategies = {"even"}, .mode = mode});
      league.script("P01").on("CHOOSE_PARITY_CALL", one.deviation);
      ASSERT_TRUE(league.play());
      bool is_open = mode == envelope::Mode::kOpen;
      EXPECT_EQ(league.status()["technical_losses"], is_open ? 0 : 1);
      if (!is_open) {
        EXPECT_TRUE(ending_of(league, "R1M1").ends_with(" AUTH_FAILED"));
      }
      int noted = 0;
      for (const auto& reply :
           spoken(league, "REF01", Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE")) {
        noted += static_cast<int>(std::ranges::count(reply.leniencies, one.leniency));
      }
      EXPECT_EQ(noted, is_open ? 1 : 0);
    }
  }
}

/// A stranger's answers to the calls of its first match, in another conversation, league or round.
TEST(Misfortune, AnswersThatNameAnotherConversationAreNotedInOpenModeAndRefusedInStrictMode) {
  struct Case {
    const char* leniency;
    const char* code;
    Deviation deviation;
  };
  const std::vector<Case> cases = {
      {"foreign_conversation_id", "E010", edit("conversation_id", "my-own-7")},
      {"foreign_league_id", "E008", edit("league_id", "another_league")},
      {"foreign_round_id", "E023", edit("round_id", 9)},
  };
  for (const auto& one : cases) {
    for (const char* call : {"GAME_INVITATION", "CHOOSE_PARITY_CALL"}) {
      for (auto mode : {envelope::Mode::kOpen, envelope::Mode::kStrict}) {
        const bool is_open = mode == envelope::Mode::kOpen;
        SCOPED_TRACE(std::string(one.leniency) + " " + call + (is_open ? " open" : " strict"));
        LeagueFixture league({.players = 2, .strategies = {"even"}, .mode = mode});
        league.script("P01").on(call, one.deviation);
        ASSERT_TRUE(league.play());
        expect_sound(league);
        EXPECT_TRUE(ending_of(league, "R1M1").ends_with(is_open ? " NORMAL" : " INVALID_REPLY"))
            << ending_of(league, "R1M1");
        int noted = 0;
        int refused = 0;
        for (const auto& said : league.recording.of("REF01")) {
          noted += static_cast<int>(std::ranges::count(said.leniencies, one.leniency));
          refused += static_cast<int>(said.verdict && core::wire_code(*said.verdict) == one.code);
        }
        EXPECT_EQ(noted, is_open ? 1 : 0);
        EXPECT_EQ(refused, is_open ? 0 : 3);
      }
    }
  }
}

TEST(Referee, HasThePlaceOfAReportedMatchFreeBeforeTheAnswerArrives) {
  // Two matches a round, two places. The manager counts a match as over when it accepts the report;
  // the referee reads the answer later, here after it has asked again.
  auto reported = std::make_shared<std::set<std::string>>();
  FaultPlan first_answer_lost = [reported](const std::string&,
                                           const transport::link::OutboundCall& call) {
    bool is_first = call.notes->message_type == "MATCH_RESULT_REPORT" &&
                    reported->insert(call.notes->match_id).second;
    return Fault{is_first ? Fault::Kind::kLoseReply : Fault::Kind::kNone, {}};
  };
  LeagueFixture league({.players = 4, .referees = 1, .capacity = 2, .faults = first_answer_lost});
  ASSERT_TRUE(league.play());
  EXPECT_EQ(reported->size(), 6U);
  auto assigned = events_of<MatchAssigned>(league);
  EXPECT_EQ(assigned.size(), 6U);
  for (const auto& one : assigned) EXPECT_EQ(one.attempt, 1) << one.match.id().str();
}

}  // namespace
}  // namespace league::testing
