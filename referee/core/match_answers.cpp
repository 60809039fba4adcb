// The checks of players' answers.
#include "referee/core/match.h"

namespace league::referee {

using core::ErrorCode;

namespace {

constexpr const char* kCommitmentField = "/choice_commitment";

std::string_view match_id_of(const Reply& reply) {
  return std::visit([](const auto& answer) -> std::string_view { return answer.match_id; }, reply);
}

}  // namespace

bool Match::awaits(CallId id) const {
  return !ending_ && id != 0 &&
         (progress_[Side::kA].call_id == id || progress_[Side::kB].call_id == id);
}

std::optional<core::Error> Match::fault_of(CallId id, const Reply& reply) const {
  if (ending_ || id == 0) return std::nullopt;
  for (Side side : kBothSides) {
    if (progress_[side].call_id == id) return fault_of(side, reply);
  }
  return std::nullopt;
}

std::optional<core::Error> Match::fault_of(Side side, const Reply& reply) const {
  const bool is_join = std::holds_alternative<JoinAnswer>(reply);
  if (is_join != (stage_call() == Call::kInvitation)) {
    return core::Error{ErrorCode::kInvalidReply,
                       "the reply must be " + std::string(expected_reply(stage_call())), ""};
  }
  const std::string_view named = match_id_of(reply);
  if (!named.empty() && named != plan_.match_id.str()) {
    return core::Error{ErrorCode::kMatchIdMismatch,
                       "the reply names match \"" + std::string(named.substr(0, 64)) +
                           "\", but this is match \"" + plan_.match_id.str() + "\"",
                       "/match_id"};
  }
  return is_join ? fault_of_join(side, std::get<JoinAnswer>(reply))
                 : fault_of_choice(side, std::get<ChoiceAnswer>(reply));
}

std::optional<core::Error> Match::fault_of_join(Side side, const JoinAnswer& answer) const {
  // Without a draw commitment players cannot commit; a choice_commitment is then ignored.
  if (!answer.accept || !plan_.draw_commitment) return std::nullopt;
  const auto& given = answer.choice_commitment;
  if (given && !game::is_hex_256(*given)) {
    return core::Error{ErrorCode::kInvalidFieldValue,
                       "choice_commitment must be 64 characters of [0-9a-f]: the lower-case "
                       "hexadecimal SHA-256 of DRAW_COMMITMENT|MATCH|PLAYER|CHOICE|NONCE",
                       kCommitmentField};
  }
  if (!given && plan_.seats[side].has_receipts) {
    return core::Error{ErrorCode::kCommitmentMismatch,
                       "choice_commitment is missing: a player that declared receipts commits in "
                       "every match that has a draw_commitment",
                       kCommitmentField};
  }
  const bool holds = game::fairness_of(bindings_) == game::Fairness::kBoth;
  if (holds && given != bindings_.commitments[side]) {
    return core::Error{ErrorCode::kCommitmentMismatch,
                       std::string("choice_commitment is ") +
                           (given ? "not the one that you sent before" : "missing") +
                           "; both players have committed, so the earlier commitments remain valid "
                           "for this match. Send the same one again.",
                       kCommitmentField};
  }
  return std::nullopt;
}

std::optional<core::Error> Match::fault_of_choice(Side side, const ChoiceAnswer& answer) const {
  if (const auto choice = rules_.check_choice(answer.choice); !choice) return choice.error();
  const auto& commitment = bindings_.commitments[side];
  if (!commitment) return std::nullopt;
  const auto& nonce = answer.choice_nonce;
  if (nonce && game::is_hex_256(*nonce) &&
      *commitment == game::choice_commitment({.draw_commitment = *plan_.draw_commitment,
                                              .match_id = plan_.match_id.str(),
                                              .player_id = plan_.seats[side].player.str(),
                                              .choice = answer.choice,
                                              .nonce = *nonce})) {
    return std::nullopt;
  }
  return core::Error{ErrorCode::kCommitmentMismatch,
                     std::string(nonce ? "parity_choice and choice_nonce do not match"
                                       : "choice_nonce is missing; it must match") +
                         " the choice_commitment of your GAME_JOIN_ACK. Send the choice and the "
                         "nonce that the commitment was made with.",
                     "/choice_nonce"};
}

}  // namespace league::referee
