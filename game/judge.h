#pragma once

#include <string>
#include <utility>
#include <vector>

#include "game/result.h"

namespace league::game {

/// What is known about a match before its result is claimed.
struct MatchFacts {
  std::string match_id;
  PerSide<std::string> players;  ///< ids, player A first
  std::optional<std::string> draw_commitment;  ///< as announced; nothing where none was
};

/// By player id, as it was sent.
using ByPlayer = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// A claim about a match: the content of a report or of GAME_OVER, unchecked.
struct Claim {
  std::optional<std::string> winner;
  /// Nothing where the message has no score (GAME_OVER).
  std::optional<std::vector<std::pair<std::string, int>>> score;
  std::optional<int> drawn_number;
  std::optional<std::string> number_kind;  ///< `number_parity` on the wire
  ByPlayer choices;
  ByPlayer commitments;
  ByPlayer nonces;
  std::optional<int> draw_version;  ///< nothing means 1
  std::optional<std::string> seed;  ///< `draw_proof`, in hexadecimal
  std::string technical_reason;  ///< empty for a match that was played
};

/// Which part of a claim is wrong. Verifiers derive the name of their rule from it.
enum class Aspect {
  kForm,  ///< it is not a result of a match between these players
  kUnproven,  ///< it reveals no seed, so the number cannot be checked
  kProof,  ///< the seed is malformed or not the promised one
  kChoice,  ///< a choice is missing, or is not a word of the game
  kOpening,  ///< a commitment is not opened by its choice and nonce
  kVersion,  ///< the draw's version is not the one that the commitments demand
  kNumber,  ///< the number does not follow
  kWinner,  ///< the winner does not follow
  kScore,  ///< the points do not follow
};

struct Contradiction {
  Aspect aspect = Aspect::kForm;
  std::string field;  ///< relative to the claim: `winner`, `drawn_number`, ...
  std::string text;  ///< what is wrong and what it should be; bounded, holds no secret
};

/// A claim and its checked consequences.
struct Judgement {
  MatchResult result;  ///< as claimed; meaningful only where nothing is contradicted
  Bindings bindings;  ///< commitments and nonces as claimed
  std::vector<Contradiction> contradictions;  ///< the most fundamental first

  /// True if the only fault is that the seed is not revealed: the result follows from the claimed
  /// number, but it cannot be checked whether that number was drawn.
  [[nodiscard]] bool is_only_unproven() const;
};

/// Recomputes proof, number, kind, winner and score from seed, choices and nonces. The same
/// function judges in the referee, the manager, the verifier and the player. Pure and thread-safe.
/// Source: protocol §7, "The manager judges".
[[nodiscard]] Judgement judge(const Definition& rules, const MatchFacts& facts, const Claim& claim);

}  // namespace league::game
