#include "common/core/auth_token.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace league::core {
namespace {

TEST(AuthToken, ShowsAtMostEightCharacters) {
  EXPECT_EQ(AuthToken("tok_p01_abcdefghijkl").masked(), "tok_p01_...");
  EXPECT_EQ(AuthToken("0123456789abcdef").masked(), "01234567...");
}

TEST(AuthToken, ShowsAtMostHalfOfAShortSecret) {
  EXPECT_EQ(AuthToken("abcd").masked(), "ab...");
  EXPECT_EQ(AuthToken("a").masked(), "...");
  EXPECT_EQ(AuthToken("").masked(), "...");
}

TEST(AuthToken, MatchesOnlyItself) {
  AuthToken token("secret");
  EXPECT_TRUE(token.matches("secret"));
  for (const char* other : {"secre", "secret ", "Secret", ""})
    EXPECT_FALSE(token.matches(other)) << other;
  EXPECT_TRUE(AuthToken().matches(""));
}

TEST(AuthToken, HashIsSha256InHexadecimal) {
  EXPECT_EQ(AuthToken("abc").hash(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(AuthToken, CannotBeTakenForText) {
  EXPECT_FALSE((std::is_convertible_v<AuthToken, std::string>));
  EXPECT_FALSE((std::is_convertible_v<std::string, AuthToken>));
}

}  // namespace
}  // namespace league::core
