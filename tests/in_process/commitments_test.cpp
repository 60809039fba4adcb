// Protocol §7, "Players can bind themselves": what is on the wire, with bots that commit.
#include <gtest/gtest.h>

#include "game/draw.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;

/// A bot of two messages: what it commits to when it joins, and what it says when it is asked.
struct Bot {
  std::string id;
  std::string commits_to;  ///< empty: it does not
  std::string says;
  std::optional<std::string> nonce_shown;
};

std::string nonce_of(const std::string& id) { return core::to_hex(core::sha256(id)); }

/// The commitment to the seed, as the match's players hear it.
std::string promised(const LeagueFixture& league, const std::string& player) {
  auto heard = spoken(league, player, Direction::kIn, Kind::kRequest, "ROUND_ANNOUNCEMENT");
  return heard.at(0).message["matches"][0]["draw_commitment"];
}

std::string commitment_of(const LeagueFixture& league, const Bot& bot) {
  return game::choice_commitment({.draw_commitment = promised(league, bot.id),
                                  .match_id = "R1M1",
                                  .player_id = bot.id,
                                  .choice = bot.commits_to,
                                  .nonce = nonce_of(bot.id)});
}

void play_as(LeagueFixture& league, const Bot& bot) {
  league.script(bot.id).on("GAME_INVITATION", Deviation::edit([&league, bot](json& ack) {
                             ack.erase("choice_commitment");
                             if (!bot.commits_to.empty())
                               ack["choice_commitment"] = commitment_of(league, bot);
                           }));
  league.script(bot.id).on("CHOOSE_PARITY_CALL", Deviation::edit([bot](json& response) {
                             response["parity_choice"] = bot.says;
                             response.erase("choice_nonce");
                             if (bot.nonce_shown) response["choice_nonce"] = *bot.nonce_shown;
                           }));
}

Bot bound(const std::string& id, const std::string& choice) {
  return {id, choice, choice, nonce_of(id)};
}
Bot unbound(const std::string& id, const std::string& choice) { return {id, "", choice, {}}; }

/// The one match of two bots.
std::unique_ptr<LeagueFixture> match_of(const Bot& a, const Bot& b) {
  auto league = std::make_unique<LeagueFixture>(LeagueFixtureOptions{.players = 2});
  play_as(*league, a);
  play_as(*league, b);
  EXPECT_TRUE(league->play());
  return league;
}

json game_over(const LeagueFixture& league, const std::string& player) {
  return spoken(league, player, Direction::kIn, Kind::kRequest, "GAME_OVER").at(0).message;
}

json details_of(const LeagueFixture& league) {
  return spoken(league, "REF01", Direction::kOut, Kind::kRequest, "MATCH_RESULT_REPORT")
      .at(0)
      .message["result"]["details"];
}

TEST(Commitments, EverybodySeesWhatBothHaveBound) {
  const Bot a = bound("P01", "odd");
  const Bot b = bound("P02", "even");
  auto league = match_of(a, b);
  for (const Bot& bot : {a, b}) {
    const Bot& opponent = bot.id == "P01" ? b : a;
    auto invited = spoken(*league, bot.id, Direction::kIn, Kind::kRequest, "GAME_INVITATION");
    EXPECT_EQ(invited.at(0).message["draw_commitment"], promised(*league, bot.id));
    auto asked = spoken(*league, bot.id, Direction::kIn, Kind::kRequest, "CHOOSE_PARITY_CALL");
    EXPECT_EQ(asked.at(0).message["context"]["opponent_commitment"],
              commitment_of(*league, opponent));
  }
  const json details = details_of(*league);
  EXPECT_EQ(details["draw_version"], 2);
  EXPECT_EQ(details["choice_commitments"],
            json({{"P01", commitment_of(*league, a)}, {"P02", commitment_of(*league, b)}}));
  EXPECT_EQ(details["choice_nonces"], json({{"P01", nonce_of("P01")}, {"P02", nonce_of("P02")}}));
  for (const char* player : {"P01", "P02"}) {
    const json over = game_over(*league, player);
    for (const char* field : {"draw_version", "choice_commitments", "choice_nonces", "draw_proof"})
      EXPECT_EQ(over[field], details[field]) << field;
  }
}

TEST(Commitments, OneSideAloneIsListedAlone) {
  auto league = match_of(bound("P01", "odd"), unbound("P02", "even"));
  auto asked = spoken(*league, "P01", Direction::kIn, Kind::kRequest, "CHOOSE_PARITY_CALL");
  EXPECT_FALSE(asked.at(0).message["context"].contains("opponent_commitment"));
  const json details = details_of(*league);
  EXPECT_EQ(details["draw_version"], 2);
  EXPECT_EQ(details["choice_commitments"].size(), 1U);
  EXPECT_EQ(details["choice_nonces"], json({{"P01", nonce_of("P01")}}));
}

TEST(Commitments, WithoutThemTheMessagesAreAsTheyWere) {
  auto league = match_of(unbound("P01", "odd"), unbound("P02", "even"));
  const json details = details_of(*league);
  EXPECT_EQ(details["draw_version"], 1);
  EXPECT_FALSE(details.contains("choice_commitments"));
  EXPECT_FALSE(details.contains("choice_nonces"));
}

TEST(Commitments, ANonceThatOpensNothingIsNotedInBothModes) {
  for (auto mode : {envelope::Mode::kOpen, envelope::Mode::kStrict}) {
    LeagueFixture league({.players = 2, .mode = mode});
    play_as(league, {"P01", "", "odd", nonce_of("P01")});
    play_as(league, bound("P02", "even"));
    ASSERT_TRUE(league.play());
    EXPECT_EQ(league.status()["technical_losses"], 0);
    EXPECT_EQ(details_of(league)["choice_nonces"], json({{"P02", nonce_of("P02")}}));
    for (const auto& reply :
         spoken(league, "REF01", Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE")) {
      EXPECT_EQ(std::ranges::count(reply.leniencies, std::string_view("nonce_ignored")),
                reply.peer == "player:P01" ? 1 : 0);
    }
  }
}

TEST(Commitments, WhoDoesNotOpenLosesAndTheLogSaysWhy) {
  for (const auto& shown : {std::optional<std::string>(), std::optional(nonce_of("P02"))}) {
    auto league = match_of({"P01", "odd", "odd", shown}, bound("P02", "even"));
    EXPECT_EQ(ending_of(*league, "R1M1"), "P01 0 P02 3 COMMITMENT_MISMATCH");
    int refused = 0;
    for (const auto& reply :
         spoken(*league, "REF01", Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE")) {
      if (reply.peer != "player:P01") continue;
      EXPECT_EQ(reply.verdict, core::ErrorCode::kCommitmentMismatch);
      ++refused;
    }
    EXPECT_EQ(refused, 3);
    auto told = spoken(*league, "P01", Direction::kIn, Kind::kRequest, "GAME_ERROR");
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told[0].message["error_code"], "E040");
    const json details = details_of(*league);
    EXPECT_TRUE(details["drawn_number"].is_null());
    EXPECT_EQ(details["choice_commitments"].size(), 2U);
    EXPECT_EQ(details["choice_nonces"], json({{"P02", nonce_of("P02")}}));
    EXPECT_EQ(details["failures"][0]["error_code"], "E040");
  }
}

TEST(Commitments, AWordThatTheGameDoesNotKnowHasItsVerdictInTheLog) {
  auto league = match_of(unbound("P01", "Odd"), unbound("P02", "even"));
  EXPECT_EQ(ending_of(*league, "R1M1"), "P01 0 P02 3 INVALID_CHOICE");
  for (const auto& reply :
       spoken(*league, "REF01", Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE")) {
    if (reply.peer == "player:P01") {
      EXPECT_EQ(reply.verdict, core::ErrorCode::kInvalidParityChoice);
    }
  }
}

TEST(Commitments, NothingIsShownOfThemBeforeTheResultIsAccepted) {
  LeagueFixture league({.players = 2});
  play_as(league, bound("P01", "odd"));
  play_as(league, {"P02", "even", "even", nonce_of("P01")});  // three answers that open nothing
  const auto state_of_match = [&league] {
    return league.call("REF01", "get_match_state", {{"match_id", "R1M1"}})["result"];
  };
  league.register_all();
  ASSERT_TRUE(league.run_until([&] { return league.script("P02").arrived("GAME_ERROR") >= 1; }));
  const std::string before = state_of_match().dump();
  EXPECT_NE(before.find("COLLECTING_CHOICES"), std::string::npos) << before;
  EXPECT_EQ(before.find("\"odd\""), std::string::npos) << before;
  EXPECT_EQ(before.find("\"choice\""), std::string::npos) << before;
  EXPECT_EQ(before.find(nonce_of("P01")), std::string::npos) << before;
  ASSERT_TRUE(league.play());
  EXPECT_EQ(state_of_match()["players"]["P01"]["choice"], "odd");
  for (const auto& one : league.recording.all()) {
    if (one.type != "GAME_ERROR" || one.kind != Kind::kRequest) continue;
    EXPECT_EQ(one.message.dump().find(nonce_of("P01")), std::string::npos);
    EXPECT_EQ(one.message.dump().find("\"odd\""), std::string::npos);
  }
}

}  // namespace
}  // namespace league::testing
