#include <array>

#include "common/envelope/codec_definitions.h"
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

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<PlayContext> /*unused*/) {
  a.optional("attempt", s.attempt);
  a.optional("play", s.play);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<GameInvitation> /*unused*/) {
  a.required("game_type", s.game_type);
  a.required("role_in_match", s.role_in_match);
  a.required("opponent_id", s.opponent_id);
  a.optional("player_id", s.player_id);
  a.optional("draw_commitment", s.draw_commitment);
  a.optional("context", s.context);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<GameJoinAck> /*unused*/) {
  a.required("player_id", s.player_id);
  a.required("arrival_timestamp", s.arrival_timestamp);
  a.required("accept", s.accept);
  a.optional("choice_commitment", s.choice_commitment);
  a.optional("receipt", s.receipt);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ChoiceContext> /*unused*/) {
  a.optional("opponent_id", s.opponent_id);
  a.optional("round_id", s.round_id);
  a.optional("your_standings", s.your_standings);
  a.optional("draw_commitment", s.draw_commitment);
  a.optional("opponent_commitment", s.opponent_commitment);
  a.optional("attempt", s.attempt);
  a.optional("play", s.play);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ChooseParityCall> /*unused*/) {
  a.required("player_id", s.player_id);
  a.required("game_type", s.game_type);
  a.required("deadline", s.deadline);
  a.optional("context", s.context);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ChooseParityResponse> /*unused*/) {
  a.required("player_id", s.player_id);
  a.required("parity_choice", s.parity_choice);
  a.optional("choice_nonce", s.choice_nonce);
  a.optional("receipt", s.receipt);
}

/// The players' commitments and nonces: the same in GAME_OVER and in the report.
template <typename Archive, typename Self>
void describe_bindings(Archive& a, Self& s) {
  a.optional("draw_version", s.draw_version);
  a.unless("choice_commitments", s.choice_commitments, HexByPlayer{});
  a.unless("choice_nonces", s.choice_nonces, HexByPlayer{});
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<GameResult> /*unused*/) {
  a.required("status", s.status);
  a.nullable("winner_player_id", s.winner_player_id);
  a.nullable("drawn_number", s.drawn_number);
  a.nullable("number_parity", s.number_parity);
  a.defaulted("choices", s.choices);
  a.defaulted("reason", s.reason);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<GameOver> /*unused*/) {
  a.required("game_type", s.game_type);
  a.required("game_result", s.game_result);
  a.defaulted("reason", s.game_result.reason);
  a.optional("draw_proof", s.draw_proof);
  describe_bindings(a, s);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ClockProof> /*unused*/) {
  a.required("limit_ms", s.limit_ms);
  a.optional("sent_at", s.sent_at);
  a.required("gave_up_at", s.gave_up_at);
  a.required("scheduling_delay_us", s.scheduling_delay_us);
  a.required("canary_us", s.canary_us);
  a.required("void", s.is_void);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<CallFailure> /*unused*/) {
  a.required("player_id", s.player_id);
  a.required("call", s.call);
  a.required("error_code", s.error_code);
  a.defaulted("elapsed_ms", s.elapsed_ms);
  a.defaulted("attempt", s.attempt);
  a.optional("clock", s.clock);
  a.unless("error_description", s.error_description, std::string());
  a.unless("phase", s.phase, std::string());
  a.unless("field", s.field, std::string());
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<PlayerAnswers> /*unused*/) {
  a.required("player_id", s.player_id);
  a.defaulted("elapsed_us", s.elapsed_us);
  a.unless("leniencies", s.leniencies, std::vector<std::string>());
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<PlayerReceipts> /*unused*/) {
  a.optional("join", s.join);
  a.optional("choice", s.choice);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<ResultDetails> /*unused*/) {
  a.nullable("drawn_number", s.drawn_number);
  a.nullable("number_parity", s.number_parity);
  a.defaulted("choices", s.choices);
  a.optional("attempt", s.attempt);
  a.defaulted("failures", s.failures);
  a.unless("answers", s.answers, std::vector<PlayerAnswers>());
  a.optional("replays", s.replays);
  a.optional("termination", s.termination);
  a.optional("draw_proof", s.draw_proof);
  describe_bindings(a, s);
  a.unless("join_times_us", s.join_times_us, std::map<core::PlayerId, int>{});
  a.unless("choice_times_us", s.choice_times_us, std::map<core::PlayerId, int>{});
  a.unless("receipts", s.receipts, ReceiptsByPlayer{});
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<MatchResult> /*unused*/) {
  a.nullable("winner", s.winner);
  a.required("score", s.score);
  a.required("details", s.details);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<MatchResultReport> /*unused*/) {
  a.required("game_type", s.game_type);
  a.required("result", s.result);
}

template nlohmann::json encode(const Envelope&, const GameInvitation&);
template nlohmann::json encode(const Envelope&, const GameJoinAck&);
template nlohmann::json encode(const Envelope&, const ChooseParityCall&);
template nlohmann::json encode(const Envelope&, const ChooseParityResponse&);
template nlohmann::json encode(const Envelope&, const GameOver&);
template nlohmann::json encode(const Envelope&, const MatchResultReport&);
template std::string encode_text(const Envelope&, const GameInvitation&);
template std::string encode_text(const Envelope&, const ChooseParityCall&);
template std::string encode_text(const Envelope&, const GameOver&);
template core::Result<GameInvitation> decode(schema::JsonNode);
template core::Result<GameJoinAck> decode(schema::JsonNode);
template core::Result<ChooseParityCall> decode(schema::JsonNode);
template core::Result<ChooseParityResponse> decode(schema::JsonNode);
template core::Result<GameOver> decode(schema::JsonNode);
template core::Result<MatchResultReport> decode(schema::JsonNode);

}  // namespace league::envelope
