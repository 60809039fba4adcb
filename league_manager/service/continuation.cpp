#include "league_manager/service/continuation.h"

#include <algorithm>

#include "league_manager/core/league.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager::service {
namespace {

core::Error contradiction(const std::string& option, const std::string& wanted,
                          const std::string& present) {
  return {core::ErrorCode::kInternalError,
          "the data directory contains a league with " + option + " " + present + ", and " +
              option + " " + wanted +
              " was given: omit the option to continue that league, add --new to archive it and "
              "start a new one, or use another --data",
          ""};
}

core::Error foreign_key() {
  return {core::ErrorCode::kInternalError,
          "secret.key does not belong to the league of this data directory, so its agents' tokens "
          "would be invalid: restore the right key, or add --new to archive the league and start "
          "another",
          ""};
}

}  // namespace

events::LeagueSettings settings_from(const agent::runtime::Settings& limits) {
  constexpr std::chrono::seconds kMargin{10};
  events::LeagueSettings settings;
  settings.max_attempts = limits.league.max_match_attempts;
  settings.match_time_limit = limits.league.match_watchdog.count() > 0
                                  ? limits.league.match_watchdog
                                  : limits.longest_match() + kMargin;
  settings.slow_match_time_limit = std::max<std::chrono::microseconds>(
      settings.match_time_limit, limits.longest_slow_match() + kMargin);
  settings.seat_limits = {limits.seat_limits.invitation, limits.seat_limits.choice};
  settings.people = limits.league.people;
  settings.lifecycle = {
      .suspend_after_failed_matches = limits.life_cycle.suspend_after_failed_matches,
      .shutdown_after_failed_matches = limits.life_cycle.shutdown_after_failed_matches};
  settings.requires_commitments = limits.league.require_commitments;
  if (limits.league.round_watchdog.count() > 0)
    settings.round_time_limit = limits.league.round_watchdog;
  return settings;
}

core::Result<std::optional<events::LeagueCreated>> read_creation(const journal::Journal& journal) {
  std::optional<core::Result<events::Event>> first;
  auto read = journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
    first = events::from_record(entry.record);
    return core::Error{core::ErrorCode::kInternalError, "one is enough", ""};
  });
  if (!first) {
    if (!read) return read.error();
    return std::optional<events::LeagueCreated>();
  }
  if (!*first) return first->error();
  if (const auto* creation = std::get_if<events::LeagueCreated>(&(**first).body))
    return std::optional(*creation);
  return core::Error{core::ErrorCode::kInternalError,
                     "the journal does not begin with the creation of a league", ""};
}

core::Result<void> continue_with(events::LeagueSettings& settings,
                                 const events::LeagueCreated& creation,
                                 const WantedLeague& wanted) {
  if (wanted.league_id && *wanted.league_id != creation.league_id.str())
    return contradiction("--league", *wanted.league_id, creation.league_id.str());
  if (wanted.players && *wanted.players != creation.players) {
    return contradiction("--players", std::to_string(*wanted.players),
                         std::to_string(creation.players));
  }
  if (wanted.referees && *wanted.referees != creation.referees) {
    return contradiction("--referees", std::to_string(*wanted.referees),
                         std::to_string(creation.referees));
  }
  const int meetings = creation.meetings.value_or(1);
  if (wanted.meetings && *wanted.meetings != meetings)
    return contradiction("--meetings", std::to_string(*wanted.meetings), std::to_string(meetings));
  auto rules = events::game_of(creation);
  if (!rules) return rules.error();
  if (wanted.game && *wanted.game != **rules) {
    const bool is_namesake = wanted.game->game_type() == creation.game_type;
    return contradiction("--game",
                         wanted.game->game_type() + (is_namesake ? " with other rules" : ""),
                         creation.game_type);
  }
  settings.league_id = creation.league_id;
  settings.league_key = creation.league_key.value_or(std::string());
  settings.rules = std::move(*rules);
  settings.players = creation.players;
  settings.referees = creation.referees;
  settings.meetings = meetings;
  return {};
}

core::Result<void> note_given_up(files::Ledger& ledger, const std::optional<std::string>& what) {
  if (!what) return {};
  return ledger.commit_and_wait([&](const League&, core::UtcTimestamp now) {
    return events::Events{{now, events::LeagueContinued{.given_up = *what}}};
  });
}

core::Result<void> take_league_key(events::LeagueSettings& settings,
                                   const admission::TokenIssuer& token_issuer) {
  std::string key = token_issuer.league_key().public_key();
  if (!settings.league_key.empty() && settings.league_key != key) return foreign_key();
  settings.league_key = std::move(key);
  return {};
}

core::Result<void> check_token_issuer(const League& league,
                                      const admission::TokenIssuer& token_issuer) {
  for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    if (league.roster().count(kind) == 0) continue;
    events::AgentRef first{kind, 0};
    const events::Credential& credential = league.roster().agent(first).credential;
    if (token_issuer.token(first.id(), credential.nonce).hash() == credential.token_hash) continue;
    return foreign_key();
  }
  return {};
}

}  // namespace league::league_manager::service
