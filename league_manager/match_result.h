#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace league::league_manager {

enum class Parity : std::uint8_t { kEven, kOdd };

/// `even`, `odd`.
[[nodiscard]] std::string_view parity_name(Parity parity);
/// Exactly `even` or `odd`. Source: protocol §4, message 9.
[[nodiscard]] std::optional<Parity> parse_parity(std::string_view text);

/// How a match ended for the table; `kNoWinner` is a technical loss of both.
enum class Outcome : std::uint8_t { kPlayerAWins, kPlayerBWins, kDraw, kNoWinner };

/// `A`, `B`, `DRAW`, `NONE`: as the journal writes them.
[[nodiscard]] std::string_view outcome_name(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view text);

/// Points of player A and of player B: 3-0, 1-1 or 0-0. Source: protocol §6, §7.
struct Points {
  int a = 0;
  int b = 0;

  bool operator==(const Points&) const = default;
};
[[nodiscard]] Points points_of(Outcome outcome);

/// Reasons that the manager itself gives for ending a match without a referee's report.
inline constexpr std::string_view kReasonPlayerShutDown = "PLAYER_SHUT_DOWN";
inline constexpr std::string_view kReasonNoReferee = "NO_REFEREE";
inline constexpr std::string_view kReasonRoundTimeLimit = "ROUND_TIME_LIMIT";

/// The result of a match. `technical_reason` is machine-readable and empty unless somebody lost for
/// a failure.
struct MatchResult {
  Outcome outcome = Outcome::kNoWinner;
  std::optional<int> drawn_number;
  std::optional<Parity> choice_a;
  std::optional<Parity> choice_b;
  std::string technical_reason;

  [[nodiscard]] bool is_technical() const { return !technical_reason.empty(); }
  [[nodiscard]] static MatchResult technical(Outcome outcome, std::string_view reason);

  bool operator==(const MatchResult&) const = default;
};

inline constexpr int kMostIncidents = 100;

/// A finished match in few bytes; the full result is in the journal. The reason is kept as a
/// fingerprint only, enough to tell a repeated report from a different one.
struct CompactResult {
  std::uint32_t reason_fingerprint = 0;  ///< 0 for a match that was played
  std::int16_t referee = -1;  ///< who had it last; -1 for nobody
  std::uint16_t attempt = 0;  ///< the last one; 0 if never assigned
  Outcome outcome = Outcome::kNoWinner;
  std::uint8_t drawn_number = 0;  ///< 0 for none
  std::uint8_t choices = 0;  ///< two bits each for A and B
  bool by_manager : 1 = false;  ///< ended without a report
  std::uint8_t incidents : 7 =
      0;  ///< conflicting and stale reports on record, at most kMostIncidents

  [[nodiscard]] static CompactResult of(const MatchResult& result);
  /// The same result, whoever reported it.
  [[nodiscard]] bool same_result(const CompactResult& other) const;
  [[nodiscard]] bool is_technical() const { return reason_fingerprint != 0; }
  [[nodiscard]] std::optional<Parity> choice_a() const;
  [[nodiscard]] std::optional<Parity> choice_b() const;

  bool operator==(const CompactResult&) const = default;
};

}  // namespace league::league_manager
