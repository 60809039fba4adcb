#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/core/crypto.h"
#include "league_manager/core/league.h"

namespace league::league_manager::testing {

inline core::UtcTimestamp at(int seconds) {
  return core::UtcTimestamp(
      core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000 + seconds)));
}

inline events::AgentProfile profile(const std::string& name, int port, int capacity = 1) {
  events::AgentProfile profile;
  profile.display_name = name;
  profile.version = "1.0.0";
  profile.game_types = {"even_odd"};
  profile.endpoint = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  profile.max_concurrent_matches = capacity;
  profile.match_credentials = true;
  profile.assignments_in_ack = true;
  return profile;
}

inline RegistrationFacts facts(const std::string& nonce, core::UtcTimestamp now = at(0)) {
  return {now, nonce,
          [](const std::string& id, const std::string& n) { return "hash-" + id + "-" + n; }};
}

/// Everything that the league holds. Equal leagues give equal texts.
[[nodiscard]] std::string dump(const League& league);

/// A league together with all of its events, as a shell would run it.
struct PlayedLeague {
  explicit PlayedLeague(events::LeagueSettings settings) : league(std::move(settings)) {
    take(league.decide_creation(at(0)));
  }

  void take(const events::Events& decided) {
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

  void enter_all(int capacity, bool with_receipts = false) {
    for (int i = 0; i < league.settings().players; ++i) {
      RegistrationRequest player{events::AgentKind::kPlayer,
                                 profile((i < 10 ? "p" : "p_") + std::to_string(i), 10000 + i),
                                 {},
                                 {}};
      player.profile.receipts = with_receipts;
      if (!enter(player)) throw std::logic_error("player refused");
    }
    for (int i = 0; i < league.settings().referees; ++i) {
      if (!enter({events::AgentKind::kReferee,
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
  events::Events events;
  bool keep_events = true;
  std::uint8_t next_seed = 1;
};

inline events::LeagueSettings settings(int players, int referees) {
  events::LeagueSettings settings;
  settings.players = players;
  settings.referees = referees;
  return settings;
}

/// Choices and, where somebody is to win, nonces of both players with which `match` ends so: 0 a
/// draw, 1 A wins, 2 B wins.
inline game::Claim claim_for(const events::DrawSeed& seed,
                             const game::PerSide<std::string>& players, const std::string& match,
                             int kind) {
  using game::Side;
  const game::Definition& rules = *game::even_odd();
  const game::Choices choices = {{"even", kind == 0 ? "even" : "odd"}};
  const std::string commitment = game::draw_commitment(seed, match);
  for (int i = 0;; ++i) {
    game::Claim claim;
    game::Bindings bindings;
    for (Side side : game::kBothSides) {
      claim.choices.emplace_back(players[side], choices[side]);
      if (kind == 0) continue;
      const std::string nonce = core::to_hex(core::sha256(std::to_string(i)));
      bindings.nonces[side] = nonce;
      bindings.commitments[side] =
          game::choice_commitment({commitment, match, players[side], choices[side], nonce});
      claim.nonces.emplace_back(players[side], nonce);
      claim.commitments.emplace_back(players[side], bindings.commitments[side]);
    }
    auto [result, reason] = game::play(rules, {seed, match, choices, bindings});
    const auto winner = game::winner_of(result.outcome);
    if (kind != 0 && winner != (kind == 1 ? Side::kA : Side::kB)) continue;
    claim.drawn_number = result.drawn_number;
    claim.number_kind = rules.kind_of(*result.drawn_number);
    claim.draw_version = game::draw_version(bindings);
    claim.seed = core::to_hex(seed);
    if (winner) claim.winner = players[*winner];
    auto& score = claim.score.emplace();
    for (Side side : game::kBothSides)
      score.emplace_back(players[side], game::points_of(rules, result)[side]);
    return claim;
  }
}

/// A correct report of a match as it stands: 0 a draw, 1 A wins, 2 B wins. Of a match of an earlier
/// round the seed is not known any more, so its number is not true.
inline MatchReport report_of(const League& league, events::MatchKey match, int kind) {
  auto view = *league.match(match);
  MatchReport report;
  report.match = match;
  report.attempt = view.attempt;
  report.round = match.round;
  report.game_type = league.settings().rules->game_type();
  report.conversation = events::match_conversation(match, view.attempt).str();
  const events::DrawSeed seed =
      league.board().contains(match) ? league.board().slot(match).seed : events::DrawSeed{};
  report.claim = claim_for(seed,
                           {{events::AgentRef::player(view.pairing.player_a).id(),
                             events::AgentRef::player(view.pairing.player_b).id()}},
                           match.id().str(), kind);
  return report;
}

/// The same match, lost by player B (or by both) for a failure that the report names.
inline MatchReport technical_report_of(const League& league, events::MatchKey match,
                                       bool both = false) {
  MatchReport report = report_of(league, match, 0);
  auto& claim = report.claim;
  const auto& [a, b] = std::pair(claim.choices[0].first, claim.choices[1].first);
  if (!both) claim.winner = a;
  claim.score = {{a, both ? 0 : 3}, {b, 0}};
  claim.choices = {{a, std::nullopt}, {b, std::nullopt}};
  claim.drawn_number.reset();
  claim.number_kind.reset();
  claim.technical_reason = both ? "BOTH_FAILED" : "CONNECTION_JOIN";
  report.failures.push_back({.player_id = b, .kind = events::FailureKind::kConnection});
  if (both) report.failures.push_back({.player_id = a, .kind = events::FailureKind::kConnection});
  return report;
}

/// A league of `settings` in which everybody is registered and whose first round is announced.
inline PlayedLeague started(events::LeagueSettings settings, int capacity = 1) {
  PlayedLeague played(std::move(settings));
  played.enter_all(capacity);
  played.step();
  return played;
}

inline events::AgentState state_of(const PlayedLeague& played, events::AgentRef agent) {
  return played.league.roster().agent(agent).lifecycle.state();
}

inline RegistrationRequest player(const std::string& name, int port) {
  return {events::AgentKind::kPlayer, profile(name, port), {}, {}};
}

inline RegistrationRequest referee(const std::string& name, int port) {
  return {events::AgentKind::kReferee, profile(name, port), {}, {}};
}

}  // namespace league::league_manager::testing
