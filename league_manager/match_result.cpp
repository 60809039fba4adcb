#include "league_manager/match_result.h"

#include <array>

namespace league::league_manager {

namespace {

constexpr std::array<std::string_view, 4> kOutcomeNames = {"A", "B", "DRAW", "NONE"};

std::uint32_t fingerprint(std::string_view text) {
  if (text.empty()) return 0;
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash == 0 ? 1 : hash;
}

unsigned choice_bits(const std::optional<Parity>& choice) {
  return choice ? 1u + static_cast<unsigned>(*choice) : 0u;
}

std::optional<Parity> choice_from_bits(unsigned bits) {
  if ((bits & 3u) == 0) return std::nullopt;
  return static_cast<Parity>((bits & 3u) - 1u);
}

}  // namespace

std::string_view parity_name(Parity parity) { return parity == Parity::kEven ? "even" : "odd"; }

std::optional<Parity> parse_parity(std::string_view text) {
  if (text == "even") return Parity::kEven;
  if (text == "odd") return Parity::kOdd;
  return std::nullopt;
}

std::string_view outcome_name(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> parse_outcome(std::string_view text) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    if (kOutcomeNames[i] == text) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

Points points_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPlayerAWins:
      return {3, 0};
    case Outcome::kPlayerBWins:
      return {0, 3};
    case Outcome::kDraw:
      return {1, 1};
    case Outcome::kNoWinner:
      break;
  }
  return {0, 0};
}

MatchResult MatchResult::technical(Outcome outcome, std::string_view reason) {
  MatchResult result;
  result.outcome = outcome;
  result.technical_reason = reason;
  return result;
}

CompactResult CompactResult::of(const MatchResult& result) {
  CompactResult compact;
  compact.reason_fingerprint = fingerprint(result.technical_reason);
  compact.outcome = result.outcome;
  compact.drawn_number = static_cast<std::uint8_t>(result.drawn_number.value_or(0));
  compact.choices =
      static_cast<std::uint8_t>(choice_bits(result.choice_a) | choice_bits(result.choice_b) << 2);
  return compact;
}

bool CompactResult::same_result(const CompactResult& other) const {
  return reason_fingerprint == other.reason_fingerprint && outcome == other.outcome &&
         drawn_number == other.drawn_number && choices == other.choices;
}

std::optional<Parity> CompactResult::choice_a() const { return choice_from_bits(choices); }

std::optional<Parity> CompactResult::choice_b() const {
  return choice_from_bits(static_cast<unsigned>(choices) >> 2);
}

}  // namespace league::league_manager
