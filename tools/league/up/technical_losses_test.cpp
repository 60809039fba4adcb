#include "tools/league/up/technical_losses.h"

#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::tools {
namespace {

namespace lm = league_manager;
using lm::testing::at;

class TechnicalLossesTest : public ::testing::Test {
 protected:
  TechnicalLossesTest() {
    played_.enter_all(4);
    played_.step();
  }

  /// Everybody draws, but for player 0, whose matches of rounds before `until` it loses.
  void play(int until) {
    while (played_.league.state() == lm::LeagueState::kRunning) {
      for (lm::events::MatchKey match :
           played_.league.board().with_status(lm::MatchStatus::kAssigned)) {
        const auto pairing = played_.league.match(match)->pairing;
        const bool fails = (pairing.player_a == 0 || pairing.player_b == 0) && match.round < until;
        auto report = fails ? lm::testing::technical_report_of(played_.league, match, true)
                            : lm::testing::report_of(played_.league, match, 0);
        for (auto& failure : report.failures) {
          failure.call = "GAME_INVITATION";
          failure.error_code = failure.player_id == "P01" ? "E009" : "E010";
        }
        ASSERT_FALSE(played_.report(0, report, at(1)).refusal);
      }
      played_.step(at(2));
    }
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    lm::files::LeagueBook book;
    for (const auto& event : played_.events) EXPECT_TRUE(book.apply(event));
    std::vector<std::string> lines;
    for (const auto& losses : technical_losses_of(book)) {
      std::string line = losses.player_id + " " + losses.reason;
      for (const auto& match : losses.matches) line += " " + match;
      lines.push_back(std::move(line));
    }
    return lines;
  }

  lm::testing::PlayedLeague played_{lm::testing::settings(4, 1)};
};

TEST_F(TechnicalLossesTest, MatchesThatWerePlayedDoNotCount) {
  play(0);
  EXPECT_TRUE(lines().empty());
}

TEST_F(TechnicalLossesTest, NameTheCallAndTheCodeOfEachPlayer) {
  play(3);
  const auto all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].starts_with("P01 GAME_INVITATION: E009 CONNECTION_ERROR R1M")) << all[0];
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_NE(all[i].find(" GAME_INVITATION: E010 INVALID_REPLY R"), std::string::npos) << all[i];
}

TEST_F(TechnicalLossesTest, ThoseThatTheManagerDecidesAreThereWithWhoWantedIt) {
  played_.take(*played_.league.decide_shut_down(lm::events::AgentRef::player(0),
                                                lm::events::kReasonShutDownByOperator, "", at(1)));
  play(0);
  const auto all = lines();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].starts_with("P01 PLAYER_SHUT_DOWN (SHUT_DOWN_BY_OPERATOR) R2M")) << all[0];
}

TEST_F(TechnicalLossesTest, AMatchWithoutARefereeIsLostByBoth) {
  for (int i = 0; i < 3; ++i) {
    const int referee = played_.league.board().slot({1, 1}).referee();
    played_.take(played_.league.decide_assignment_refused({1, 1}, referee, at(i)));
  }
  play(0);
  ASSERT_EQ(lines().size(), 2U);
  for (const auto& line : lines()) EXPECT_TRUE(line.ends_with(" NO_REFEREE R1M1")) << line;
}

}  // namespace
}  // namespace league::tools
