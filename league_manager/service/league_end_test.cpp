#include "league_manager/service/league_end.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/journal/memory_journal_testing.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::service {
namespace {

using nlohmann::json;

const core::LeagueId kLeague("league_a");

/// A manager as far as the end of its league needs it, over a journal that outlives it.
struct Manager {
  Manager(journal::Journal& journal, core::RandomSource& random, const std::string& data)
      : issuer(kLeague, random),
        ledger(settings(issuer.league_key().public_key()), journal, time),
        projector(writer, data, kLeague),
        end(ledger, projector) {
    ledger.observe([this](const events::Events& events) { projector.on_events(events); });
    EXPECT_TRUE(ledger.open());
  }

  static events::LeagueSettings settings(const std::string& key) {
    auto settings = testing::settings(2, 1);
    settings.league_id = kLeague;
    settings.league_key = key;
    return settings;
  }
  void take(const files::Ledger::Decide& decide) { EXPECT_TRUE(ledger.commit_and_wait(decide)); }
  void enter(events::AgentKind kind, const std::string& name, int port, const std::string& nonce) {
    take([&](const League& league, core::UtcTimestamp now) {
      return league
          .decide_register({kind, testing::profile(name, port), {}, {}}, testing::facts(nonce, now))
          ->events;
    });
  }
  void step() {
    take([](const League& league, core::UtcTimestamp now) {
      StepFacts facts{now, {}};
      facts.draw_seeds.resize(league.seeds_needed());
      return *league.decide_step(facts);
    });
  }
  void play() {
    step();
    step();
    take([](const League& league, core::UtcTimestamp now) {
      return league.decide_report(0, testing::report_of(league, {1, 1}, 1), now).events;
    });
    step();
    step();
  }

  league::testing::FakeTime time;
  admission::TokenIssuer issuer;
  files::Ledger ledger;
  agent::runtime::ProjectionWriter writer;
  files::LeagueProjector projector;
  LeagueEnd end;
};

class LeagueEndTest : public ::testing::Test {
 protected:
  std::unique_ptr<Manager> manager() {
    random_ = std::make_unique<league::testing::ScriptedRandom>();
    return std::make_unique<Manager>(journal_, *random_, directory_.path().string());
  }

  league::testing::TemporaryDirectory directory_;
  journal::MemoryJournal journal_;
  std::unique_ptr<league::testing::ScriptedRandom> random_;
};

TEST_F(LeagueEndTest, TheResultIsSignedAndTheSameAfterARestart) {
  std::optional<envelope::Attestation> first;
  {
    auto running = manager();
    running->enter(events::AgentKind::kPlayer, "a", 8101, "n1");
    running->enter(events::AgentKind::kPlayer, "b", 8102, "n2");
    running->enter(events::AgentKind::kReferee, "r", 9001, "n3");
    EXPECT_FALSE(running->end.attestation(running->issuer)) << "the league is not completed";
    running->play();
    ASSERT_EQ(running->ledger.read([](const League& league) { return league.state(); }),
              LeagueState::kCompleted);
    first = running->end.attestation(running->issuer);
    ASSERT_TRUE(first);
    const std::string key = running->issuer.league_key().public_key();
    EXPECT_TRUE(core::is_signature_of(key, first->statement, first->signature));
    EXPECT_TRUE(first->statement.starts_with("league.result 1\n" + key + "\n"));
    running->take([](const League& league, core::UtcTimestamp now) {
      return league.decide_delivered(events::NotificationKind::kLeagueCompleted, 1, now);
    });
  }
  auto restarted = manager();
  EXPECT_EQ(restarted->end.attestation(restarted->issuer), first);
}

TEST_F(LeagueEndTest, EveryKeyOfASeatIsPublished) {
  {
    auto running = manager();
    running->enter(events::AgentKind::kPlayer, "a", 8101, "n1");
    running->enter(events::AgentKind::kReferee, "r", 9001, "n3");
    running->enter(events::AgentKind::kPlayer, "a", 8101, "n2");  // is back with a new token
  }
  auto restarted = manager();
  const auto& issuer = restarted->issuer;
  EXPECT_EQ(
      restarted->end.receipt_keys(issuer),
      (json{{"keys",
             {{"P01", {issuer.receipt_key("P01", "n1"), issuer.receipt_key("P01", "n2")}}}}}));
}

}  // namespace
}  // namespace league::league_manager::service
