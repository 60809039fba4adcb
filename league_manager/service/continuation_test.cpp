#include "league_manager/service/continuation.h"

#include <gtest/gtest.h>

#include "common/journal/memory_journal_testing.h"
#include "league_manager/core/league_testing.h"
#include "league_manager/events/event_codec.h"
#include "tests/support/scripted_random.h"

namespace league::league_manager::service {
namespace {

const events::LeagueCreated kCreation{core::LeagueId("league_a"), "even_odd", 8, 2};

TEST(Continuation, TakesTheLeagueFromItsJournal) {
  events::LeagueSettings settings;
  settings.max_attempts = 7;
  ASSERT_TRUE(continue_with(settings, kCreation, {}));
  EXPECT_EQ(settings.league_id.str(), "league_a");
  EXPECT_EQ(settings.players, 8);
  EXPECT_EQ(settings.referees, 2);
  EXPECT_EQ(settings.max_attempts, 7);  // limits are of the day
  EXPECT_TRUE(continue_with(settings, kCreation, {"league_a", 8, 2, game::even_odd()}));
}

TEST(Continuation, NamesAContradiction) {
  const std::vector<std::pair<WantedLeague, std::string>> cases = {
      {{"league_b", {}, {}}, "--league league_a, and --league league_b was given"},
      {{{}, 9, {}}, "--players 8, and --players 9 was given"},
      {{{}, {}, 1}, "--referees 2, and --referees 1 was given"},
      {{{}, {}, {}, *game::Games::standard().find("prisoners_dilemma")},
       "--game even_odd, and --game prisoners_dilemma was given"},
  };
  for (const auto& [wanted, expected] : cases) {
    events::LeagueSettings settings;
    auto result = continue_with(settings, kCreation, wanted);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find(expected), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find("--new"), std::string::npos);
    EXPECT_EQ(settings.players, events::LeagueSettings{}.players);
  }
}

TEST(Continuation, ReadsTheFirstEvent) {
  journal::MemoryJournal journal;
  auto none = read_creation(journal);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  auto now = testing::at(0);
  ASSERT_TRUE(journal::append_and_wait(
      journal, events::to_records({{now, kCreation}, {now, events::LeagueContinued{}}})));
  auto creation = read_creation(journal);
  ASSERT_TRUE(creation);
  EXPECT_EQ(*creation, kCreation);
}

TEST(Continuation, RefusesAJournalOfSomethingElse) {
  for (const journal::EventRecord& record :
       {journal::EventRecord{"SHOPPING", "{}"},
        events::to_record({testing::at(0), events::LeagueContinued{}})}) {
    journal::MemoryJournal journal;
    ASSERT_TRUE(journal::append_and_wait(journal, {record}));
    EXPECT_FALSE(read_creation(journal));
  }
}

TEST(Continuation, TheLeaguesKeyIsTheOneOfItsJournal) {
  league::testing::ScriptedRandom random;
  admission::TokenIssuer right(core::LeagueId("league_a"), random);
  admission::TokenIssuer wrong(core::LeagueId("league_a"), random);
  events::LeagueCreated creation = kCreation;
  creation.league_key = right.league_key().public_key();
  events::LeagueSettings settings;
  ASSERT_TRUE(continue_with(settings, creation, {}));
  auto refused = take_league_key(settings, wrong);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("does not belong to the league"), std::string::npos);
  EXPECT_TRUE(take_league_key(settings, right));
  events::LeagueSettings of_old;  // its journal names none
  ASSERT_TRUE(continue_with(of_old, kCreation, {}));
  ASSERT_TRUE(take_league_key(of_old, right));
  EXPECT_EQ(of_old.league_key, *creation.league_key);
}

TEST(Continuation, FindsAKeyThatIsNotTheLeagues) {
  league::testing::ScriptedRandom random;
  admission::TokenIssuer right(core::LeagueId("league_even_odd"), random);
  admission::TokenIssuer wrong(core::LeagueId("league_even_odd"), random);
  testing::PlayedLeague played(testing::settings(2, 1));
  EXPECT_TRUE(check_token_issuer(played.league, wrong));  // there are no agents yet
  RegistrationFacts facts{testing::at(0), "nonce",
                          [&](const std::string& id, const std::string& nonce) {
                            return right.token(id, nonce).hash();
                          }};
  auto decision = played.league.decide_register(
      {events::AgentKind::kReferee, testing::profile("r", 9000), {}, {}}, facts);
  ASSERT_TRUE(decision);
  played.take(decision->events);
  EXPECT_TRUE(check_token_issuer(played.league, right));
  auto refused = check_token_issuer(played.league, wrong);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("secret.key does not belong"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager::service
