#include "common/agent/identity/match_credential.h"

#include <gtest/gtest.h>

namespace league::agent::identity {
namespace {

const core::AuthToken kToken("tok_p01_secret");
const core::MatchId kMatch("R1M1");

// python3 -c "import hmac; print(hmac.new(b'tok_p01_secret', b'R1M1#1', 'sha256').hexdigest())"
TEST(MatchCredential, IsTheDocumentedHmac) {
  EXPECT_EQ(match_credential(kToken, kMatch, 1).reveal(),
            "2bff63790b522a1cbe9772fd73332ed4d7eec639288824be402c91a736d0b281");
}

TEST(MatchCredential, DependsOnTokenMatchAndAttempt) {
  auto credential = match_credential(kToken, kMatch, 1).reveal();
  EXPECT_NE(credential, match_credential(core::AuthToken("tok_p02_secret"), kMatch, 1).reveal());
  EXPECT_NE(credential, match_credential(kToken, core::MatchId("R1M2"), 1).reveal());
  EXPECT_NE(credential, match_credential(kToken, kMatch, 2).reveal());
  EXPECT_NE(match_credential(kToken, core::MatchId("R1M1"), 11).reveal(),
            match_credential(kToken, core::MatchId("R1M11"), 1).reveal());
}

TEST(MatchCredential, APlayerFindsTheAttempt) {
  EXPECT_EQ(credential_attempt(kToken, kMatch, match_credential(kToken, kMatch, 3).reveal()), 3);
  EXPECT_EQ(credential_attempt(kToken, kMatch, "tok_ref01_whatever"), std::nullopt);
  EXPECT_EQ(credential_attempt(kToken, core::MatchId("R1M2"),
                               match_credential(kToken, kMatch, 1).reveal()),
            std::nullopt);
}

}  // namespace
}  // namespace league::agent::identity
