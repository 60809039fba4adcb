#include "common/core/comparable_name.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(ComparableName, IgnoresCaseAndWhiteSpaceAtTheEnds) {
  EXPECT_EQ(comparable_name("  Alpha\t"), comparable_name("aLPHA"));
  EXPECT_EQ(comparable_name("\u00c4rger"), comparable_name("\u00e4RGER"));
  EXPECT_EQ(comparable_name("\u0150r\u0141\u017d"), comparable_name("\u0151R\u0142\u017e"));
  EXPECT_EQ(comparable_name("\u03a9\u0391"), comparable_name("\u03c9\u03b1"));
  EXPECT_EQ(comparable_name("\u0416\u0401"), comparable_name("\u0436\u0451"));
}

TEST(ComparableName, TellsApartWhatIsNotTheSame) {
  EXPECT_NE(comparable_name("alpha"), comparable_name("alpha1"));
  EXPECT_NE(comparable_name("al pha"), comparable_name("alpha"));
  EXPECT_NE(comparable_name("\u00d7"), comparable_name("\u00f7")) << "two signs, not letters";
  EXPECT_NE(comparable_name("\u4e00"), comparable_name("\u4e01"));
}

TEST(ComparableName, LeavesBrokenTextAsItIs) {
  for (std::string text : {"\xc3", "\xc3\x28", "\xff\xfe", "\xe4\xb8", ""})
    EXPECT_EQ(comparable_name(text), text);
  EXPECT_EQ(comparable_name(" \t "), "");
}

}  // namespace
}  // namespace league::core
