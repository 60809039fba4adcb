#include "common/agent/identity/own_credentials.h"

#include <gtest/gtest.h>

#include "common/agent/identity/match_credential.h"

namespace league::agent::identity {
namespace {

using transport::link::RequestSender;
using transport::link::Standing;

const core::AuthToken kOwnToken("tok_p01_secret");

TEST(OwnCredentials, KnowTheManagerByTheTokenAndRefereesByAMatchCredential) {
  OwnCredentials known;
  EXPECT_FALSE(known.recognise("auth_token", "tok_p01_secret", "")) << "not registered yet";
  known.set_token(kOwnToken);
  EXPECT_EQ(known.recognise("auth_token", "tok_p01_secret", ""),
            (RequestSender{Standing::kStaff, "league_manager"}));
  const std::string credential = match_credential(kOwnToken, core::MatchId("R1M1"), 2).reveal();
  EXPECT_EQ(known.recognise("auth_token", credential, R"({"match_id":"R1M1"})"),
            (RequestSender{Standing::kStaff, "referees"}));
}

TEST(OwnCredentials, KnowNobodyElse) {
  OwnCredentials known;
  known.set_token(kOwnToken);
  const std::string credential = match_credential(kOwnToken, core::MatchId("R1M1"), 1).reveal();
  EXPECT_FALSE(known.recognise("auth_token", "", ""));
  EXPECT_FALSE(known.recognise("auth_token", "tok_p02_secret", R"({"match_id":"R1M1"})"));
  EXPECT_FALSE(known.recognise("auth_token", credential, R"({"match_id":"R1M2"})"));
  EXPECT_FALSE(known.recognise("auth_token", credential, "{}"));
  EXPECT_FALSE(known.recognise("operator_key", "tok_p01_secret", ""));
}

}  // namespace
}  // namespace league::agent::identity
