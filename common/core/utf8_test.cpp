#include "common/core/utf8.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(Utf8, ReadsCharactersAndStepsOverWhatIsNone) {
  EXPECT_EQ(code_point_at("aé", 1).value, U'é');
  EXPECT_EQ(code_point_at("\U0001F916", 0).bytes, 4U);
  for (std::string_view broken : {"\xff", "\xc3", "\xc3\x28", "\xc0\x80", "\xed\xa0\x80"}) {
    EXPECT_FALSE(code_point_at(broken, 0).is_valid) << broken;
    EXPECT_EQ(code_point_at(broken, 0).bytes, 1U);
    EXPECT_FALSE(is_utf8(broken));
  }
  EXPECT_TRUE(is_utf8("日本 ok"));
}

TEST(Utf8, TellsPrintableVisibleAndWideCharacters) {
  for (char32_t c : {U'a', U' ', U'ž', U'日', U'\u0301', U'\u3000'}) EXPECT_TRUE(is_printable(c));
  for (char32_t c : {U'\0', U'\n', U'\x7f', U'\u009b', U'\u00ad', U'\u200b', U'\u202e', U'\u2028',
                     U'\ufeff', U'\U000E0041'})
    EXPECT_FALSE(is_printable(c)) << static_cast<unsigned>(c);
  EXPECT_TRUE(is_visible(U'-'));
  EXPECT_FALSE(is_visible(U' '));
  EXPECT_FALSE(is_visible(U'\u2800'));
  EXPECT_EQ(terminal_columns(U'é'), 1U);
  EXPECT_EQ(terminal_columns(U'日'), 2U);
  EXPECT_EQ(terminal_columns(U'\u0301'), 0U);
}

}  // namespace
}  // namespace league::core
