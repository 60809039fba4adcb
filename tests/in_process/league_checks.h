#pragma once

#include <string>
#include <vector>

#include "tests/support/league_fixture.h"

namespace league::testing {

/// Expects that every match of the schedule has ended exactly once and that the table is what the
/// results add up to.
void expect_sound(const LeagueFixture& league);

/// `P01 3 P02 0 NORMAL`: how the match `R1M1` ended, from the manager's journal.
[[nodiscard]] std::string ending_of(const LeagueFixture& league, const std::string& match_id);

[[nodiscard]] league_manager::events::AgentState state_of(const LeagueFixture& league,
                                                          league_manager::events::AgentRef agent);

/// The bodies of all events of one kind.
template <typename Body>
[[nodiscard]] std::vector<Body> events_of(const LeagueFixture& league) {
  std::vector<Body> found;
  for (const auto& event : league.events()) {
    if (const auto* body = std::get_if<Body>(&event.body)) found.push_back(*body);
  }
  return found;
}

/// What is in the log of `agent` with this direction, kind and type.
[[nodiscard]] std::vector<Spoken> spoken(const LeagueFixture& league, const std::string& agent,
                                         audit::record::Direction direction,
                                         audit::record::Kind kind, std::string_view type);

}  // namespace league::testing
