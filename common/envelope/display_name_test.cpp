#include "common/envelope/display_name.h"

#include <gtest/gtest.h>

#include "common/core/text.h"

namespace league::envelope {
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

TEST(ComparableName, KnowsAllLettersAndForms) {
  EXPECT_EQ(comparable_name("Stra\u00dfe"), comparable_name("STRASSE"));
  EXPECT_EQ(comparable_name("Jos\u00e9"), comparable_name("jose\u0301"));
  EXPECT_EQ(comparable_name("\uff21nn"), comparable_name("Ann")) << "a full-width letter";
  EXPECT_EQ(comparable_name("A\u2060nn"), comparable_name("Ann")) << "a word joiner";
  EXPECT_EQ(comparable_name("\u0531\u0532"), comparable_name("\u0561\u0562")) << "Armenian";
}

TEST(AdmitDisplayName, KeepsWhatPeopleAreCalledInFormC) {
  for (const char* name : {"Ann", "Jos\u00e9", "\u017dlu\u0165", "O'Brien-Smith, 2nd",
                           "\u65e5\u672c", "\u0396\u03b5\u03cd\u03c2", "\u0418\u0432\u0430\u043d 2",
                           "bot 01", "p1", "player_P01", "\U0001F916", "<b>", "1-2", "Z\u0304"}) {
    auto admitted = admit_display_name(name);
    ASSERT_TRUE(admitted) << name << ": " << admitted.error().message;
    EXPECT_EQ(*admitted, name);
  }
  EXPECT_EQ(*admit_display_name("Jose\u0301"), "Jos\u00e9");
  std::string longest;
  for (int i = 0; i < 50; ++i) longest += "\u017d";
  EXPECT_TRUE(admit_display_name(longest));
}

TEST(AdmitDisplayName, RefusesWhatMisleadsOrBreaksLines) {
  using namespace std::string_literals;
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "has 0 characters"},
           {std::string(51, 'n'), "has 51 characters"},
           {"a\0b"s, "U+0000"},
           {"a\nb", "U+000A"},
           {"a\r\nInjected: x", "U+000D"},
           {"a\u009bb", "U+009B"},
           {"a\u200bb", "U+200B"},
           {"\u202eevil", "U+202E"},
           {"a\u2028b", "U+2028"},
           {"J\xFCrgen", "not UTF-8"},
           {"   ", "no visible"},
           {"\u3164", "no visible"},
           {"\u2800\u2800", "no visible"},
           {"\u0391nn", "mixes Latin letters with Greek"},
           {"\u0410nn", "mixes Latin letters with Cyrillic"},
           {"P01", "an id of the league"},
           {" p100", "an id of the league"},
           {"\uff30\uff10\uff11", "an id of the league"},
           {"REF01", "an id of the league"},
           {"League_Manager", "an id of the league"},
           {"operator", "an id of the league"}}) {
    auto admitted = admit_display_name(name);
    ASSERT_FALSE(admitted) << name;
    EXPECT_EQ(admitted.error().code, core::ErrorCode::kInvalidFieldValue);
    EXPECT_NE(admitted.error().message.find(why), std::string::npos) << admitted.error().message;
    EXPECT_EQ(admitted.error().message, core::safe_text(admitted.error().message));
  }
}

}  // namespace
}  // namespace league::envelope
