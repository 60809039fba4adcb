#include "league_manager/core/player_record.h"

#include <gtest/gtest.h>

#include "game/commitment.h"
#include "game/games.h"

namespace league::league_manager {
namespace {

using events::PlayerWord;

constexpr auto kInvited = "GAME_INVITATION";
constexpr auto kAskedToChoose = "CHOOSE_PARITY_CALL";

PlayerCall joined(int attempt = 1) {
  return {.message_type = kInvited,
          .attempt = attempt,
          .is_answered = true,
          .answer_ms = 3,
          .accept = true};
}
PlayerCall chose(int attempt = 1) {
  return {.message_type = kAskedToChoose,
          .attempt = attempt,
          .is_answered = true,
          .answer_ms = 3,
          .choice = "even"};
}

PlayerWord word(std::vector<PlayerCall> calls, LossPhase phase, const std::string& call,
                int play = 0) {
  const PlayerAnswer answer{.player = 0, .record = PlayerRecord{std::move(calls)}};
  return word_of(answer, {.phase = phase, .call = call},
                 {.rules = *game::even_odd(),
                  .match_id = "R1M1",
                  .player_id = "P01",
                  .draw_commitment = "dd",
                  .attempt = 1,
                  .play = play})
      .word;
}

TEST(PlayerRecord, WhoCannotBeAskedHasNoWord) {
  const auto heard = word_of(
      {.player = 4, .record = {}, .why_none = "refused the connection"},
      {.phase = LossPhase::kSent, .call = kInvited},
      {.rules = *game::even_odd(), .match_id = "R1M1", .player_id = "P05", .draw_commitment = ""});
  EXPECT_EQ(heard, (events::HeardPlayer{4, PlayerWord::kNone, "refused the connection"}));
}

TEST(PlayerRecord, ContradictsALossByWhatItWasAskedAndAnswered) {
  for (LossPhase phase : {LossPhase::kSent, LossPhase::kAnswered}) {
    EXPECT_EQ(word({}, phase, kInvited), PlayerWord::kNoCall);
    EXPECT_EQ(word({joined(2)}, phase, kInvited), PlayerWord::kNoCall) << "another attempt";
    EXPECT_EQ(word({joined()}, phase, kAskedToChoose), PlayerWord::kNoCall);
    EXPECT_EQ(word({joined()}, phase, kInvited, 1), PlayerWord::kNoCall) << "another play";
    EXPECT_EQ(word({joined()}, phase, kInvited), PlayerWord::kAnswered);
    EXPECT_EQ(word({joined(), chose()}, phase, kAskedToChoose), PlayerWord::kAnswered);
    EXPECT_EQ(
        word(
            {{.message_type = kInvited, .attempt = 1, .refused = "E040", .is_callers_fault = true}},
            phase, kInvited),
        PlayerWord::kCallAtFault);
  }
}

TEST(PlayerRecord, NeverContradictsALossAtConnect) {
  EXPECT_EQ(word({}, LossPhase::kConnect, kInvited), PlayerWord::kConfirms);
  EXPECT_EQ(word({joined()}, LossPhase::kConnect, kInvited), PlayerWord::kConfirms);
}

TEST(PlayerRecord, ConfirmsWhatItDidNotAnswerWell) {
  auto late = joined();
  late.answer_ms = 5001;
  EXPECT_EQ(word({late}, LossPhase::kSent, kInvited), PlayerWord::kConfirms);
  auto declined = joined();
  declined.accept = false;
  EXPECT_EQ(word({declined}, LossPhase::kAnswered, kInvited), PlayerWord::kConfirms);
  auto unanswered = joined();
  unanswered.is_answered = false;
  EXPECT_EQ(word({unanswered}, LossPhase::kSent, kInvited), PlayerWord::kConfirms);
  auto wrong = chose();
  wrong.choice = "seven";
  EXPECT_EQ(word({joined(), wrong}, LossPhase::kAnswered, kAskedToChoose), PlayerWord::kConfirms);
  auto refused = joined();
  refused.refused = "E036";
  EXPECT_EQ(word({refused}, LossPhase::kAnswered, kInvited), PlayerWord::kConfirms);
}

TEST(PlayerRecord, AChoiceThatDoesNotOpenItsCommitmentIsNoValidAnswer) {
  const std::string nonce(64, '1');
  auto join = joined();
  join.choice_commitment = game::choice_commitment({"dd", "R1M1", "P01", "even", nonce});
  auto choice = chose();
  choice.nonce = nonce;
  EXPECT_EQ(word({join, choice}, LossPhase::kAnswered, kAskedToChoose), PlayerWord::kAnswered);
  choice.choice = "odd";
  EXPECT_EQ(word({join, choice}, LossPhase::kAnswered, kAskedToChoose), PlayerWord::kConfirms);
  choice.choice = "even";
  choice.nonce.reset();
  EXPECT_EQ(word({join, choice}, LossPhase::kAnswered, kAskedToChoose), PlayerWord::kConfirms);
}

TEST(PlayerRecord, AThirdPartyRefereesLossWithoutAFailureIsContradictedByAnsweringEverything) {
  EXPECT_EQ(word({}, LossPhase::kUnknown, ""), PlayerWord::kNoCall);
  EXPECT_EQ(word({joined()}, LossPhase::kUnknown, ""), PlayerWord::kConfirms);
  EXPECT_EQ(word({joined(), chose()}, LossPhase::kUnknown, ""), PlayerWord::kAnswered);
}

using std::chrono::milliseconds;

/// The word on an invitation that has 5 s and came to the player's seat `since` before the report.
PlayerWord timed_out(std::optional<milliseconds> since, std::optional<PlayerRecord> record = {},
                     const ReportedLoss& loss = {
                         .phase = LossPhase::kSent, .call = kInvited, .is_timeout = true}) {
  return word_of({.player = 0, .record = std::move(record)}, loss,
                 {.rules = *game::even_odd(),
                  .match_id = "R1M1",
                  .player_id = "P01",
                  .draw_commitment = "dd",
                  .since_call = since})
      .word;
}

TEST(PlayerRecord, ATimeOutIsContradictedWhoseTimeIsNotOver) {
  EXPECT_EQ(timed_out(milliseconds(3999)), PlayerWord::kStillOpen);
  EXPECT_EQ(timed_out(milliseconds(4000)), PlayerWord::kNone)
      << "it may have been a second on its way";
  EXPECT_EQ(timed_out({}), PlayerWord::kNone);
  EXPECT_EQ(timed_out(milliseconds(1), {},
                      {.phase = LossPhase::kSent, .call = kInvited, .is_timeout = false}),
            PlayerWord::kNone)
      << "the connection broke";
  EXPECT_EQ(timed_out(milliseconds(29'000), {},
                      {.phase = LossPhase::kSent, .call = kAskedToChoose, .is_timeout = true}),
            PlayerWord::kNone);
  EXPECT_EQ(timed_out(milliseconds(28'499), {},
                      {.phase = LossPhase::kConnect, .call = kAskedToChoose, .is_timeout = true}),
            PlayerWord::kStillOpen)
      << "its seat has the call";
  const PlayerCall open{.message_type = kInvited, .attempt = 1};
  EXPECT_EQ(timed_out(milliseconds(1), PlayerRecord{{open}}), PlayerWord::kStillOpen);
  EXPECT_EQ(timed_out(milliseconds(5000), PlayerRecord{{open}}), PlayerWord::kConfirms);
  EXPECT_EQ(timed_out(milliseconds(1), PlayerRecord{{joined()}}), PlayerWord::kAnswered);
  EXPECT_TRUE(contradicts(PlayerWord::kStillOpen));
}

TEST(PlayerRecord, TheLastFailureSaysHowAPlayerLost) {
  MatchReport report;
  EXPECT_EQ(loss_of(report, "P01").phase, LossPhase::kUnknown);
  report.failures = {{.player_id = "P01", .call = kInvited, .error_code = "E009"},
                     {.player_id = "P02", .call = kInvited, .error_code = "E037"}};
  EXPECT_EQ(loss_of(report, "P01").phase, LossPhase::kConnect) << "by the code, without a phase";
  EXPECT_TRUE(loss_of(report, "P02").is_decline);
  report.failures.push_back(
      {.player_id = "P01", .call = kAskedToChoose, .error_code = "E009", .phase = "sent"});
  EXPECT_EQ(loss_of(report, "P01").phase, LossPhase::kSent);
  EXPECT_EQ(loss_of(report, "P01").call, kAskedToChoose);
  report.failures.push_back({.player_id = "P01", .call = kInvited, .error_code = "E001"});
  EXPECT_EQ(loss_of(report, "P01").phase, LossPhase::kSent);
  EXPECT_TRUE(loss_of(report, "P01").is_timeout);
  report.failures.push_back({.player_id = "P01", .call = kInvited, .error_code = "E040"});
  EXPECT_EQ(loss_of(report, "P01").phase, LossPhase::kAnswered);
  report.failures.push_back(
      {.player_id = "P02", .call = kInvited, .error_code = "E037", .phase = "connect"});
  EXPECT_EQ(loss_of(report, "P02").phase, LossPhase::kAnswered) << "a decline is an answer";
}

}  // namespace
}  // namespace league::league_manager
