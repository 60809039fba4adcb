#include "common/envelope/leniency.h"

#include <gtest/gtest.h>

#include <set>

#include "common/envelope/envelope_testing.h"

namespace league::envelope {
namespace {

using nlohmann::json;
using testing::all_golden;
using testing::golden;
using testing::schemas;

NormaliseDefaults reply_defaults() {
  return {.now = *core::UtcTimestamp::parse("2025-01-15T10:30:01Z"),
          .sender = "player:P01",
          .conversation_id = core::ConversationId("convr1m1001"),
          .player_id = core::PlayerId("P01"),
          .match_id = core::MatchId("R1M1")};
}

struct Deviation {
  const char* golden_name;
  json patch;  ///< RFC 7396: null removes
  Leniency leniency;
};

std::vector<Deviation> deviations() {
  using enum Leniency;
  auto nothing = json(nullptr);
  return {
      {"choose_parity_response", {{"parity_choice", nothing}, {"choice", "even"}}, kChoiceField},
      {"choose_parity_response", {{"sender", nothing}}, kMissingSender},
      {"choose_parity_response", {{"timestamp", nothing}}, kMissingTimestamp},
      {"choose_parity_response", {{"conversation_id", nothing}}, kMissingConversationId},
      {"choose_parity_response", {{"player_id", nothing}}, kMissingPlayerId},
      {"choose_parity_response", {{"match_id", nothing}}, kMissingMatchId},
      {"choose_parity_response", {{"protocol", nothing}}, kMissingProtocol},
      {"choose_parity_response", {{"message_type", nothing}}, kMissingMessageType},
      {"choose_parity_response", {{"sender", "players:P01"}}, kSenderPluralRole},
      {"choose_parity_response", {{"round_id", "R1"}}, kRoundIdText},
      {"choose_parity_response", {{"round_id", "ROUND_1"}}, kRoundIdText},
      {"choose_parity_response", {{"league_id", ""}}, kEmptyOptionalField},
      {"game_join_ack", {{"accept", nothing}, {"accepted", true}}, kAcceptedField},
      {"game_join_ack", {{"accept", nothing}, {"status", "ACCEPTED"}}, kStatusForAccept},
      {"game_join_ack", {{"accept", nothing}, {"status", "ACK"}}, kStatusAck},
      {"game_join_ack", {{"accept", nothing}, {"status", "OK"}}, kStatusAck},
      {"game_join_ack", {{"arrival_timestamp", nothing}}, kMissingArrivalTimestamp},
      {"league_register_response", {{"status", "REGISTERED"}}, kStatusRegistered},
      {"league_register_response", {{"sender", "league_manager:LM01"}}, kSenderManagerWithId},
      {"league_register_request", {{"sender", nothing}}, kMissingSender},
      {"league_register_request", {{"timestamp", nothing}}, kMissingTimestamp},
      {"league_register_request", {{"conversation_id", nothing}}, kMissingConversationId},
      {"league_register_request", {{"protocol", nothing}}, kMissingProtocol},
      {"league_register_request", {{"message_type", nothing}}, kMissingMessageType},
      {"league_register_request", {{"player_meta", {{"version", nothing}}}}, kMissingVersion},
      {"league_register_request",
       {{"player_meta", {{"protocol_version", "league.v2"}}}},
       kProtocolVersionText},
      {"referee_register_request", {{"referee_meta", {{"version", nothing}}}}, kMissingVersion},
      {"referee_register_request", {{"sender", "referee:UNREGISTERED"}}, kSenderUnregistered},
      {"match_result_report", {{"result", {{"details", nothing}}}}, kReportForm},
  };
}

core::Result<void> admit(json& wire, MessageType type, Mode mode, Leniencies& taken) {
  auto normal = normalise(wire, type, mode, reply_defaults(), taken);
  if (!normal) return normal;
  auto valid = schemas().validate(type, wire);
  return valid ? core::Result<void>() : valid.error();
}

TEST(Normalise, OpenModeTakesEachDeviationAndNamesIt) {
  for (const auto& deviation : deviations()) {
    json wire = golden(deviation.golden_name);
    MessageType type = *MessageSchemas::type_of(wire);
    wire.merge_patch(deviation.patch);
    Leniencies taken;
    auto verdict = admit(wire, type, Mode::kOpen, taken);
    EXPECT_TRUE(verdict) << deviation.patch << ": " << verdict.error().message;
    ASSERT_EQ(taken.names().size(), 1U) << deviation.patch;
    EXPECT_EQ(taken.names().front(), leniency_name(deviation.leniency));
  }
}

TEST(Normalise, StrictModeRefusesEachDeviation) {
  for (const auto& deviation : deviations()) {
    json wire = golden(deviation.golden_name);
    MessageType type = *MessageSchemas::type_of(wire);
    wire.merge_patch(deviation.patch);
    Leniencies taken;
    EXPECT_FALSE(admit(wire, type, Mode::kStrict, taken)) << deviation.patch;
    EXPECT_TRUE(taken.empty());
  }
}

TEST(Normalise, NullOptionalFieldsCountAsAbsentInOpenModeOnly) {
  json wire = golden("choose_parity_response");
  wire["league_id"] = nullptr;
  wire["round_id"] = nullptr;
  json strict = wire;
  Leniencies taken;
  EXPECT_TRUE(admit(wire, MessageType::kChooseParityResponse, Mode::kOpen, taken));
  EXPECT_TRUE(taken.contains(Leniency::kNullOptionalField));
  EXPECT_FALSE(admit(strict, MessageType::kChooseParityResponse, Mode::kStrict, taken));
}

TEST(Normalise, ExactMessagesAreLeftAlone) {
  for (const auto& [name, wire] : all_golden()) {
    for (Mode mode : {Mode::kOpen, Mode::kStrict}) {
      json copy = wire;
      Leniencies taken;
      EXPECT_TRUE(normalise(copy, *MessageSchemas::type_of(wire), mode, reply_defaults(), taken));
      EXPECT_EQ(copy, wire) << name;
      EXPECT_TRUE(taken.empty()) << name;
    }
  }
}

TEST(Normalise, ABareChoiceIsEnoughForAReply) {
  json wire = {{"choice", "odd"}};
  Leniencies taken;
  auto verdict = admit(wire, MessageType::kChooseParityResponse, Mode::kOpen, taken);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(wire["player_id"], "P01");
  EXPECT_EQ(taken.names().size(), 8U);
}

TEST(Normalise, AnAcknowledgementAcceptsTheInvitationThatItAnswers) {
  for (const char* word : {"ACK", "OK"}) {
    json reply = {{"status", word}};
    Leniencies taken;
    ASSERT_TRUE(admit(reply, MessageType::kGameJoinAck, Mode::kOpen, taken)) << word;
    EXPECT_EQ(reply["accept"], true);
    EXPECT_TRUE(taken.contains(Leniency::kBareAcknowledgement));
    // A call of the bot's own could mean any invitation.
    json posted = {{"status", word}};
    auto defaults = reply_defaults();
    defaults.match_id.reset();
    ASSERT_TRUE(normalise(posted, MessageType::kGameJoinAck, Mode::kOpen, defaults, taken));
    EXPECT_FALSE(posted.contains("accept"));
  }
}

TEST(Normalise, RefusalsStayRefusals) {
  json wire = golden("game_join_ack");
  wire.erase("accept");
  wire["accepted"] = false;
  Leniencies taken;
  EXPECT_TRUE(admit(wire, MessageType::kGameJoinAck, Mode::kOpen, taken));
  EXPECT_EQ(wire["accept"], false);
  wire.erase("accept");
  wire.erase("accepted");
  EXPECT_FALSE(admit(wire, MessageType::kGameJoinAck, Mode::kOpen, taken));
}

TEST(Normalise, RequestsAreNotFilled) {
  json wire = golden("game_invitation");
  wire.erase("sender");
  Leniencies taken;
  EXPECT_FALSE(admit(wire, MessageType::kGameInvitation, Mode::kOpen, taken));
}

json report_with(const json& result) {
  json wire = golden("match_result_report");
  wire["result"] = result;
  return wire;
}

TEST(ReportForms, AllSayTheSame) {
  const json expected = {{"winner", "P01"},
                         {"score", {{"P01", 3}, {"P02", 0}}},
                         {"details", {{"drawn_number", 4}, {"choices", {{"P01", "even"}}}}}};
  const json choices = {{"P01", "even"}};
  json flat = golden("match_result_report");
  flat.erase("result");
  flat.update({{"winner_id", "P01"},
               {"score", {{"P01", 3}, {"P02", 0}}},
               {"drawn_number", 4},
               {"choices", choices}});
  for (json wire : {report_with({{"winner_id", "P01"},
                                 {"scores", {{"P01", 3}, {"P02", 0}}},
                                 {"drawn_number", 4},
                                 {"choices", choices}}),
                    report_with({{"players",
                                  {{"P01", {{"result", "WIN"}, {"points", 3}}},
                                   {"P02", {{"result", "LOSS"}, {"points", 0}}}}},
                                 {"details", {{"drawn_number", 4}, {"choices", choices}}}}),
                    flat}) {
    Leniencies taken;
    auto verdict = admit(wire, MessageType::kMatchResultReport, Mode::kOpen, taken);
    ASSERT_TRUE(verdict) << verdict.error().message;
    for (const char* part : {"winner", "score", "details"})
      EXPECT_EQ(wire["result"][part], expected[part]) << wire["result"];
    EXPECT_TRUE(taken.contains(Leniency::kReportForm));
  }
}

TEST(ReportForms, ADrawOfNoPointsIsOneOnlyWhereTheMatchWasPlayed) {
  const json none = {{"P01", 0}, {"P02", 0}};
  auto score_of = [&](const json& details, const char* game = "even_odd") {
    json wire = report_with({{"winner", nullptr}, {"score", none}, {"details", details}});
    wire["game_type"] = game;
    Leniencies taken;
    EXPECT_TRUE(normalise(wire, MessageType::kMatchResultReport, Mode::kOpen, {}, taken));
    return wire["result"]["score"]["P01"];
  };
  EXPECT_EQ(score_of({{"drawn_number", 4}}), 1);
  EXPECT_EQ(score_of({{"drawn_number", 0}}), 0);
  EXPECT_EQ(score_of({{"drawn_number", nullptr}}), 0);
  EXPECT_EQ(score_of({{"drawn_number", 4}, {"termination", "NORMAL"}}), 0)
      << "ours says how a match ended, and is held to its score";
  EXPECT_EQ(score_of({{"drawn_number", 4}}, "draws_pay_nothing"), 0) << "another game's rules";
}

TEST(ReportForms, NothingMakesItThrow) {
  for (const char* result :
       {"null", "7", "[]", "{}", R"({"players":[]})", R"({"players":{"P01":7}})",
        R"({"details":7})", R"({"score":[0,0],"details":{"drawn_number":4}})",
        R"({"winner_id":{},"details":null,"drawn_number":"x"})"}) {
    json wire = report_with(json::parse(result));
    Leniencies taken;
    EXPECT_TRUE(normalise(wire, MessageType::kMatchResultReport, Mode::kOpen, {}, taken));
  }
}

TEST(Normalise, PlayedHasOtherNamesInTables) {
  for (const char* other : {"games_played", "matches_played"}) {
    json wire = golden("league_standings_update");
    for (auto& row : wire["standings"]) {
      row[other] = row["played"];
      row.erase("played");
    }
    Leniencies taken;
    EXPECT_TRUE(admit(wire, MessageType::kLeagueStandingsUpdate, Mode::kOpen, taken)) << other;
    EXPECT_EQ(wire["standings"][0]["played"], 1);
    EXPECT_TRUE(taken.contains(Leniency::kPlayedField));
  }
}

TEST(Leniencies, NamesAreDistinctAndKept) {
  std::set<std::string_view> names;
  for (Leniency leniency : all_leniencies()) names.insert(leniency_name(leniency));
  EXPECT_EQ(names.size(), all_leniencies().size());
  Leniencies first;
  first.add(Leniency::kChoiceField);
  Leniencies second;
  second.add(Leniency::kMethodAlias);
  second.add(first);
  EXPECT_EQ(second.names(), (std::vector<std::string_view>{"method_alias", "choice_field"}));
}

}  // namespace
}  // namespace league::envelope
