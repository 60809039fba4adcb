#include "league_manager/new_league.h"

namespace league::league_manager {
namespace {

std::string default_league_id(const ProgramOptions& options, const core::Clock& clock) {
  return "league_" + clock.utc_now().to_wire().substr(0, 4) + "_" + options.game_type;
}

}  // namespace

LeagueSettings league_settings(const ProgramOptions& options, const agent::Settings& limits,
                               const core::Clock& clock) {
  constexpr std::chrono::seconds kMargin{10};
  LeagueSettings settings;
  settings.league_id =
      core::LeagueId(options.league_id.value_or(default_league_id(options, clock)));
  settings.game_type = options.game_type;
  settings.rules = *options.games->find(options.game_type);
  settings.unproven_referees = options.unproven_referees;
  settings.players = options.players.value_or(settings.players);
  settings.referees = options.referees.value_or(settings.referees);
  settings.open_mode = options.common.parsed_mode() == envelope::Mode::kOpen;
  settings.max_attempts = limits.league.max_match_attempts;
  settings.match_time_limit = limits.league.match_watchdog.count() > 0
                                  ? limits.league.match_watchdog
                                  : limits.longest_match() + kMargin;
  settings.lifecycle = {
      .suspend_after_failed_matches = limits.life_cycle.suspend_after_failed_matches,
      .shutdown_after_failed_matches = limits.life_cycle.shutdown_after_failed_matches};
  if (limits.league.round_watchdog.count() > 0)
    settings.round_time_limit = limits.league.round_watchdog;
  return settings;
}

}  // namespace league::league_manager
