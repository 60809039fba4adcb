#include "player/core/open_match.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "game/commitment.h"
#include "tests/support/scripted_random.h"

namespace league::player {
namespace {

using nlohmann::json;

OpenMatch invited() {
  return {.player_id = core::PlayerId("P01"),
          .league_id = core::LeagueId("league_test"),
          .match_id = core::MatchId("R1M1"),
          .round_id = 1,
          .game_type = "even_odd",
          .side = game::Side::kB,
          .opponent_id = core::PlayerId("P02"),
          .draw_commitment = std::string(64, '5')};
}

class OpenMatchTest : public ::testing::Test {
 protected:
  /// A match that the player has joined, and where `opponent` is what it was handed over.
  OpenMatch called(const std::optional<std::string>& opponent) {
    OpenMatch match = invited();
    commit(match, "even", random_);
    EXPECT_FALSE(handed_over(match, opponent));
    return match;
  }

  league::testing::ScriptedRandom random_;
  const std::string theirs_ = std::string(64, '7');
};

TEST_F(OpenMatchTest, ACommitmentIsToDrawMatchPlayerChoiceAndNonce) {
  OpenMatch match = invited();
  EXPECT_FALSE(match.commitment());
  commit(match, "even", random_);
  EXPECT_TRUE(game::is_hex_256(match.nonce));
  EXPECT_EQ(match.commitment(),
            core::to_hex(core::sha256(std::string(64, '5') + "|R1M1|P01|even|" + match.nonce)));
  OpenMatch another = invited();
  commit(another, "even", random_);
  EXPECT_NE(another.commitment(), match.commitment());
}

TEST_F(OpenMatchTest, ARepeatedInvitationChangesNothing) {
  OpenMatch match = invited();
  commit(match, "even", random_);
  EXPECT_EQ(after_invitation(&match, invited()), match);
}

TEST_F(OpenMatchTest, WhatBothHaveBoundHoldsForReplaysAndLaterAttempts) {
  const OpenMatch match = called(theirs_);
  EXPECT_EQ(after_invitation(&match, invited()), match);
}

TEST_F(OpenMatchTest, WhatOnlyOneHasBoundIsChosenAnewAfterTheReveal) {
  const OpenMatch match = called(std::nullopt);
  const OpenMatch again = after_invitation(&match, invited());
  EXPECT_TRUE(again.choice.empty());
  EXPECT_FALSE(again.is_committed());
  EXPECT_FALSE(again.is_revealed);
  EXPECT_EQ(again.earlier_commitment, match.commitment());
}

TEST_F(OpenMatchTest, AnotherSeedIsAnotherMatch) {
  const OpenMatch match = called(theirs_);
  OpenMatch replayed = invited();
  replayed.draw_commitment = std::string(64, '6');
  EXPECT_EQ(after_invitation(&match, replayed), replayed);
}

TEST_F(OpenMatchTest, ObjectsToAnotherCommitmentOfTheOpponent) {
  OpenMatch match = called(theirs_);
  EXPECT_FALSE(handed_over(match, theirs_)) << "a repeated call";
  EXPECT_TRUE(handed_over(match, std::string(64, '8')));
  EXPECT_TRUE(handed_over(match, std::nullopt));
  EXPECT_EQ(match.opponent_commitment, theirs_) << "the first one counts";
  OpenMatch alone = called(std::nullopt);
  EXPECT_FALSE(handed_over(alone, std::nullopt));
  EXPECT_TRUE(handed_over(alone, theirs_)) << "made after our choice was out";
}

TEST_F(OpenMatchTest, ComesBackFromJsonAsItWas) {
  for (const auto& opponent : {std::optional(theirs_), std::optional<std::string>()}) {
    OpenMatch match = called(opponent);
    match.earlier_commitment = opponent;
    const auto back = open_match_from_json(json::parse(open_match_to_text(match)));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, match);
  }
}

TEST_F(OpenMatchTest, NoBadFieldIsTaken) {
  const json good = json::parse(open_match_to_text(called(theirs_)));
  for (const auto& [key, value] : good.items()) {
    json bad = good;
    bad[key] = json::array();
    EXPECT_FALSE(open_match_from_json(bad)) << key;
  }
  for (const auto& [key, value] : std::map<std::string, json>{{"choice", ""},
                                                              {"choice_nonce", "abc"},
                                                              {"match_id", ""},
                                                              {"role_in_match", "PLAYER_C"},
                                                              {"round_id", -1},
                                                              {"round_id", 1e300}}) {
    json bad = good;
    bad[key] = value;
    EXPECT_FALSE(open_match_from_json(bad)) << key;
  }
  for (const json& bad : {json(), json(7), json::array(), json::object()}) {
    EXPECT_FALSE(open_match_from_json(bad)) << bad;
  }
}

}  // namespace
}  // namespace league::player
