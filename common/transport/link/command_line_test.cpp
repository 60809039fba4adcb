#include "common/transport/link/command_line.h"

#include <gtest/gtest.h>

namespace league::transport::link {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommand, SplitsAsAShellWould) {
  EXPECT_EQ(*split_command("  python3  bot.py --name 'a b' "),
            (Words{"python3", "bot.py", "--name", "a b"}));
  EXPECT_EQ(*split_command(R"(a "b \" c"d '\' e\ f '' "")"),
            (Words{"a", "b \" cd", "\\", "e f", "", ""}));
  EXPECT_EQ(*split_command("a;b $HOME `x` *"), (Words{"a;b", "$HOME", "`x`", "*"}));
}

TEST(SplitCommand, RefusesNothingAndOpenQuotes) {
  for (const char* text : {"", "   ", "a 'b", "a \"b", "''", "'' a"}) {
    auto words = split_command(text);
    ASSERT_FALSE(words) << text;
    EXPECT_EQ(words.error().code, core::ErrorCode::kEndpointNotAllowed);
  }
}

}  // namespace
}  // namespace league::transport::link
