#include "league_manager/events/compact_result.h"

namespace league::league_manager::events {

namespace {

constexpr std::uint32_t kFnvBasis = 2166136261U;
constexpr std::uint32_t kFnvPrime = 16777619U;

/// FNV-1a; 0 only for an empty text.
std::uint32_t fingerprint(std::string_view text) {
  if (text.empty()) return 0;
  std::uint32_t hash = kFnvBasis;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash == 0 ? 1 : hash;
}

/// No choice contains `|`, so different choices give different texts.
std::string text_of(const game::PerSide<std::optional<std::string>>& choices) {
  std::string text;
  for (game::Side side : game::kBothSides) {
    if (choices[side]) text += *choices[side];
    text += '|';
  }
  return text;
}

}  // namespace

CompactResult CompactResult::of(const game::MatchResult& result, const game::Definition& rules) {
  CompactResult compact;
  compact.reason_fingerprint = fingerprint(result.technical_reason);
  compact.choices_fingerprint = fingerprint(text_of(result.choices));
  compact.outcome = result.outcome;
  const auto points = game::points_of(rules, result);
  for (game::Side side : game::kBothSides) {
    compact.points[side] = static_cast<std::uint8_t>(points[side]);
    const auto& choice = result.choices[side];
    const auto place = choice ? rules.index_of(*choice) : std::nullopt;
    compact.choices[side] = place ? static_cast<std::uint8_t>(*place + 1) : 0;
  }
  compact.drawn_number = static_cast<std::uint8_t>(result.drawn_number.value_or(0));
  return compact;
}

bool CompactResult::same_result(const CompactResult& other) const {
  return reason_fingerprint == other.reason_fingerprint &&
         choices_fingerprint == other.choices_fingerprint && outcome == other.outcome &&
         drawn_number == other.drawn_number;
}

}  // namespace league::league_manager::events
