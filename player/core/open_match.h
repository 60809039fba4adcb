#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "game/side.h"

namespace league::player {

/// What a player knows of a running match to which it was invited. Choice and nonce are as secret
/// as its token until the result is known. Source: protocol §7.
struct OpenMatch {
  core::PlayerId player_id{};  ///< the player itself
  core::LeagueId league_id{};  ///< empty: unknown
  core::MatchId match_id{};
  int round_id = 0;  ///< 0 where it is not known
  std::string game_type{};
  game::Side side = game::Side::kA;
  core::PlayerId opponent_id{};
  std::string draw_commitment{};  ///< of the invitation; empty: it had none
  int attempt = 0;  ///< of the invitation; 0: its referee did not say it
  int play = 0;  ///< of the invitation: replays of the fair clock count from 1
  std::string choice{};  ///< empty before it is made
  std::string nonce{};  ///< opens the commitment; empty: the player is not committed
  bool is_revealed = false;  ///< the choice was asked for, so it has been sent or will be
  int revealed_attempt = 0;  ///< in which attempt and play it was asked for last
  int revealed_play = 0;
  /// As received with the call for the choice; nothing before that, and if the opponent has none.
  std::optional<std::string> opponent_commitment = std::nullopt;

  /// The commitment of an earlier play of the match, which a new one has replaced.
  std::optional<std::string> earlier_commitment = std::nullopt;

  [[nodiscard]] bool is_committed() const { return !nonce.empty(); }
  /// The commitment to `choice`; nothing if the player is not committed.
  [[nodiscard]] std::optional<std::string> commitment() const;
  /// Whether both players are bound, so that choice and nonce hold for the match.
  [[nodiscard]] bool is_bound_by_both() const { return is_committed() && opponent_commitment; }
  /// Whether `other` is an invitation to the same match.
  [[nodiscard]] bool is_same_match(const OpenMatch& other) const;

  bool operator==(const OpenMatch&) const = default;
};

/// The state after an invitation; `known` (may be null) is the state before it. A repeated
/// invitation, of the same attempt and play, changes nothing. Any other one after the reveal of the
/// choice begins a replay or another attempt: unless both players are bound, the choice has to be
/// made again. Where the referee does not say attempt and play, every invitation after the reveal
/// counts as another one.
[[nodiscard]] OpenMatch after_invitation(const OpenMatch* known, OpenMatch invited);

/// Commits the player to `choice`, with 256 fresh bits of `random` as the nonce.
void commit(OpenMatch& match, std::string choice, core::RandomSource& random);

/// Takes the opponent's commitment from a call for the choice, which is asked for in the match's
/// attempt and play from now on. Returns what is wrong if it differs from that of an earlier call;
/// otherwise nothing.
[[nodiscard]] std::optional<std::string> handed_over(
    OpenMatch& match, const std::optional<std::string>& opponent_commitment);

/// Encodes a match as one JSON object of the notes file, and decodes it; nothing if a field is
/// missing or malformed.
[[nodiscard]] std::string open_match_to_text(const OpenMatch& match);
[[nodiscard]] std::optional<OpenMatch> open_match_from_json(const nlohmann::json& note);

}  // namespace league::player
