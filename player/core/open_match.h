#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "game/side.h"

namespace league::player {

/// What a player knows of a match that it was invited to and that is not over. Choice and nonce are
/// as secret as its token until the result is out. Source: protocol §7.
struct OpenMatch {
  core::PlayerId player_id{};  ///< whose match it is
  core::LeagueId league_id{};  ///< empty where nobody has named it
  core::MatchId match_id{};
  int round_id = 0;  ///< 0 where it is not known
  std::string game_type{};
  game::Side side = game::Side::kA;
  core::PlayerId opponent_id{};
  std::string draw_commitment{};  ///< of the invitation; empty where it had none
  std::string choice{};  ///< empty before it is made
  std::string nonce{};  ///< that opens the commitment; empty where the player is not committed
  bool is_revealed = false;  ///< the choice was asked for, so it has left or is about to
  /// As handed over when the choice was asked for; nothing before, and where the opponent has none.
  std::optional<std::string> opponent_commitment = std::nullopt;

  /// The commitment of an earlier play of the match, which a new one has replaced.
  std::optional<std::string> earlier_commitment = std::nullopt;

  [[nodiscard]] bool is_committed() const { return !nonce.empty(); }
  /// The commitment to `choice`; nothing where the player is not committed.
  [[nodiscard]] std::optional<std::string> commitment() const;
  /// Whether both players are bound, so that choice and nonce hold for the match.
  [[nodiscard]] bool is_bound_by_both() const { return is_committed() && opponent_commitment; }
  /// Whether an invitation of `other` is one to this very match.
  [[nodiscard]] bool is_same_match(const OpenMatch& other) const;

  bool operator==(const OpenMatch&) const = default;
};

/// What stands after an invitation, where `known` (may be null) is what stood before. A repeated
/// one changes nothing. Where not both players are bound, one that follows the reveal of the choice
/// begins a replay or another attempt: then the choice is to be made anew.
[[nodiscard]] OpenMatch after_invitation(const OpenMatch* known, OpenMatch invited);

/// Commits the player to `choice`, with 256 fresh bits of `random` as the nonce.
void commit(OpenMatch& match, std::string choice, core::RandomSource& random);

/// What is wrong about the commitment that is handed over when the choice is asked for: it is not
/// the one that was handed over before. Nothing where all is well.
[[nodiscard]] std::optional<std::string> handed_over(
    OpenMatch& match, const std::optional<std::string>& opponent_commitment);

/// One object of the notes file, as text; and back, with the field of the first fault.
[[nodiscard]] std::string open_match_to_text(const OpenMatch& match);
[[nodiscard]] core::Result<OpenMatch> open_match_from_json(const nlohmann::json& json);

}  // namespace league::player
