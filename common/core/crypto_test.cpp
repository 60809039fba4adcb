#include "common/core/crypto.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace league::core {
namespace {

TEST(Crypto, Sha256KnowsTheStandardsExamples) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Crypto, Sha256HashesOneTextAfterTheOther) {
  Sha256 hash;
  for (std::string text : {"", "abc", "", "another", "abc"}) EXPECT_EQ(hash(text), sha256(text));
  std::string hex = "x";
  append_hex(hash("abc"), hex);
  EXPECT_EQ(hex, "x" + to_hex(sha256("abc")));
}

TEST(Crypto, HmacKnowsTheExamplesOfRfc4231) {
  std::vector<std::uint8_t> key(20, 0x0b);
  EXPECT_EQ(to_hex(hmac_sha256(key, as_bytes("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Crypto, Base32KnowsTheExamplesOfRfc4648) {
  const std::vector<std::pair<std::string, std::string>> examples = {{"", ""},
                                                                     {"f", "my"},
                                                                     {"fo", "mzxq"},
                                                                     {"foo", "mzxw6"},
                                                                     {"foob", "mzxw6yq"},
                                                                     {"fooba", "mzxw6ytb"},
                                                                     {"foobar", "mzxw6ytboi"}};
  for (const auto& [text, encoded] : examples) EXPECT_EQ(to_base32(as_bytes(text)), encoded);
  EXPECT_EQ(to_base32(sha256("token")).size(), 52U);
}

TEST(Crypto, HexadecimalIsReadInEitherCase) {
  EXPECT_EQ(from_hex("00fFAb"), (std::vector<std::uint8_t>{0x00, 0xff, 0xab}));
  EXPECT_EQ(from_hex(""), std::vector<std::uint8_t>());
  for (const char* text : {"0", "0g", "g0", " 0", "0x", "00\n"})
    EXPECT_FALSE(from_hex(text)) << text;
}

TEST(Crypto, HexadecimalGoesBothWays) {
  EXPECT_TRUE(rc::check("from_hex undoes to_hex", [](const std::vector<std::uint8_t>& bytes) {
    RC_ASSERT(from_hex(to_hex(bytes)) == bytes);
  }));
}

TEST(Crypto, ConstantTimeComparisonComparesAll) {
  EXPECT_TRUE(constant_time_equal("abc", "abc"));
  EXPECT_TRUE(constant_time_equal("", ""));
  for (const char* other : {"abd", "xbc", "ab", "abcd", ""})
    EXPECT_FALSE(constant_time_equal("abc", other)) << other;
}

}  // namespace
}  // namespace league::core
