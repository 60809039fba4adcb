#include "league_manager/admission/known_senders.h"

#include <gtest/gtest.h>

#include "common/journal/discarding_journal.h"
#include "league_manager/core/league_testing.h"
#include "league_manager/events/agent_lifecycle.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::admission {
namespace {

using transport::link::RequestSender;
using transport::link::Standing;

class KnownSendersTest : public ::testing::Test {
 protected:
  KnownSendersTest() {
    if (!ledger_.open()) throw std::logic_error("no league");
    enter(events::AgentKind::kReferee, "whistle", 8001);
    enter(events::AgentKind::kPlayer, "alpha", 9001);
    enter(events::AgentKind::kPlayer, "beta", 9002);
  }

  void enter(events::AgentKind kind, const std::string& name, int port) {
    commit([&](const League& league, core::UtcTimestamp now) {
      RegistrationFacts facts{now, name, [](const std::string& id, const std::string&) {
                                return core::AuthToken("tok_" + id).hash();
                              }};
      auto decision = league.decide_register({kind, testing::profile(name, port), {}, {}}, facts);
      return decision ? decision->events : events::Events{};
    });
  }

  void commit(const std::function<events::Events(const League&, core::UtcTimestamp)>& decide) {
    ledger_.commit(decide, [](const core::Result<events::Events>&) {});
  }

  std::optional<RequestSender> sender(std::string_view member, std::string_view shown) const {
    return known_(member, shown, {});
  }

  league::testing::FakeTime time_;
  journal::DiscardingJournal journal_;
  files::Ledger ledger_{{}, journal_, time_};
  const core::AuthToken operator_key_{"op_0123456789abcdef"};
  const Admission admission_{{.referee_key = core::AuthToken("ref_0123456789abcdef")}};
  core::CryptoRandom random_;
  agent::seats::Seats seats_{time_, time_, random_, {}};
  const TokenIssuer issuer_{core::LeagueId("league"), random_};
  SeatCalls seat_calls_{time_};
  const SeatAdmission seat_admission_{
      ledger_, issuer_, [](const League&, int) { return std::optional<std::string>("match"); },
      seat_calls_};
  const KnownSenders known_{ledger_, operator_key_, admission_, seat_admission_, seats_};
};

TEST_F(KnownSendersTest, KnowsCredentialsByTheirOwners) {
  EXPECT_EQ(sender("auth_token", "tok_REF01"), (RequestSender{Standing::kStaff, "REF01"}));
  EXPECT_EQ(sender("auth_token", "tok_P02"), (RequestSender{Standing::kPlayer, "P02"}));
  EXPECT_EQ(sender("operator_key", "op_0123456789abcdef"),
            (RequestSender{Standing::kStaff, "operator"}));
  EXPECT_EQ(sender("admission_key", "ref_0123456789abcdef"),
            (RequestSender{Standing::kStaff, "referees to be"}));
}

TEST_F(KnownSendersTest, KnowsNobodyByAGuessOrByACredentialInAnothersPlace) {
  for (const char* guess : {"", "tok_", "tok_P03", "op_0123456789abcdef"})
    EXPECT_FALSE(sender("auth_token", guess)) << guess;
  for (const char* guess : {"", "tok_REF01", "ref_0123456789abcdef"})
    EXPECT_FALSE(sender("operator_key", guess)) << guess;
  EXPECT_FALSE(sender("admission_key", "op_0123456789abcdef"));
  const core::AuthToken no_key;
  const Admission open({});
  EXPECT_FALSE(
      KnownSenders(ledger_, no_key, open, seat_admission_, seats_)("operator_key", "", {}));
  EXPECT_FALSE(
      KnownSenders(ledger_, no_key, open, seat_admission_, seats_)("admission_key", "", {}));
}

TEST_F(KnownSendersTest, AnAgentThatIsShutDownIsAStranger) {
  const events::AgentRef beta = events::AgentRef::player(1);
  commit([](const League& league, core::UtcTimestamp now) {
    auto events = league.decide_start(now);
    return events ? *events : events::Events{};
  });
  commit([&](const League& league, core::UtcTimestamp now) {
    auto events =
        league.decide_shut_down(beta, events::kReasonShutDownByOperator, "it floods", now);
    return events ? *events : events::Events{};
  });
  EXPECT_FALSE(sender("auth_token", "tok_P02"));
  EXPECT_TRUE(sender("auth_token", "tok_P01"));
}

}  // namespace
}  // namespace league::league_manager::admission
