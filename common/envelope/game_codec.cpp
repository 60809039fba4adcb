#include <array>

#include "common/envelope/codec_definitions.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/game_messages.h"
#include "common/envelope/shared_fields.h"

namespace league::envelope {

static std::array<EnumName<PlayerRole>, 2> enum_names(Of<PlayerRole> /*unused*/) {
  return {{{PlayerRole::kPlayerA, "PLAYER_A"}, {PlayerRole::kPlayerB, "PLAYER_B"}}};
}
static std::array<EnumName<GameStatus>, 3> enum_names(Of<GameStatus> /*unused*/) {
  return {{{GameStatus::kWin, "WIN"},
           {GameStatus::kDraw, "DRAW"},
           {GameStatus::kTechnicalLoss, "TECHNICAL_LOSS"}}};
}

void describe(Fields& a, GameContext& s) {
  a.required("choices", s.choices,
             rule::value("The words of the game.").each(rule::kName).such_as(R"(["even", "odd"])"));
  a.defaulted("meeting", s.meeting, rule::kMeetingNumber);
  a.defaulted("meetings", s.meetings, rule::kMeetings);
}

void describe(Fields& a, EarlierMeeting& s) {
  a.nullable("your_choice", s.your_choice, rule::kChosenThen);
  a.nullable("opponent_choice", s.opponent_choice, rule::kChosenThen);
}

/// What both calls of a match tell a player.
template <typename Self>
void describe_play(Fields& a, Self& s) {
  a.optional("attempt", s.attempt, rule::kAttemptOfReceipt);
  a.optional("play", s.play, rule::kPlayOfReceipt);
  a.optional("game", s.game, rule::kGameOfMatch);
  a.filled("history", s.history, rule::kHistory);
}

void describe(Fields& a, PlayContext& s) { describe_play(a, s); }

void describe(Fields& a, GameInvitation& s) {
  a.required("game_type", s.game_type, rule::kGameType);
  a.required("role_in_match", s.role_in_match,
             rule::value("The player's role.").such_as("PLAYER_A"));
  a.required("opponent_id", s.opponent_id, rule::kOpponentId);
  a.optional("player_id", s.player_id,
             rule::text("The player who is invited. A bot that somebody else has registered learns "
                        "its id from this field.",
                        1, 64)
                 .such_as("P02"));
  a.optional(
      "draw_commitment", s.draw_commitment,
      rule::text(
          "SHA-256 of the draw's seed, as it was announced. A choice commitment is made over it.",
          256));
  a.optional("context", s.context, rule::value("Which play of the match this is."));
  a.optional("deadline", s.deadline,
             rule::time("When the answer must have arrived, where the player has a limit of its "
                        "own, as people have. ISO 8601 in UTC, with Z or +00:00."));
}

const MessageCodec& GameInvitation::codec() {
  return codec_for<GameInvitation>(
      {.description =
           "A referee invites a player to a match. Call handle_game_invitation of the player; "
           "the answer is GAME_JOIN_ACK within 5 seconds.",
       .needs_league = true,
       .needs_round = true,
       .needs_match = true});
}

void describe(Fields& a, GameJoinAck& s) {
  a.required("player_id", s.player_id, rule::kOwnId);
  a.required("arrival_timestamp", s.arrival_timestamp,
             rule::time("When the player joined. ISO 8601 in UTC, with Z or +00:00; dates and "
                        "times must exist."));
  a.required("accept", s.accept, rule::value("True to play.").such_as("true"));
  a.optional(
      "choice_commitment", s.choice_commitment,
      rule::text("Lower-case hexadecimal SHA-256 of DRAW_COMMITMENT|MATCH|PLAYER|CHOICE|NONCE. It "
                 "commits the player to its choice. Optional.",
                 256)
          .matching("^[0-9a-f]{64}$", rule::is_hex_digest)
          .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
          .or_null());
  a.optional(
      "receipt", s.receipt,
      rule::text("Receipt of a player that declared receipts: lower-case hexadecimal HMAC-SHA-256, "
                 "with its receipt_key, of "
                 "JOIN|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|ACCEPT|CHOICE_COMMITMENT.",
                 256)
          .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"));
}

const MessageCodec& GameJoinAck::codec() {
  return codec_for<GameJoinAck>(
      {.description = "A player's answer to GAME_INVITATION. accept: false is a technical loss.",
       .needs_match = true});
}

void describe(Fields& a, ChoiceContext& s) {
  a.optional("opponent_id", s.opponent_id, rule::kOpponentId);
  a.optional("round_id", s.round_id, rule::kRoundId);
  a.optional("your_standings", s.your_standings, rule::value("A tally."));
  a.optional("draw_commitment", s.draw_commitment, rule::text("SHA-256 of the draw's seed.", 256));
  a.optional(
      "opponent_commitment", s.opponent_commitment,
      rule::text("The choice commitment of the opponent; absent means that it has none.", 256)
          .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"));
  describe_play(a, s);
}

void describe(Fields& a, ChooseParityCall& s) {
  a.required("player_id", s.player_id,
             rule::text("The player who is asked.", 1, 64).such_as("P01"));
  a.required("game_type", s.game_type, rule::kGameType);
  a.required("deadline", s.deadline,
             rule::time("When the answer must have arrived. ISO 8601 in UTC, with Z or +00:00; "
                        "dates and times must exist."));
  a.optional("context", s.context, rule::value("Information that may help the player to choose."));
}

const MessageCodec& ChooseParityCall::codec() {
  return codec_for<ChooseParityCall>(
      {.description =
           "A referee asks a player for its choice. Call choose_parity of the player; the "
           "answer is CHOOSE_PARITY_RESPONSE within 30 seconds.",
       .needs_match = true});
}

void describe(Fields& a, ChooseParityResponse& s) {
  a.required("player_id", s.player_id, rule::kOwnId);
  a.required(
      "parity_choice", s.parity_choice,
      rule::text(
          R"(The choice: exactly one of the game's words, in Even/Odd "even" or "odd". The game checks it (E004).)",
          256)
          .such_as("even"));
  a.optional("choice_nonce", s.choice_nonce,
             rule::text("Opens the commitment of GAME_JOIN_ACK: the 64 characters of [0-9a-f] that "
                        "it was made with. Required if there was a commitment (E040).",
                        256)
                 .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
                 .or_null());
  a.optional(
      "receipt", s.receipt,
      rule::text(
          "Receipt of a player that declared receipts: lower-case hexadecimal HMAC-SHA-256, with "
          "its receipt_key, of "
          "CHOICE|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|CHOICE|NONCE|OPPONENT_COMMITMENT.",
          256)
          .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"));
}

const MessageCodec& ChooseParityResponse::codec() {
  return codec_for<ChooseParityResponse>(
      {.description = "A player's answer to CHOOSE_PARITY_CALL.", .needs_match = true});
}

/// The players' commitments and nonces: the same in GAME_OVER and in the report.
template <typename Self>
void describe_bindings(Fields& a, Self& s) {
  a.optional("draw_version", s.draw_version, rule::kDrawVersion);
  a.filled("choice_commitments", s.choice_commitments, rule::kChoiceCommitments);
  a.filled("choice_nonces", s.choice_nonces, rule::kChoiceNonces);
}

void describe(Fields& a, GameResult& s) {
  a.required("status", s.status, rule::value("How it ended.").such_as("WIN"));
  a.nullable("winner_player_id", s.winner_player_id,
             rule::text("The winner; null if there is none.", 1, 64).such_as("P01"));
  a.nullable("drawn_number", s.drawn_number, rule::kDrawnNumber);
  a.nullable("number_parity", s.number_parity, rule::kNumberParity);
  a.defaulted("choices", s.choices, rule::kChoices);
  a.defaulted("reason", s.reason,
              rule::text("Why, for people.", 4096).such_as("P01 chose even, the number was 4"));
}

void describe(Fields& a, GameOver& s) {
  a.required("game_type", s.game_type, rule::kGameType);
  a.required("game_result", s.game_result, rule::kResult);
  a.defaulted("reason", s.game_result.reason,
              rule::text("The same text as game_result.reason.", 4096));
  a.optional("draw_proof", s.draw_proof, rule::kDrawProof);
  describe_bindings(a, s);
}

const MessageCodec& GameOver::codec() {
  return codec_for<GameOver>(
      {.description = "How a match ended. The referee calls notify_match_result of both players.",
       .needs_match = true});
}

void describe(Fields& a, ClockProof& s) {
  a.required("limit_ms", s.limit_ms,
             rule::number("How long the player had, in milliseconds.", 0).such_as("30000"));
  a.optional("sent_at", s.sent_at,
             rule::text("When the last byte of the request was sent: UTC with microseconds. Absent "
                        "if it never was.",
                        40)
                 .such_as("2025-01-15T10:29:30.000125Z"));
  a.required("gave_up_at", s.gave_up_at,
             rule::text("When the referee ended the wait: UTC with microseconds.", 40)
                 .such_as("2025-01-15T10:30:00.000431Z"));
  a.required(
      "scheduling_delay_us", s.scheduling_delay_us,
      rule::number("How late a thread of the referee ran meanwhile, at the worst, in microseconds.",
                   0)
          .such_as("310"));
  a.required(
      "canary_us", s.canary_us,
      rule::number("The slowest call of the referee to itself meanwhile, in microseconds.", 0)
          .such_as("850"));
  a.optional("seat_delay_us", s.seat_delay_us,
             rule::number("How long the manager kept the call at the player's seat by itself, in "
                          "microseconds.",
                          0)
                 .such_as("120"));
  a.required("void", s.is_void,
             rule::value("True if one of these is above 50 ms and above 5 % of the limit: then "
                         "the time-out is no fault of the player.")
                 .such_as("false"));
}

void describe(Fields& a, CallFailure& s) {
  a.required("player_id", s.player_id, rule::kPlayerId);
  a.required("call", s.call,
             rule::text("Message type of the call.", 64).such_as("GAME_INVITATION"));
  a.required("error_code", s.error_code, rule::text("Code of the failure.", 16).such_as("E001"));
  a.defaulted("elapsed_ms", s.elapsed_ms,
              rule::number("How long the call took.", 0).such_as("5000"));
  a.defaulted("attempt", s.attempt, rule::number("Which attempt it was.", 1).such_as("1"));
  a.optional("clock", s.clock, rule::value("Of a time-out: why it counts, or does not."));
  a.filled("error_description", s.error_description, rule::text("The same for people.", 1000));
  a.filled("phase", s.phase,
           rule::text("How far the call came: connect (it was not written to the player), sent "
                      "(written, without an answer) or answered.",
                      64)
               .such_as("sent"));
  a.filled("field", s.field,
           rule::text("JSON pointer of the wrong field in the player's answer.", 200)
               .such_as("/parity_choice"));
}

void describe(Fields& a, PlayerAnswers& s) {
  a.required("player_id", s.player_id, rule::kPlayerId);
  a.defaulted("elapsed_us", s.elapsed_us,
              rule::value("How long each answer took, in microseconds.")
                  .each(rule::kCount)
                  .at_most(100)
                  .such_as("[812, 640]"));
  a.filled("leniencies", s.leniencies,
           rule::value("What had to be overlooked in them, by the names of section 9.")
               .each(rule::kName)
               .at_most(100)
               .such_as(R"(["missing_reply_token"])"));
}

void describe(Fields& a, PlayerReceipts& s) {
  a.optional("join", s.join,
             rule::text("That of its GAME_JOIN_ACK.", 256)
                 .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"));
  a.optional("choice", s.choice,
             rule::text("That of its CHOOSE_PARITY_RESPONSE.", 256)
                 .such_as("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"));
}

void describe(Fields& a, ResultDetails& s) {
  a.nullable("drawn_number", s.drawn_number, rule::kDrawnNumber);
  a.nullable("number_parity", s.number_parity, rule::kNumberParity);
  a.defaulted("choices", s.choices, rule::kChoices);
  a.optional("attempt", s.attempt, rule::number("The attempt of the assignment.", 1).such_as("1"));
  a.defaulted("failures", s.failures,
              rule::value("Calls to players that failed.").each(rule::kFailure));
  a.filled(
      "answers", s.answers,
      rule::value("How the players answered, for their own reports.").each(rule::kAnswersOfOne));
  a.optional("replays", s.replays,
             rule::number("How often the match was played before and did not count, since the "
                          "referee itself was late.",
                          0)
                 .such_as("1"));
  a.optional("termination", s.termination,
             rule::text("Machine-readable reason.", 64).such_as("normal"));
  a.optional("draw_proof", s.draw_proof, rule::kDrawProof);
  describe_bindings(a, s);
  a.filled("join_times_us", s.join_times_us,
           rule::value("How long each player took for the GAME_JOIN_ACK that counted, in "
                       "microseconds, by player id.")
               .each(rule::kCount)
               .at_most(2));
  a.filled("choice_times_us", s.choice_times_us,
           rule::value("How long each player took for the CHOOSE_PARITY_RESPONSE that counted, in "
                       "microseconds, by player id.")
               .each(rule::kCount)
               .at_most(2));
  a.filled("receipts", s.receipts,
           rule::value("The receipts of the players, by player id.")
               .each(rule::kReceiptsOfOne)
               .at_most(2));
}

void describe(Fields& a, MatchResult& s) {
  a.nullable(
      "winner", s.winner,
      rule::text("The winner; null for a draw and when both lost.", 1, 64).such_as("P01").always());
  a.required(
      "score", s.score,
      rule::value("Points by player id.").each(rule::kPoints).such_as(R"({"P01": 3, "P02": 0})"));
  a.required("details", s.details, rule::value("How it came about."));
}

std::string to_text(const MatchResult& result) { return schema::to_text(result); }

void describe(Fields& a, MatchResultReport& s) {
  a.required("game_type", s.game_type, rule::kGameType);
  a.required("result", s.result, rule::kResult);
}

const MessageCodec& MatchResultReport::codec() {
  return codec_for<MatchResultReport>(
      {.description = "A referee reports a result. Call report_match_result of the league manager.",
       .needs_league = true,
       .needs_round = true,
       .needs_match = true});
}

}  // namespace league::envelope
