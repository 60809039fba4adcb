#include "common/core/signing_key.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace league::core {
namespace {

std::array<std::uint8_t, 32> seed_of(std::string_view hex) {
  std::array<std::uint8_t, 32> seed{};
  auto bytes = *from_hex(hex);
  std::copy(bytes.begin(), bytes.end(), seed.begin());
  return seed;
}

TEST(SigningKey, KnowsTheExamplesOfRfc8032) {
  auto first = SigningKey::from_seed(
      seed_of("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  EXPECT_EQ(first.public_key(), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(
      to_hex(first.sign("")),
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
      "f9b46bd25bf5f0595bbe24655141438e7a100b");
  auto second = SigningKey::from_seed(
      seed_of("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
  EXPECT_EQ(
      to_hex(second.sign("\x72")),
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0"
      "f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

TEST(SigningKey, RefusesEveryChange) {
  CryptoRandom random;
  auto key = SigningKey::generate(random);
  std::string signature = to_hex(key.sign("text"));
  EXPECT_TRUE(is_signature_of(key.public_key(), "text", signature));
  EXPECT_FALSE(is_signature_of(key.public_key(), "texT", signature));
  EXPECT_FALSE(is_signature_of(SigningKey::generate(random).public_key(), "text", signature));
  for (std::size_t i = 0; i < signature.size(); i += 5) {
    std::string damaged = signature;
    damaged[i] = damaged[i] == '0' ? '1' : '0';
    EXPECT_FALSE(is_signature_of(key.public_key(), "text", damaged));
  }
  EXPECT_FALSE(is_signature_of("", "text", signature));
  EXPECT_FALSE(is_signature_of("zz", "text", signature));
  EXPECT_FALSE(is_signature_of(key.public_key(), "text", signature.substr(2)));
}

TEST(SigningKey, IsKeptInAFileOfItsOwner) {
  league::testing::TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  CryptoRandom random;
  auto file = directory / "log.key";
  auto made = SigningKey::open(file, random);
  ASSERT_TRUE(made) << made.error().message;
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(SigningKey::open(file, random)->public_key(), made->public_key());
  std::ofstream(file) << "not a key\n";
  auto broken = SigningKey::open(file, random);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("64 hexadecimal digits"), std::string::npos);
}

}  // namespace
}  // namespace league::core
