#include "common/envelope/message_schemas.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/envelope/envelope_testing.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {
namespace {

using core::ErrorCode;
using nlohmann::json;
using testing::all_golden;
using testing::golden;
using testing::schemas;

TEST(MessageSchemas, PassEveryGoldenMessage) {
  for (const auto& [name, wire] : all_golden()) {
    auto verdict = schemas().validate(*MessageSchemas::type_of(wire), wire);
    EXPECT_TRUE(verdict) << name << ": " << verdict.error().message;
  }
}

TEST(MessageSchemas, PassUnknownFieldsAndReplyWithoutToken) {
  json wire = golden("game_join_ack");
  wire["mood"] = json{{"happy", true}};
  wire.erase("auth_token");
  wire.erase("league_id");
  wire.erase("round_id");
  EXPECT_TRUE(schemas().validate(MessageType::kGameJoinAck, wire));
}

struct Broken {
  const char* name;  ///< golden file
  const char* pointer;  ///< what is changed
  json value;  ///< discarded: the field is removed
  ErrorCode code;
};

TEST(MessageSchemas, NameCodeAndFieldOfEachFault) {
  const json removed(json::value_t::discarded);
  const std::string long_text(30000, 'a');
  const std::vector<Broken> cases = {
      {"game_join_ack", "/accept", removed, ErrorCode::kMissingRequiredField},
      {"game_join_ack", "/accept", nullptr, ErrorCode::kMissingRequiredField},
      {"game_join_ack", "/accept", "yes", ErrorCode::kInvalidFieldType},
      {"game_join_ack", "/sender", removed, ErrorCode::kMissingRequiredField},
      {"game_join_ack", "/sender", "P01", ErrorCode::kInvalidSender},
      {"game_join_ack", "/sender", "players:P01", ErrorCode::kInvalidSender},
      {"game_join_ack", "/sender", "player:" + std::string(65, 'a'), ErrorCode::kInvalidSender},
      {"game_join_ack", "/sender", "player:" + long_text, ErrorCode::kInvalidSender},
      {"game_join_ack", "/sender", 7, ErrorCode::kInvalidFieldType},
      {"game_join_ack", "/protocol", "league.v3", ErrorCode::kProtocolVersionMismatch},
      {"game_join_ack", "/protocol", "league.v20", ErrorCode::kProtocolVersionMismatch},
      {"game_join_ack", "/protocol", removed, ErrorCode::kMissingRequiredField},
      {"game_join_ack", "/timestamp", "2025-01-15T10:30:00+02:00", ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/timestamp", "2025-02-30T10:30:00Z", ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/timestamp", "2025-01-15 10:30:00Z", ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/timestamp", long_text, ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/arrival_timestamp", "soon", ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/arrival_timestamp", "2025-01-15T24:00:00Z", ErrorCode::kInvalidTimestamp},
      {"game_join_ack", "/conversation_id", std::string(101, 'c'), ErrorCode::kFieldTooLong},
      {"game_join_ack", "/conversation_id", "", ErrorCode::kInvalidFieldValue},
      {"game_join_ack", "/message_type", "GAME_LOBBY", ErrorCode::kUnknownMessageType},
      {"game_join_ack", "/message_type", "GAME_OVER", ErrorCode::kUnexpectedMessage},
      {"game_join_ack", "/auth_token", 12345, ErrorCode::kInvalidFieldType},
      {"choose_parity_response", "/parity_choice", removed, ErrorCode::kMissingRequiredField},
      {"choose_parity_response", "/parity_choice", 0, ErrorCode::kInvalidParityChoice},
      {"choose_parity_response", "/parity_choice", true, ErrorCode::kInvalidParityChoice},
      {"choose_parity_response", "/parity_choice", nullptr, ErrorCode::kInvalidParityChoice},
      {"choose_parity_response", "/parity_choice", std::string(257, 'e'),
       ErrorCode::kInvalidParityChoice},
      {"choose_parity_response", "/choice_nonce", 5, ErrorCode::kCommitmentMismatch},
      {"choose_parity_response", "/choice_nonce", long_text, ErrorCode::kCommitmentMismatch},
      {"game_join_ack", "/choice_commitment", std::string(63, 'a'), ErrorCode::kInvalidFieldValue},
      {"game_join_ack", "/choice_commitment", std::string(65, 'a'), ErrorCode::kInvalidFieldValue},
      {"game_join_ack", "/choice_commitment", std::string(64, 'A'), ErrorCode::kInvalidFieldValue},
      {"game_join_ack", "/choice_commitment", "", ErrorCode::kInvalidFieldValue},
      {"choose_parity_response", "/match_id", removed, ErrorCode::kMissingRequiredField},
      {"choose_parity_call", "/deadline", "2025-13-01T00:00:00Z", ErrorCode::kInvalidTimestamp},
      {"game_invitation", "/round_id", 0, ErrorCode::kInvalidFieldValue},
      {"game_invitation", "/round_id", "R1", ErrorCode::kInvalidFieldType},
      {"game_invitation", "/role_in_match", "PLAYER_C", ErrorCode::kInvalidFieldValue},
      {"game_over", "/draw_version", 0, ErrorCode::kInvalidFieldValue},
      {"game_over", "/choice_commitments", json::array(), ErrorCode::kInvalidFieldType},
      {"game_over", "/game_result/status", "VICTORY", ErrorCode::kInvalidFieldValue},
      {"match_result_report", "/result/winner", removed, ErrorCode::kMissingRequiredField},
      {"match_result_report", "/result/score/P01", 101, ErrorCode::kInvalidFieldValue},
      {"match_result_report", "/result/details/choices/P01", 1, ErrorCode::kInvalidFieldType},
      {"match_result_report", "/result/details/choice_nonces/P01", 1, ErrorCode::kInvalidFieldType},
      {"match_result_report", "/result/details/failures/0/call", removed,
       ErrorCode::kMissingRequiredField},
      {"league_register_request", "/player_meta", removed, ErrorCode::kMissingRequiredField},
      {"league_register_request", "/player_meta/version", "one", ErrorCode::kInvalidFieldValue},
      {"league_register_request", "/player_meta/display_name", std::string(51, 'n'),
       ErrorCode::kFieldTooLong},
      {"league_register_request", "/player_meta/display_name", "", ErrorCode::kInvalidFieldValue},
      {"league_register_request", "/player_meta/game_types", json::array(),
       ErrorCode::kInvalidFieldValue},
      {"league_register_request", "/player_meta/contact_endpoint", "ftp://x",
       ErrorCode::kInvalidFieldValue},
      {"league_register_request", "/player_meta/contact_endpoint", long_text,
       ErrorCode::kFieldTooLong},
      {"referee_register_request", "/referee_meta/max_concurrent_matches", 0,
       ErrorCode::kInvalidFieldValue},
      {"league_query", "/query_type", "GET_WEATHER", ErrorCode::kUnknownQuery},
      {"round_announcement", "/matches/0/player_B_id", removed, ErrorCode::kMissingRequiredField},
  };
  for (const auto& c : cases) {
    json wire = golden(c.name);
    MessageType type = *MessageSchemas::type_of(wire);
    json::json_pointer at(c.pointer);
    if (c.value.is_discarded()) {
      wire[at.parent_pointer()].erase(at.back());
    } else {
      wire[at] = c.value;
    }
    auto verdict = schemas().validate(type, wire);
    ASSERT_FALSE(verdict) << c.name << c.pointer;
    EXPECT_EQ(verdict.error().code, c.code) << c.pointer << ": " << verdict.error().message;
    EXPECT_EQ(verdict.error().field, c.pointer) << verdict.error().message;
    EXPECT_NE(verdict.error().message.find(wire_name(type)), std::string::npos);
    EXPECT_LT(verdict.error().message.size(), 400U);
  }
}

TEST(MessageSchemas, AnotherVersionIsNamedBeforeEverythingElse) {
  json wire = {{"protocol", "league.v1"}, {"message_type", "GAME_JOIN_ACK"}};
  auto verdict = schemas().validate(MessageType::kGameJoinAck, wire);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kProtocolVersionMismatch);
}

TEST(MessageSchemas, MinorVersionsAndEveryTimestampFormPass) {
  json wire = golden("game_join_ack");
  wire["protocol"] = "league.v2.1";
  for (const char* text :
       {"2025-01-15T10:30:00Z", "20250115T10:30:00Z", "20250115T103000Z",
        "2025-01-15T10:30:00+00:00", "20250115T103000.123456789+00:00", "2025-01-15T10:30:00.1Z"}) {
    wire["timestamp"] = text;
    auto verdict = schemas().validate(MessageType::kGameJoinAck, wire);
    EXPECT_TRUE(verdict) << text << ": " << verdict.error().message;
  }
}

TEST(MessageSchemas, TextsSayWhatIsRightAndShowNoToken) {
  json wire = golden("game_invitation");
  wire["role_in_match"] = "player_a";
  auto verdict = schemas().validate(MessageType::kGameInvitation, wire);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message,
            "GAME_INVITATION: role_in_match is \"player_a\" but must be one of \"PLAYER_A\", "
            "\"PLAYER_B\"; for example \"PLAYER_A\"");

  wire = golden("choose_parity_response");
  std::string secret = "tok_p01_" + std::string(600, 'x');
  wire["auth_token"] = secret;
  verdict = schemas().validate(MessageType::kChooseParityResponse, wire);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kFieldTooLong);
  EXPECT_EQ(verdict.error().message.find("tok_p01"), std::string::npos) << verdict.error().message;
}

TEST(MessageSchemas, ANonceThatIsRefusedIsNotShown) {
  json wire = golden("choose_parity_response");
  const std::string nonce = wire["choice_nonce"];
  wire["choice_nonce"] = nonce + std::string(300, 'f');
  auto verdict = schemas().validate(MessageType::kChooseParityResponse, wire);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message.find(nonce.substr(0, 8)), std::string::npos)
      << verdict.error().message;
}

TEST(MessageSchemas, TheWordsOfAGameAreForTheGameToCheck) {
  json wire = golden("choose_parity_response");
  for (const char* word : {"heads", "Even", ""}) {
    wire["parity_choice"] = word;
    EXPECT_TRUE(schemas().validate(MessageType::kChooseParityResponse, wire)) << word;
  }
  json over = golden("game_over");
  over["game_result"]["drawn_number"] = nullptr;
  over["game_result"]["number_parity"] = nullptr;
  EXPECT_TRUE(schemas().validate(MessageType::kGameOver, over));
}

TEST(MessageSchemas, RefuseWhatIsNoObject) {
  for (const json& wire : {json(nullptr), json("text"), json::array()}) {
    EXPECT_EQ(schemas().validate(MessageType::kGameOver, wire).error().code,
              ErrorCode::kMalformedMessage);
    EXPECT_EQ(MessageSchemas::type_of(wire).error().code, ErrorCode::kMalformedMessage);
  }
  EXPECT_EQ(MessageSchemas::type_of(json::object()).error().code, ErrorCode::kMissingRequiredField);
  EXPECT_EQ(MessageSchemas::type_of({{"message_type", 5}}).error().code,
            ErrorCode::kInvalidFieldType);
  EXPECT_EQ(MessageSchemas::type_of({{"message_type", "game_over"}}).error().code,
            ErrorCode::kUnknownMessageType);
}

TEST(MessageSchemas, ADirectoryOverridesTheBuiltInOnes) {
  auto source = std::filesystem::path(LEAGUE_SOURCE_DIR) / "schemas";
  EXPECT_TRUE(MessageSchemas::load(source));
  auto copy =
      std::filesystem::temp_directory_path() / ("league_schemas_" + std::to_string(::getpid()));
  std::filesystem::copy(source, copy);
  std::ofstream(copy / "game_over.schema.json")
      << R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})";
  auto wrong_draft = MessageSchemas::load(copy);
  std::filesystem::remove(copy / "game_over.schema.json");
  auto incomplete = MessageSchemas::load(copy);
  std::filesystem::remove_all(copy);
  ASSERT_FALSE(wrong_draft);
  EXPECT_NE(wrong_draft.error().message.find("draft-07"), std::string::npos);
  ASSERT_FALSE(incomplete);
  EXPECT_NE(incomplete.error().message.find("game_over.schema.json"), std::string::npos);
}

TEST(MessageSchemas, ServeManyThreads) {
  const json good = golden("game_invitation");
  json bad = good;
  bad["sender"] = "nobody";
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        if (!schemas().validate(MessageType::kGameInvitation, good)) ++wrong;
        if (schemas().validate(MessageType::kGameInvitation, bad)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace league::envelope
