#include "tools/league/up/enter.h"

#include <gtest/gtest.h>

namespace league::tools {
namespace {

using nlohmann::json;

TEST(Enter, TellsSuccessByTheStatusWhateverTheEnvelope) {
  for (const json& answer : {
           json{{"status", "ACCEPTED"}, {"player_id", "P07"}},
           json{{"status", "REGISTERED"}, {"player_id", "P07"}, {"timestamp", "yesterday"}},
           json{{"status", "ACCEPTED"},
                {"player_id", "P07"},
                {"sender", "league_manager:LM01"},
                {"timestamp", "2026-11-21T08:30:30.313016+00:00Z"},
                {"message_type", "WELCOME"},
                {"league_id", nullptr},
                {"reason", nullptr}},
       }) {
    auto entry = read_entry(answer, "clever");
    ASSERT_TRUE(entry) << answer << entry.error().message;
    EXPECT_EQ(entry->player_id, "P07");
    EXPECT_TRUE(entry->token.empty());
  }
  auto entry = read_entry({{"status", "ACCEPTED"},
                           {"player_id", "P07"},
                           {"auth_token", "tok_p07"},
                           {"league_id", "league_x"}},
                          "clever");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->token.reveal(), "tok_p07");
  EXPECT_EQ(entry->league_id, "league_x");
}

TEST(Enter, TellsFailureByTheStatusInTheManagersWords) {
  auto entry = read_entry({{"protocol", "league.v2"},
                           {"message_type", "LEAGUE_REGISTER_RESPONSE"},
                           {"sender", "league_manager"},
                           {"timestamp", "2025-01-15T10:30:00Z"},
                           {"conversation_id", "c"},
                           {"status", "REJECTED"},
                           {"player_id", nullptr},
                           {"auth_token", "tok_of_nobody"},
                           {"reason", "the league is full"}},
                          "clever");
  ASSERT_FALSE(entry);
  EXPECT_NE(entry.error().message.find("the league is full"), std::string::npos);
}

TEST(Enter, NamesWhatWasReceivedWhereThereIsNoStatus) {
  for (const json& answer :
       {json{{"welcome", "P07"}, {"auth_token", "tok_p07_secretsecret"}},
        json{{"status", "MAYBE"}, {"auth_token", "tok_p07_secretsecret"}}, json{{"status", 7}}}) {
    auto entry = read_entry(answer, "clever");
    ASSERT_FALSE(entry);
    EXPECT_NE(entry.error().message.find("received: "), std::string::npos);
    EXPECT_EQ(entry.error().message.find("secretsecret"), std::string::npos);
  }
}

}  // namespace
}  // namespace league::tools
