#include "common/core/compression.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(Compression, GivesBackWhatItWasGiven) {
  for (const auto& bytes : {std::string(), std::string("a\0b", 3), std::string(300'000, 'x')}) {
    auto read = decompress(compress(bytes), bytes.size());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, bytes);
  }
  EXPECT_LT(compress(std::string(300'000, 'x')).size(), 3'000U);
}

TEST(Compression, RefusesWhatIsNoneAndWhatIsTooMuch) {
  const auto good = compress(std::string(100'000, 'x') + "y");
  for (const auto& bytes : {std::string(), std::string("plain"), good.substr(0, good.size() - 1),
                            good.substr(1), good + "z"}) {
    auto read = decompress(bytes, 1 << 20);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kMalformedMessage);
  }
  EXPECT_TRUE(decompress(good, 100'001));
  EXPECT_FALSE(decompress(good, 100'000));
  EXPECT_FALSE(decompress(compress(std::string(50'000'000, '\0')), 1'000'000));
}

}  // namespace
}  // namespace league::core
