#include "referee/core/match_result.h"

#include <gtest/gtest.h>

#include <set>

namespace league::referee {
namespace {

TEST(Termination, NamesAreStableAndDifferent) {
  EXPECT_EQ(termination_name(Termination::kNormal), "NORMAL");
  EXPECT_EQ(termination_name(Termination::kTimeoutChoice), "TIMEOUT_CHOICE");
  EXPECT_EQ(termination_name(Termination::kBothFailed), "BOTH_FAILED");
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Termination::kBothFailed); ++i) {
    names.insert(termination_name(static_cast<Termination>(i)));
  }
  EXPECT_EQ(names.size(), 13U);
  EXPECT_FALSE(names.contains(""));
}

TEST(Termination, FollowsFromTheLastFailure) {
  using core::ErrorCode;
  EXPECT_EQ(termination_for(Call::kInvitation, ErrorCode::kTimeout), Termination::kTimeoutJoin);
  EXPECT_EQ(termination_for(Call::kChooseParity, ErrorCode::kTimeout), Termination::kTimeoutChoice);
  EXPECT_EQ(termination_for(Call::kInvitation, ErrorCode::kConnectionError),
            Termination::kConnectionJoin);
  EXPECT_EQ(termination_for(Call::kChooseParity, ErrorCode::kConnectionError),
            Termination::kConnectionChoice);
  EXPECT_EQ(termination_for(Call::kInvitation, ErrorCode::kCommitmentMismatch),
            Termination::kCommitmentMismatch);
  EXPECT_EQ(termination_for(Call::kChooseParity, ErrorCode::kCommitmentMismatch),
            Termination::kCommitmentMismatch);
  EXPECT_EQ(termination_for(Call::kInvitation, ErrorCode::kInvalidFieldValue),
            Termination::kInvalidReply);
  EXPECT_EQ(termination_for(Call::kChooseParity, ErrorCode::kAuthTokenMissing),
            Termination::kAuthFailed);
  EXPECT_EQ(termination_for(Call::kChooseParity, ErrorCode::kReplyTooLarge),
            Termination::kInvalidReply);
}

TEST(Names, AreThoseOfTheProtocol) {
  EXPECT_EQ(state_name(MatchState::kWaitingForPlayers), "WAITING_FOR_PLAYERS");
  EXPECT_EQ(state_name(MatchState::kCollectingChoices), "COLLECTING_CHOICES");
  EXPECT_EQ(state_name(MatchState::kDrawingNumber), "DRAWING_NUMBER");
  EXPECT_EQ(state_name(MatchState::kFinished), "FINISHED");
  EXPECT_EQ(status_name(game::technical_result(Side::kA, "DECLINED")), "TECHNICAL_LOSS");
  game::MatchResult played;
  played.outcome = game::Outcome::kPlayerBWins;
  EXPECT_EQ(status_name(played), "WIN");
  played.outcome = game::Outcome::kDraw;
  EXPECT_EQ(status_name(played), "DRAW");
  EXPECT_EQ(side_name(Side::kB), "PLAYER_B");
}

}  // namespace
}  // namespace league::referee
