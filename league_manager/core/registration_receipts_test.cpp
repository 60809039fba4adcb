#include "league_manager/core/registration.h"

#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using testing::PlayedLeague;
using testing::profile;
using testing::settings;

RegistrationRequest bot(const std::string& name, int port) {
  return {events::AgentKind::kPlayer, profile(name, port), {}, {}};
}
RegistrationRequest umpire(const std::string& name, int port) {
  return {events::AgentKind::kReferee, profile(name, port), {}, {}};
}

ErrorCode code_of(const core::Result<RegistrationDecision>& decision) {
  EXPECT_FALSE(decision) << "was accepted";
  return decision ? ErrorCode::kInternalError : decision.error().code;
}

RegistrationRequest with_receipts(const std::string& name, int port, const std::string& nonce) {
  auto request = bot(name, port);
  request.profile.receipts = true;
  request.profile.log_public_key = "log key of " + name;
  request.registration_nonce = nonce;
  return request;
}

/// A league of two players with receipts, whose match is open. P01 has the nonce `5f3c`.
struct WithReceipts : PlayedLeague {
  WithReceipts() : PlayedLeague(settings(2, 1)) {
    EXPECT_TRUE(enter(with_receipts("a", 1, "5f3c"))->gives_receipt_key);
    EXPECT_TRUE(enter(with_receipts("b", 2, "77aa"))->gives_receipt_key);
    EXPECT_TRUE(enter(umpire("r", 3)));
    step();
  }
  [[nodiscard]] const events::AgentProfile& profile_of_a() const {
    return league.roster().agent(events::AgentRef::player(0)).profile;
  }
};

TEST(Registration, GivesTheReceiptKeyOnlyToWhoShowsTheNonce) {
  WithReceipts played;
  auto back = with_receipts("a", 1, "5f3c");
  EXPECT_TRUE(played.enter(back)->gives_receipt_key) << "the repetition of the nonce alone";
  back.token_hash = "hash-P01-n";
  EXPECT_TRUE(played.enter(back)->gives_receipt_key) << "and with the token";
  back.registration_nonce = "another";
  EXPECT_FALSE(played.enter(back)->gives_receipt_key) << "a token does not bind another nonce";
  back.registration_nonce.reset();
  EXPECT_FALSE(played.enter(back)->gives_receipt_key);
  back.token_hash.reset();
  back.registration_nonce = "another";
  EXPECT_EQ(code_of(played.enter(back)), ErrorCode::kLateRegistration);
}

TEST(Registration, PlayersWithoutReceiptsGetNoKey) {
  PlayedLeague played(settings(2, 1));
  auto request = bot("a", 1);
  request.registration_nonce = "5f3c";
  EXPECT_FALSE(played.enter(request)->gives_receipt_key);
  EXPECT_FALSE(played.enter(request)->gives_receipt_key);
}

TEST(Registration, ATokenAloneMovesNoAddressDuringAMatchAndLowersNoDeclaration) {
  WithReceipts played;
  auto thief = bot("a", 666);
  thief.token_hash = "hash-P01-n";
  auto decision = played.enter(thief);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->ignored.size(), 3u);
  EXPECT_EQ(played.profile_of_a().endpoint, profile("", 1).endpoint);
  EXPECT_TRUE(played.profile_of_a().receipts);
  EXPECT_EQ(played.profile_of_a().log_public_key, "log key of a");

  auto owner = thief;
  owner.registration_nonce = "5f3c";
  ASSERT_TRUE(played.enter(owner));
  EXPECT_EQ(played.profile_of_a().endpoint, profile("", 666).endpoint) << "with its nonce";
  EXPECT_FALSE(played.profile_of_a().receipts);
}

TEST(Registration, ATokenAloneDoesNotDeclareReceiptsEither) {
  PlayedLeague played(settings(2, 1));
  ASSERT_TRUE(played.enter(bot("a", 1)));
  auto thief = with_receipts("a", 1, "fresh");
  thief.token_hash = "hash-P01-n";
  auto decision = played.enter(thief);
  EXPECT_FALSE(decision->gives_receipt_key);
  EXPECT_FALSE(played.league.roster().agent(decision->agent).profile.receipts)
      << "its answers would be refused for lack of commitments";
}

TEST(Registration, BindsTheFirstNonceAfterAnOperatorsNewToken) {
  WithReceipts played;
  played.take(decide_new_token(played.league.roster(), events::AgentRef::player(0),
                               testing::facts("m", testing::at(5))));
  const auto& agent = played.league.roster().agent(events::AgentRef::player(0));
  EXPECT_EQ(agent.credential_nonces(testing::at(5)), (std::vector<std::string>{"m", "n"}));
  EXPECT_EQ(agent.credential_nonces(testing::at(6)), (std::vector<std::string>{"m"}))
      << "keys from before the match do not count";
  auto back = with_receipts("a", 1, "");
  back.registration_nonce.reset();
  back.token_hash = "hash-P01-m";
  EXPECT_FALSE(played.enter(back)->gives_receipt_key);
  back.registration_nonce = "fresh";
  EXPECT_TRUE(played.enter(back)->gives_receipt_key);
  EXPECT_TRUE(played.enter(back)->gives_receipt_key);
  back.registration_nonce = "fresher";
  EXPECT_FALSE(played.enter(back)->gives_receipt_key);
}

TEST(Registration, AProgramThatItsRefereeStartsCannotDeclareReceipts) {
  PlayedLeague played(settings(2, 1));
  auto child = with_receipts("a", 1, "5f3c");
  child.profile.endpoint = "stdio:bot";
  auto decision = played.enter(child);
  ASSERT_TRUE(decision);
  EXPECT_FALSE(decision->gives_receipt_key);
  EXPECT_EQ(decision->ignored.size(), 1u);
  EXPECT_FALSE(played.league.roster().agent(decision->agent).profile.receipts);
}

TEST(Registration, ALeagueCanRequireCommitments) {
  auto strict = settings(3, 1);
  strict.requires_commitments = true;
  PlayedLeague played(strict);
  auto refused = played.enter(bot("a", 1));
  EXPECT_EQ(code_of(refused), ErrorCode::kInvalidFieldValue);
  EXPECT_EQ(refused.error().field, "/player_meta/receipts");
  auto child = with_receipts("a", 1, "5f3c");
  child.profile.endpoint = "stdio:bot";
  EXPECT_EQ(code_of(played.enter(child)), ErrorCode::kInvalidFieldValue);
  EXPECT_TRUE(played.enter(with_receipts("a", 1, "5f3c")));
  EXPECT_TRUE(played.enter(umpire("r", 3)));
  auto back = bot("a", 1);
  back.token_hash = "hash-P01-n";
  EXPECT_TRUE(played.enter(back)) << "the declaration stands";
  back.registration_nonce = "5f3c";
  EXPECT_EQ(code_of(played.enter(back)), ErrorCode::kInvalidFieldValue);
}

}  // namespace
}  // namespace league::league_manager
