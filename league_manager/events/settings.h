#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/core/ids.h"
#include "game/games.h"
#include "league_manager/events/agent_lifecycle.h"

namespace league::league_manager::events {

/// Which third-party referees may report without the seed of the draw. Source: protocol §7, "The
/// manager judges".
enum class UnprovenReferees : std::uint8_t {
  kNone,
  kFromLoopback,  ///< in open mode, those that registered from this machine
  kAll,
  kTokenless,  ///< all, and players of their matches take calls without a token as well
};

/// How often two players can meet, and how many matches a league can have.
inline constexpr int kMostMeetings = 100;
inline constexpr std::int64_t kMostMatches = 2'000'000'000;

/// What a person or a chat program has for its answers, each of which is asked for once. Source:
/// protocol §10, "Time for people".
struct SeatLimits {
  std::chrono::milliseconds invitation{60'000};
  std::chrono::milliseconds choice{60'000};
};

/// The rules of one league, fixed when the manager starts. Only decisions read them; applying an
/// event never does, so a league can be continued with other limits.
struct LeagueSettings {
  core::LeagueId league_id{"league_even_odd"};
  std::string league_key = {};  ///< public (TokenIssuer): tells this league from all others
  game::SharedDefinition rules = game::even_odd();  ///< of the game that is played
  int players = 2;  ///< the league is full and starts with this many (2 ... 32,000) ...
  int referees = 1;  ///< ... and this many
  int meetings = 1;  ///< how often each pair meets, at most kMostMeetings
  /// Before the start, let an agent come back with the same endpoint and name but without a
  /// credential (protocol §8).
  bool open_mode = true;
  int max_attempts = 3;  ///< how often one match may be assigned
  /// How long a referee may take for one match: by default the time for all attempts of all calls
  /// of protocol §6, with a margin.
  std::chrono::microseconds match_time_limit = std::chrono::minutes(3);
  /// The same for a match in which a person or a chat program plays.
  std::chrono::microseconds slow_match_time_limit = std::chrono::minutes(4);
  SeatLimits seat_limits;
  int people = 32'000;  ///< at most so many players are people or chat programs
  /// After this time every unfinished match of a round is ended; nothing: computed from the other
  /// limits, see League::round_limit.
  std::optional<std::chrono::microseconds> round_time_limit;
  LifecycleSettings lifecycle;
  UnprovenReferees unproven_referees = UnprovenReferees::kFromLoopback;
  /// Only players that declare receipts, and so commit in every match, may register (protocol §7).
  bool requires_commitments = false;

  /// Whether a third-party referee may keep the seed secret.
  [[nodiscard]] bool may_be_unproven(bool is_from_loopback) const {
    if (unproven_referees == UnprovenReferees::kFromLoopback) return open_mode && is_from_loopback;
    return unproven_referees >= UnprovenReferees::kAll;
  }
};

}  // namespace league::league_manager::events
