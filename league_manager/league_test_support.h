#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "league_manager/league.h"

namespace league::league_manager::testing {

inline core::UtcTimestamp at(int seconds) {
  return core::UtcTimestamp(
      core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000 + seconds)));
}

inline AgentProfile profile(const std::string& name, int port, int capacity = 1) {
  AgentProfile profile;
  profile.display_name = name;
  profile.version = "1.0.0";
  profile.game_types = {"even_odd"};
  profile.endpoint = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  profile.max_concurrent_matches = capacity;
  return profile;
}

inline RegistrationFacts facts(const std::string& nonce, core::UtcTimestamp now = at(0)) {
  return {now, nonce,
          [](const std::string& id, const std::string& n) { return "hash-" + id + "-" + n; }};
}

/// A league together with all of its events, as a shell would run it.
struct Played {
  explicit Played(LeagueSettings settings) : league(std::move(settings)) {
    take(league.decide_creation(at(0)));
  }

  void take(const Events& decided) {
    for (const auto& event : decided) {
      auto applied = league.apply(event);
      if (!applied) throw std::logic_error(applied.error().message);
      if (keep_events) events.push_back(event);
    }
  }

  core::Result<RegistrationDecision> enter(const RegistrationRequest& request,
                                           const std::string& nonce = "n",
                                           core::UtcTimestamp now = at(0)) {
    auto decision = league.decide_register(request, facts(nonce, now));
    if (decision) take(decision->events);
    return decision;
  }

  void enter_all(int capacity) {
    for (int i = 0; i < league.settings().players; ++i) {
      if (!enter({AgentKind::kPlayer,
                  profile(std::string("p").append(std::to_string(i)), 10000 + i),
                  {},
                  {}})) {
        throw std::logic_error("player refused");
      }
    }
    for (int i = 0; i < league.settings().referees; ++i) {
      if (!enter({AgentKind::kReferee,
                  profile(std::string("r").append(std::to_string(i)), 9000 + i, capacity),
                  {},
                  {}})) {
        throw std::logic_error("referee refused");
      }
    }
  }

  /// All steps that are due.
  void step(core::UtcTimestamp now = at(0)) {
    while (league.due() != Step::kNone) {
      StepFacts facts{now, {}};
      facts.draw_seeds.resize(league.seeds_needed());
      for (auto& seed : facts.draw_seeds) seed[0] = next_seed++;
      take(*league.decide_step(facts));
    }
  }

  ReportDecision report(int referee, const MatchReport& report, core::UtcTimestamp now = at(0)) {
    auto decision = league.decide_report(referee, report, now);
    take(decision.events);
    return decision;
  }

  League league;
  Events events;
  bool keep_events = true;
  std::uint8_t next_seed = 1;
};

inline LeagueSettings settings(int players, int referees) {
  LeagueSettings settings;
  settings.players = players;
  settings.referees = referees;
  return settings;
}

/// A correct report of a match as it stands: 0 both right, 1 A wins, 2 B wins.
inline MatchReport report_of(const League& league, MatchKey match, int kind) {
  auto view = *league.match(match);
  std::string a = AgentRef::player(view.pairing.player_a).id();
  std::string b = AgentRef::player(view.pairing.player_b).id();
  MatchReport report;
  report.match = match;
  report.attempt = view.attempt;
  report.drawn_number = 4;
  report.choices = {{a, kind == 2 ? "odd" : "even"}, {b, kind == 1 ? "odd" : "even"}};
  if (kind == 1) report.winner_id = a;
  if (kind == 2) report.winner_id = b;
  report.score = {{a, kind == 0 ? 1 : (kind == 1 ? 3 : 0)},
                  {b, kind == 0 ? 1 : (kind == 2 ? 3 : 0)}};
  return report;
}

}  // namespace league::league_manager::testing
