#include "common/core/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace league::core {
namespace {

TEST(Base64, IsThatOfTheRfc) {
  for (auto [bytes, expected] : {std::pair{"", ""},
                                 {"f", "Zg=="},
                                 {"fo", "Zm8="},
                                 {"foo", "Zm9v"},
                                 {"foobar", "Zm9vYmFy"}}) {
    std::string text;
    append_base64(bytes, text);
    EXPECT_EQ(text, expected);
    EXPECT_EQ(decode_base64(expected), bytes);
  }
}

TEST(Base64, WhatIsNoneIsNotDecoded) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9", "Zm9=", "=", "====", "Zm 9", "Z=g="})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

RC_GTEST_PROP(Base64, DecodesWhatItHasEncoded, (const std::string& bytes)) {
  std::string text;
  append_base64(bytes, text);
  RC_ASSERT(decode_base64(text) == bytes);
}

}  // namespace
}  // namespace league::core
