#include "common/agent/bus/event_signature.h"

#include <gtest/gtest.h>

namespace league::agent::bus {
namespace {

const std::string kUnsigned =
    R"({"jsonrpc":"2.0","method":"round_completed","params":{"round_id":1,"signature":"","x":1}})";
const std::string kSignature =
    "ff90e22345078daf461113ccaf84255f34d0b0eff2844494c2a9cdb1bebb5677"
    "ea7fed854464d285163e4aca10ed2546d0398d9d5899ff39a2968b44e916a602";

core::SigningKey key_of(std::uint8_t first) {
  std::array<std::uint8_t, 32> seed{};
  seed[0] = first;
  return core::SigningKey::from_seed(seed);
}

std::string signature_in(const std::string& payload) {
  constexpr std::string_view kBefore = R"("signature":")";
  return payload.substr(payload.find(kBefore) + kBefore.size(), 128);
}

TEST(EventSignature, IsOfTheBytesWithoutIt) {
  auto key = key_of(1);
  auto payload = sign_event(kUnsigned, key);
  EXPECT_EQ(payload.size(), kUnsigned.size() + 128);
  auto signature = signature_in(payload);
  EXPECT_EQ(signature, kSignature) << "Ed25519 is deterministic, so this is a vector";
  EXPECT_TRUE(check_event_signature(payload, signature, key.public_key()));
  EXPECT_TRUE(core::is_signature_of(key.public_key(), kUnsigned, signature));
}

TEST(EventSignature, AnythingElseIsRefused) {
  auto key = key_of(1);
  auto payload = sign_event(kUnsigned, key);
  auto signature = signature_in(payload);
  EXPECT_FALSE(check_event_signature(payload, signature, key_of(2).public_key()));
  EXPECT_FALSE(check_event_signature(payload, signature, ""));
  EXPECT_EQ(check_event_signature(payload, "", key.public_key()).error().code,
            core::ErrorCode::kAuthTokenMissing);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    auto changed = payload;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(check_event_signature(changed, signature, key.public_key())) << i;
  }
  EXPECT_FALSE(check_event_signature(payload, signature.substr(0, 127), key.public_key()));
}

TEST(EventSignature, CannotBeMovedOrRepeated) {
  auto key = key_of(1);
  auto payload = sign_event(kUnsigned, key);
  auto signature = signature_in(payload);
  auto twice = payload;
  twice.insert(twice.find("\"x\""), "\"y\":\"" + signature + "\",");
  EXPECT_FALSE(check_event_signature(twice, signature, key.public_key()));
  auto before = payload;
  before.insert(before.find("round_completed"), signature);
  EXPECT_FALSE(check_event_signature(before, signature, key.public_key()));
}

TEST(EventSignature, ATokenTakesItsPlace) {
  auto payload = sign_event(kUnsigned, key_of(1));
  auto own = with_token_for_signature(payload, signature_in(payload), "tok_p01_abc");
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, R"({"jsonrpc":"2.0","method":"round_completed","params":{"round_id":1,)"
                  R"("auth_token":"tok_p01_abc","x":1}})");
  EXPECT_FALSE(with_token_for_signature(payload, "abc", "tok"));
}

}  // namespace
}  // namespace league::agent::bus
