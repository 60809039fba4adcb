#include "common/audit/record/masking.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "common/audit/record/masking_testing.h"

namespace league::audit::record {
namespace {

using nlohmann::json;

TEST(Masking, ShowsTheFirstEightCharactersOfAToken) {
  EXPECT_EQ(mask_secrets(R"({"auth_token":"abcdefghijklmnopqrstuvwxyz","round_id":1})"),
            R"({"auth_token":"abcdefgh...","round_id":1})");
  EXPECT_EQ(mask_secrets(R"({"auth_token" : "abcd"})"), R"({"auth_token" : "ab..."})");
}

TEST(Masking, LeavesEverythingElseAsItWas) {
  for (std::string text :
       {R"({"auth_token":null,"sender":"player:P01","timestamp":"2025-01-15T10:30:00Z"})",
        R"({"auth_token":"","player_A_token_hash":"0123456789abcdef0123456789abcdef"})",
        R"({"error_name":"AUTH_TOKEN_INVALID","error_description":"the token is not yours"})",
        R"({"draw_proof":"00112233445566778899aabbccddeeff"})", "", "\"", ":", "\\",
        "{\"a\":\"\\\\\"}"}) {
    EXPECT_EQ(mask_secrets(text), text);
  }
}

TEST(Masking, KnowsSecretKeys) {
  for (std::string key :
       {"auth_token", "AuthToken", "auth-token", "player_A_credential", "credential",
        "operator_key", "draw_seed", "registration_nonce", "Authorization", "refresh_tokens"}) {
    EXPECT_TRUE(is_secret_key(key)) << key;
  }
  for (std::string key :
       {"player_A_token_hash", "sender", "draw_proof", "draw_commitment", "conversation_id", ""}) {
    EXPECT_FALSE(is_secret_key(key)) << key;
  }
}

/// Every way to write `key` and `secret` down that a message has been seen in, or could be.
std::vector<std::string> forms(const std::string& key, const std::string& secret) {
  std::string plain = json{{key, secret}}.dump();
  std::string nested = json{{"text", plain}}.dump();
  std::string doubly = json{{"content", {{{"text", nested}}}}}.dump();
  std::string triply = json(doubly).dump();
  std::string unicode;
  for (char c : plain) unicode += c == '"' ? "\\u0022" : std::string(1, c);
  std::string wide;
  for (char c : plain) wide += std::string(1, c) + '\0';
  std::string pretty = json{{"text", json{{key, secret}}.dump(2)}}.dump();
  char first[8];
  std::snprintf(first, sizeof(first), "\\u%04x", static_cast<unsigned>(key[0]));
  return {
      plain,
      nested,
      doubly,
      triply,
      pretty,
      wide,
      R"({"text":")" + unicode + R"("})",
      json{{key, {secret, secret}}}.dump(),
      json{{key, {{"value", secret}, {"more", {secret}}}}}.dump(),
      "{\"" + key + "\" \n\t:  \"" + secret + "\"}",
      "{\"" + std::string(first) + key.substr(1) + "\":\"" + secret + "\"}",
      json{{"text", "{\"" + std::string(first) + key.substr(1) + "\":\"" + secret + "\"}"}}.dump(),
      "{'" + key + "': '" + secret + "'}",
      key + "=" + secret + "&x=1",
      key + ": " + secret + "\r\n",
      "{\"" + key + "\":\"" + secret,
      "{\"" + key + "\":[\"" + secret};
}

TEST(Masking, NoFormOfAFieldKeepsItsSecret) {
  const std::string secret = "S3CR3T-0123456789-abcdefghijklmnop";
  for (std::string key :
       {"auth_token", "player_B_credential", "operator_key", "draw_seed", "registration_nonce"}) {
    for (const std::string& form : forms(key, secret)) {
      std::string masked = mask_secrets(form);
      EXPECT_EQ(masked.find("0123456789"), masked.npos) << form << " -> " << masked;
      EXPECT_EQ(masked.find("abcdefghijklmnop"), masked.npos) << form << " -> " << masked;
    }
  }
}

TEST(Masking, MasksWhatFollowsTheAuthorizationScheme) {
  EXPECT_EQ(mask_secrets("Authorization: Bearer abcdefghijklmnopqrstuvwxyz\r\n"),
            "Authorization: Bearer abcdefgh...\r\n");
}

TEST(Masking, ASecretWithQuotesAndBackslashesInItIsMaskedToItsEnd) {
  for (std::string secret :
       {"abcdefghijkl\"CANARY\"xyz", "abcdefghijkl\\CANARY\\", "abcdefghijkl\n\tCANARY\\\""}) {
    std::string plain = json{{"auth_token", secret}, {"z", 1}}.dump();
    for (std::string text :
         {plain, json{{"t", plain}}.dump(), json{{"t", json{{"t", plain}}.dump()}}.dump()}) {
      std::string masked = mask_secrets(text);
      EXPECT_EQ(masked.find("CANARY"), masked.npos) << masked;
      EXPECT_TRUE(json::accept(masked)) << masked;
    }
  }
}

TEST(Masking, ATokenOfOursNeverSurvivesWhereverItIsPlanted) {
  EXPECT_TRUE(rc::check([] {
    const std::string tail = *rc::gen::container<std::string>(
        52, rc::gen::elementOf(std::string("abcdefghijklmnopqrstuvwxyz234567")));
    const std::string token =
        *rc::gen::element<std::string>("tok_p01_", "tok_ref12_", "TOK_P01_") + tail;
    auto garbage =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("{}[]:,\"'\\/ _=tokn\n\0\xff"
                                                                       "u0a",
                                                                       22)));
    std::string body = *garbage + token + *garbage;
    std::string masked = mask_secrets(body);
    RC_ASSERT(masked.find(tail) == masked.npos);
    RC_ASSERT(masked.find(tail.substr(20)) == masked.npos);
  }));
}

TEST(Masking, AFieldNeverSurvivesInARandomPlaceOfARandomDocument) {
  EXPECT_TRUE(rc::check([] {
    const std::string secret =
        "firstpart" +
        *rc::gen::nonEmpty(rc::gen::container<std::string>(
            rc::gen::elementOf(std::string("abc0123456789\"\\\n'{}[]:, ")))) +
        "CANARY";
    json inner = {
        {*rc::gen::element<std::string>("auth_token", "AUTH_TOKEN", "player_A_credential"), secret},
        {"timestamp", "2025-01-15T10:30:00Z"}};
    int depth = *rc::gen::inRange(0, 4);
    for (int i = 0; i < depth; ++i) {
      if (*rc::gen::arbitrary<bool>()) {
        inner = json{{"aaa", 1}, {"text", inner.dump(*rc::gen::element(-1, 2))}, {"zzz", "x\\\"y"}};
      } else {
        inner = json{{"before", "\\"}, {"params", inner}, {"zzz", {1, 2, nullptr}}};
      }
    }
    std::string text = inner.dump();
    std::string masked = mask_secrets(text);
    RC_ASSERT(masked.find("CANARY") == masked.npos);
    RC_ASSERT(json::accept(masked));
  }));
}

/// A text of pieces that mean something to the finder, and of noise.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"auth_token",
                                                   "tok_",
                                                   "TOK_p01_",
                                                   "k_",
                                                   "_",
                                                   "-",
                                                   "\"",
                                                   "'",
                                                   "\\\"",
                                                   "\\\\\"",
                                                   "\\u0022",
                                                   "\\u005c",
                                                   "\\n",
                                                   ":",
                                                   ": ",
                                                   "=",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   ",",
                                                   "&",
                                                   " ",
                                                   "Bearer ",
                                                   "Basic ",
                                                   "abcdefghijklmnop",
                                                   "0123456789",
                                                   "token",
                                                   "to_ken",
                                                   "To-Ken",
                                                   "token_hash",
                                                   "draw_seed",
                                                   "conversation_id",
                                                   "secret",
                                                   "cookie",
                                                   "operatorkey",
                                                   "registration_nonce",
                                                   "admission_key",
                                                   "registration_code",
                                                   "contact_email",
                                                   "private_key",
                                                   "2025-01-15T10:30:00Z",
                                                   "player:P01",
                                                   "null",
                                                   "\r\n",
                                                   "\t",
                                                   "\xC3\xA4",
                                                   "\xff",
                                                   "x",
                                                   "\\",
                                                   std::string(100, 'k'),
                                                   std::string(1, '\0')};
  std::string text;
  std::size_t count = random() % 40;
  for (std::size_t i = 0; i < count; ++i) {
    if (random() % 8 == 0) {
      text += static_cast<char>(random() % 256);
    } else {
      text += kPieces[random() % kPieces.size()];
    }
  }
  return text;
}

TEST(Masking, IsTheSameAsBeforeItWasMadeFast) {
  std::mt19937 random(20250115);
  for (int i = 0; i < 60000; ++i) {
    std::string text = random_text(random);
    ASSERT_EQ(mask_secrets(text), reference::mask_secrets(text)) << i;
    ASSERT_EQ(is_secret_key(text), reference::is_secret_key(text)) << i;
  }
}

TEST(Masking, TakesLinearTimeOnHostileText) {
  for (std::string unit :
       {"\":", "\\\":", "\"token\":[", "\\\\\\\\\":", "tok_", ":::\"", "'\"\\u005c"}) {
    std::string text;
    while (text.size() < 256 * 1024) text += unit;
    auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(mask_secrets(text).empty());
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2)) << unit;
  }
}

TEST(Masking, NothingIsShownOfCodesAndEmailAddresses) {
  EXPECT_EQ(mask_secrets(R"({"registration_code":"alpha-7f3k","contact_email":"ann@example.org"})"),
            R"({"registration_code":"...","contact_email":"..."})");
  EXPECT_EQ(mask_secrets(R"({"x":"{\"contact_email\":\"ann@example.org\"}"})"),
            R"({"x":"{\"contact_email\":\"...\"}"})");
  EXPECT_EQ(mask_secrets(R"({"admission_key":"ref_abcdefghijklmnopqrstuvwxyz"})"),
            R"({"admission_key":"ref_abcd..."})");
  EXPECT_EQ(mask_secrets("contact_email=ann@example.org auth_token=abcdefghijklmnopqrst"),
            "contact_email=... auth_token=abcdefgh...");
  EXPECT_TRUE(is_secret_key("admission_key"));
  EXPECT_TRUE(is_secret_key("registration_code"));
  EXPECT_FALSE(is_secret_key("contact_email")) << "older logs that hold one are not at fault";
}

TEST(Masking, ASecondTimeChangesOnlyWhatWasNotMasked) {
  for (std::string text :
       {R"({"auth_token":"tok_p01_abcdefghijklmnop","draw_seed":"0123456789abcdef"})",
        R"({"auth_token":"abc","x":"{\"auth_token\":\"abcdefgh\"}"})",
        R"({"registration_code":"alpha-7f3k","contact_email":"ann@example.org"})",
        "Bearer 0123456789abcdef0"}) {
    std::string masked = mask_secrets(text);
    EXPECT_EQ(mask_again(masked), masked);
    EXPECT_EQ(mask_again(text), masked);
  }
}

}  // namespace
}  // namespace league::audit::record
