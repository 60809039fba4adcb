#include "common/envelope/sender.h"

#include <gtest/gtest.h>

namespace league::envelope {
namespace {

TEST(Sender, ReadsWhatItWrites) {
  for (const char* text : {"league_manager", "referee:REF01", "player:P01", "player:alpha_7"}) {
    auto sender = Sender::parse(text);
    ASSERT_TRUE(sender) << text;
    EXPECT_EQ(sender->str(), text);
  }
  EXPECT_EQ(Sender::parse("referee:REF01")->role, Role::kReferee);
  EXPECT_EQ(Sender::parse("player:P01")->id, "P01");
}

TEST(Sender, RefusesEverythingElse) {
  std::string too_long = "player:" + std::string(65, 'a');
  for (const std::string& text :
       {std::string(), std::string("league_manager:LM01"), std::string("player"),
        std::string("player:"), std::string("players:P01"), std::string("Player:P01"),
        std::string("player:P 01"), std::string("player:P01\n"), std::string("player:p\xC3\xA9"),
        std::string("spectator:S1"), std::string("referee:a:b"), too_long}) {
    auto sender = Sender::parse(text);
    ASSERT_FALSE(sender) << text;
    EXPECT_EQ(sender.error().code, core::ErrorCode::kInvalidSender);
    EXPECT_LT(sender.error().message.size(), 300U);
  }
  EXPECT_TRUE(Sender::parse("player:" + std::string(64, 'a')));
}

}  // namespace
}  // namespace league::envelope
