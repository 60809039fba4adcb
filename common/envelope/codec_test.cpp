#include "common/envelope/codec.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "common/envelope/envelope_testing.h"
#include "common/schema/parse_json.h"

namespace league::envelope {
namespace {

using nlohmann::json;
using testing::all_golden;
using testing::golden;

using Recode = std::function<core::Result<json>(const json&)>;

/// Reads a message into its structs and writes it again.
template <typename Message>
core::Result<json> recode(const json& wire) {
  auto envelope = decode_envelope(wire);
  if (!envelope) return envelope.error();
  auto message = decode<Message>(wire);
  if (!message) return message.error();
  return encode(*envelope, *message);
}

/// That, by way of the text. Strict: no name stands twice in it.
template <typename Message>
core::Result<json> recode_as_text(const json& wire) {
  auto envelope = decode_envelope(wire);
  if (!envelope) return envelope.error();
  envelope->type = MessageType::kLeagueError;  // the message's own counts
  auto message = decode<Message>(wire);
  if (!message) return message.error();
  return schema::parse_json(encode_text(*envelope, *message));
}

const std::map<MessageType, Recode>& recoders() {
  static const std::map<MessageType, Recode> kAll = {
      {MessageType::kRefereeRegisterRequest, recode<RefereeRegisterRequest>},
      {MessageType::kRefereeRegisterResponse, recode<RefereeRegisterResponse>},
      {MessageType::kLeagueRegisterRequest, recode<LeagueRegisterRequest>},
      {MessageType::kLeagueRegisterResponse, recode<LeagueRegisterResponse>},
      {MessageType::kRoundAnnouncement, recode<RoundAnnouncement>},
      {MessageType::kGameInvitation, recode<GameInvitation>},
      {MessageType::kGameJoinAck, recode<GameJoinAck>},
      {MessageType::kChooseParityCall, recode<ChooseParityCall>},
      {MessageType::kChooseParityResponse, recode<ChooseParityResponse>},
      {MessageType::kGameOver, recode<GameOver>},
      {MessageType::kMatchResultReport, recode<MatchResultReport>},
      {MessageType::kLeagueStandingsUpdate, recode<LeagueStandingsUpdate>},
      {MessageType::kRoundCompleted, recode<RoundCompleted>},
      {MessageType::kLeagueCompleted, recode<LeagueCompleted>},
      {MessageType::kLeagueQuery, recode<LeagueQuery>},
      {MessageType::kLeagueQueryResponse, recode<LeagueQueryResponse>},
      {MessageType::kLeagueError, recode<LeagueError>},
      {MessageType::kGameError, recode<GameError>}};
  return kAll;
}

MessageType type_of(const json& wire) { return *MessageSchemas::type_of(wire); }

Envelope match_envelope(const std::string& token) {
  return {.type = MessageType::kGameInvitation,
          .sender = Sender::referee("REF01"),
          .timestamp = *core::UtcTimestamp::parse("2025-01-15T10:30:00Z"),
          .conversation_id = core::ConversationId("convr1m1001"),
          .auth_token = core::AuthToken(token),
          .league_id = core::LeagueId("league_2025_even_odd"),
          .round_id = 1,
          .match_id = core::MatchId("R1M1")};
}

TEST(Codec, GoldenMessagesSurviveReadingAndWriting) {
  for (const auto& [name, wire] : all_golden()) {
    auto again = name == "round_announcement.assignment" ? recode<RoundAssignment>(wire)
                                                         : recoders().at(type_of(wire))(wire);
    ASSERT_TRUE(again) << name << ": " << again.error().message;
    EXPECT_EQ(*again, wire) << name;
  }
}

TEST(Codec, TheTextOfAMessageIsTheSameMessage) {
  const std::map<MessageType, Recode> by_text = {
      {MessageType::kGameInvitation, recode_as_text<GameInvitation>},
      {MessageType::kChooseParityCall, recode_as_text<ChooseParityCall>},
      {MessageType::kGameOver, recode_as_text<GameOver>},
      {MessageType::kGameError, recode_as_text<GameError>}};
  std::set<MessageType> seen;
  for (const auto& [name, wire] : all_golden()) {
    auto recode = by_text.find(type_of(wire));
    if (recode == by_text.end()) continue;
    seen.insert(recode->first);
    auto again = recode->second(wire);
    ASSERT_TRUE(again) << name << ": " << again.error().message;
    EXPECT_EQ(*again, wire) << name;
  }
  EXPECT_EQ(seen.size(), by_text.size());
}

TEST(Codec, TheTextEscapesWhatStandsInIt) {
  GameInvitation invitation{"even \"odd\"\n\xff", PlayerRole::kPlayerA, core::PlayerId("P\xc3\xa4"),
                            std::nullopt};
  auto text = encode_text(match_envelope("a\\b"), invitation);
  auto read = schema::parse_json(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ((*read)["game_type"], "even \"odd\"\n\xef\xbf\xbd");
  EXPECT_EQ((*read)["opponent_id"], "P\xc3\xa4");
  EXPECT_EQ((*read)["auth_token"], "a\\b");
  EXPECT_FALSE(read->contains("player_id"));
}

TEST(Codec, EveryTypeHasAGoldenMessage) {
  std::set<MessageType> seen;
  for (const auto& [name, wire] : all_golden()) seen.insert(type_of(wire));
  EXPECT_EQ(seen.size(), all_messages().size());
}

TEST(Codec, InvitationIsWrittenAsTheGoldenFileSays) {
  GameInvitation invitation{"even_odd", PlayerRole::kPlayerA, core::PlayerId("P02"),
                            core::PlayerId("P01"),
                            "b094cf822d96de6e4ff47090ba96f7e18f0ed74f13c0ebad00c6e83d99e87d19"};
  EXPECT_EQ(encode(match_envelope("credential-a"), invitation), golden("game_invitation"));
}

TEST(Codec, GameOverIsWrittenAsTheGoldenFileSays) {
  GameOver over{.game_type = "even_odd",
                .game_result = {.status = GameStatus::kTechnicalLoss,
                                .winner_player_id = core::PlayerId("P01"),
                                .drawn_number = std::nullopt,
                                .number_parity = std::nullopt,
                                .choices = {{core::PlayerId("P01"), "even"},
                                            {core::PlayerId("P02"), std::nullopt}},
                                .reason = "P02 did not answer"},
                .draw_proof = std::nullopt};
  json wire = encode(match_envelope("credential-a"), over);
  EXPECT_EQ(wire, golden("game_over.technical_loss"));
  auto read = decode<GameOver>(wire);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, over);
}

TEST(Codec, ReportIsReadIntoItsStruct) {
  auto report = decode<MatchResultReport>(golden("match_result_report"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->result.winner, core::PlayerId("P01"));
  EXPECT_EQ(report->result.score.at(core::PlayerId("P02")), 0);
  ASSERT_EQ(report->result.details.failures.size(), 1U);
  CallFailure expected{core::PlayerId("P02"),
                       "CHOOSE_PARITY_CALL",
                       core::ErrorCode::kTimeout,
                       30000,
                       1,
                       ClockProof{30000, "2025-01-15T10:29:30.000125Z",
                                  "2025-01-15T10:30:00.000431Z", 310, 850, std::nullopt, false}};
  EXPECT_EQ(report->result.details.failures.front(), expected);
}

TEST(Codec, WhoHasBoundTheDrawIsTheSameInGameOverAndReport) {
  const core::PlayerId first("P01");
  const core::PlayerId second("P02");
  auto over = decode<GameOver>(golden("game_over"));
  auto report = decode<MatchResultReport>(golden("match_result_report"));
  ASSERT_TRUE(over);
  ASSERT_TRUE(report);
  const auto& details = report->result.details;
  EXPECT_EQ(over->draw_version, 2);
  EXPECT_EQ(details.draw_version, 2);
  EXPECT_EQ(over->choice_commitments.size(), 2U);
  EXPECT_EQ(details.choice_commitments, over->choice_commitments);
  EXPECT_EQ(over->choice_nonces.size(), 2U);
  EXPECT_EQ(details.choice_nonces, (HexByPlayer{{first, over->choice_nonces.at(first)}}))
      << "the other did not open";
  auto ack = decode<GameJoinAck>(golden("game_join_ack"));
  EXPECT_EQ(ack->choice_commitment, over->choice_commitments.at(first));
  auto call = decode<ChooseParityCall>(golden("choose_parity_call"));
  EXPECT_EQ(call->context->opponent_commitment, over->choice_commitments.at(second));
  auto response = decode<ChooseParityResponse>(golden("choose_parity_response"));
  EXPECT_EQ(response->choice_nonce, over->choice_nonces.at(first));
}

TEST(Codec, NothingIsWrittenOfADrawThatNobodyHasBound) {
  auto over = decode<GameOver>(golden("game_over"));
  ASSERT_TRUE(over);
  over->choice_commitments.clear();
  over->choice_nonces.clear();
  over->draw_version.reset();
  const json wire = encode(match_envelope("t"), *over);
  for (const char* field : {"draw_version", "choice_commitments", "choice_nonces"})
    EXPECT_FALSE(wire.contains(field)) << field;
}

TEST(Codec, AChoiceIsAnyWordOnTheWire) {
  json wire = golden("choose_parity_response");
  wire["parity_choice"] = "heads";
  wire["choice_nonce"] = nullptr;
  auto response = decode<ChooseParityResponse>(wire);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->parity_choice, "heads");
  EXPECT_EQ(response->choice_nonce, std::nullopt);
}

TEST(Codec, PublicAnnouncementHoldsNoSecretOfAnAssignment) {
  auto announcement = decode<RoundAnnouncement>(golden("round_announcement.assignment"));
  ASSERT_TRUE(announcement);
  std::string text = encode(match_envelope("t"), *announcement).dump();
  for (const char* secret : {"credential-a", "draw_seed", "token_hash"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
}

TEST(Codec, AssignmentsInAnAcknowledgementReadLikeThoseOfAnAnnouncement) {
  const json matches = golden("round_announcement.assignment")["matches"];
  auto read = decode_assignments(matches);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode_assignments(*read), matches);
  EXPECT_FALSE(decode_assignments(json("no array")));
}

TEST(Codec, FlatRetryFiguresOfOtherPeersAreRead) {
  json wire = golden("game_error");
  wire.erase("retry_info");
  auto error = decode<GameError>(wire);
  ASSERT_TRUE(error);
  ASSERT_TRUE(error->retry_info);
  EXPECT_EQ(error->retry_info->max_retries, 3);
}

TEST(Codec, AcceptedRegistrationNeedsAnId) {
  json wire = golden("league_register_response");
  wire["player_id"] = nullptr;
  auto response = decode<LeagueRegisterResponse>(wire);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().field, "/player_id");
}

TEST(Codec, WrongTypesGiveErrorsThatNameTheField) {
  json wire = golden("match_result_report");
  wire["result"]["details"]["failures"][0]["elapsed_ms"] = "long";
  auto report = decode<MatchResultReport>(wire);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, core::ErrorCode::kInvalidFieldType);
  EXPECT_EQ(report.error().field, "/result/details/failures/0/elapsed_ms");
}

TEST(Codec, NumbersBeyondIntAreRefused) {
  json wire = golden("game_invitation");
  wire["round_id"] = 1e300;
  EXPECT_FALSE(decode_envelope(wire));
  wire["round_id"] = 1;
  json report = golden("round_completed");
  report["matches_completed"] = 5000000000LL;
  EXPECT_FALSE(decode<RoundCompleted>(report));
}

}  // namespace
}  // namespace league::envelope
