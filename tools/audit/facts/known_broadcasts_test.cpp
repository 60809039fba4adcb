#include "tools/audit/facts/known_broadcasts.h"

#include <gtest/gtest.h>

namespace league::tools::auditor {
namespace {

std::string body(const std::string& id, const std::string& token,
                 const std::string& rest = R"("standings":[]})") {
  return R"({"jsonrpc":"2.0","id":)" + id +
         R"(,"method":"update_standings","params":{"auth_token":")" + token + "\"," + rest;
}

TEST(VerifyKnown, CopiesDifferInIdAndTokenOnly) {
  EXPECT_TRUE(common_part(body("1", "tok_p01_...")).has_value());
  EXPECT_EQ(common_part(body("1", "tok_p01_...")), common_part(body("23", "tok_p02_...")));
  EXPECT_NE(common_part(body("1", "tok_p01_...")),
            common_part(body("1", "tok_p01_...", R"("standings":[1]})")));
}

TEST(VerifyKnown, WhatIsWrittenOtherwiseIsCheckedInFull) {
  for (const std::string& other :
       {body("1", "tok_p01_abcdefgh"), body("1", "tok_p01_x..."), body("", "tok_p01_..."),
        body("1", "x\",\"y\":\"..."), " " + body("1", "tok_p01_..."), std::string("{}"),
        std::string()})
    EXPECT_EQ(common_part(other), std::nullopt) << other;
}

TEST(VerifyKnown, RemembersWhatIsLeftToCheck) {
  KnownBroadcasts known;
  core::Digest digest = core::sha256("a");
  EXPECT_FALSE(known.find(digest).has_value());
  known.add(digest, {"league_manager", "convround1standings", audit::record::LogHead{7, "h"}});
  auto found = known.find(digest);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->sender, "league_manager");
  EXPECT_EQ(found->head->seq, 7U);
  EXPECT_FALSE(known.find(core::sha256("b")).has_value());
}

}  // namespace
}  // namespace league::tools::auditor
