#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <random>
#include <set>

#include "common/journal/memory_journal_testing.h"
#include "game/receipt.h"
#include "league_manager/core/league_testing.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::PlayedLeague;

/// A whole league with random results and misfortunes, driven by one seed.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : engine_(seed), played_(random_settings()) {
    played_.enter_all(1 + pick(3), pick(2) == 0);
    played_.step(now());
  }

  /// Plays until the league ends; false if it does not.
  bool run() {
    for (int turn = 0; turn < 200'000; ++turn) {
      if (played_.league.state() == LeagueState::kCompleted) return true;
      seconds_ += pick(20);
      act();
      check_places();
      played_.step(now());
      check_waiting();
    }
    return false;
  }

  [[nodiscard]] const PlayedLeague& played() const { return played_; }

 private:
  int pick(int below) { return static_cast<int>(engine_() % static_cast<unsigned>(below)); }
  [[nodiscard]] core::UtcTimestamp now() const { return at(seconds_); }

  events::LeagueSettings random_settings() {
    events::LeagueSettings settings = testing::settings(2 + pick(11), 1 + pick(4));
    if (settings.players < 6) settings.meetings = 1 + pick(3);
    settings.lifecycle.suspend_after_failed_matches = 1 + pick(4);
    settings.lifecycle.shutdown_after_failed_matches = pick(2) == 0 ? 0 : 2 + pick(6);
    if (pick(4) == 0) settings.round_time_limit = std::chrono::minutes(10);
    return settings;
  }

  void act() {
    const League& league = played_.league;
    int referees = league.status().referees;
    switch (pick(14)) {
      case 0:
        return played_.take(league.decide_referee_lost(pick(referees), now()));
      case 1: {
        const auto referee = events::AgentRef::referee(pick(referees));
        if (auto restored = league.decide_restore(referee, "", now())) played_.take(*restored);
        return played_.take(league.decide_alive(referee, now()));
      }
      case 2:
        return played_.take(
            league.decide_alive(events::AgentRef::player(pick(league.status().players)), now()));
      case 3:
        return played_.take(
            league.decide_silent(events::AgentRef::player(pick(league.status().players)), now()));
      case 4:
        return played_.take(league.decide_tick(now()));
      case 5:
        if (pick(20) == 0) seconds_ += 400;  // everybody is late
        return;
      case 6:
        if (pick(2) == 0) played_.take(league.decide_drain(now()));
        return played_.take(league.decide_continuation(now()));
      case 7:
        return operate();
      default:
        return report();
    }
  }

  /// Any act of an operator, whether it fits or not; an end is rare.
  void operate() {
    const League& league = played_.league;
    OperatorCommand command{.by = "operator", .reason = "random"};
    command.act = league.is_paused() && pick(2) == 0 ? events::OperatorAct::kResume
                                                     : static_cast<events::OperatorAct>(pick(5));
    if (pick(200) == 0) command.act = events::OperatorAct::kEndLeague;
    command.seconds = pick(100);
    command.match = events::MatchKey{1 + pick(std::max(1, league.board().round())), 1 + pick(4)};
    command.replays = pick(3) > 0 && league.schedule().rounds() < 30;
    if (const auto events = league.decide_act(command, now())) played_.take(*events);
  }

  /// A report of any match of the round, from its referee or somebody else, right or stale.
  void report() {
    const League& league = played_.league;
    if (league.board().matches() == 0) return;
    events::MatchKey match{league.board().round(), 1 + pick(league.board().matches())};
    MatchSlot slot = league.board().slot(match);
    int referee = pick(6) == 0 ? pick(league.status().referees) : slot.referee();
    if (referee < 0) referee = 0;
    MatchReport report = testing::report_of(league, match, pick(3));
    if (pick(8) == 0) report.attempt = 1 + pick(3);
    if (pick(8) == 0) report.attempt.reset();
    if (pick(5) == 0) {
      const auto attempt = report.attempt;
      report = testing::technical_report_of(league, match, true);
      report.attempt = attempt;
      report.failures.insert(report.failures.begin(), 3, report.failures.front());
    }
    bool was_open = slot.status == MatchStatus::kAssigned;
    bool rightful = was_open && slot.referee() == referee &&
                    report.attempt.value_or(slot.attempts) == slot.attempts;
    auto decision = hear(referee, report);
    if (rightful && decision.refusal) {
      RC_ASSERT(decision.refusal->code == core::ErrorCode::kLossContradicted ||
                decision.refusal->code == core::ErrorCode::kInvalidResult);
      // A played match without the commitments of players with receipts is only refused.
      const bool is_unbound =
          report.claim.technical_reason.empty() && report.claim.commitments.empty();
      RC_ASSERT(is_unbound || !decision.events.empty());
      return;
    }
    RC_ASSERT(rightful == (!decision.refusal && !decision.is_repeat));
    if (decision.is_repeat) RC_ASSERT(decision.events.empty());
    if (!decision.refusal && rightful) {
      auto again = played_.report(referee, report, now());
      RC_ASSERT(again.is_repeat);
      RC_ASSERT(again.next_matches == decision.next_matches);
    }
  }

  /// Decides a report, with false receipts and players that say anything or nothing.
  ReportDecision hear(int referee, MatchReport report) {
    const auto key_of = [](const std::string& id, const std::string&) { return id; };
    const League& league = played_.league;
    if (pick(4) == 0) {
      const std::string id = report.claim.choices[static_cast<std::size_t>(pick(2))].first;
      const std::string match = report.match.id().str();
      const MatchSlot& slot = league.board().slot(report.match);
      const std::string draw = game::draw_commitment(slot.seed, match);
      report.receipts[id].join =
          game::receipt_of(id, game::join_receipt_text({.league_key = league.settings().league_key,
                                                        .match_id = match,
                                                        .attempt = slot.attempts,
                                                        .draw_commitment = draw},
                                                       pick(2) == 0, ""));
    }
    ReportHearing hearing{.receipt_key = key_of};
    auto decision = league.decide_report(referee, report, now(), hearing);
    while (!decision.ask.empty()) {
      RC_ASSERT(decision.events.empty());
      if (!hearing.answers) hearing.answers.emplace();
      for (int player : decision.ask) {
        PlayerAnswer answer{.player = player, .record = {}};
        if (pick(3) > 0) answer.record.emplace();
        hearing.answers->push_back(std::move(answer));
      }
      RC_ASSERT(hearing.answers->size() <= 2u);
      decision = league.decide_report(referee, report, now(), hearing);
    }
    played_.take(decision.events);
    return decision;
  }

  /// Matches of players who are gone, and those tried too often, are ended and not left waiting.
  void check_waiting() {
    const League& league = played_.league;
    if (league.state() != LeagueState::kRunning) return;
    auto is_gone = [&](int player) {
      return league.roster().agent(events::AgentRef::player(player)).lifecycle.state() ==
             events::AgentState::kShutdown;
    };
    for (events::MatchKey match : league.board().with_status(MatchStatus::kPending)) {
      Pairing pairing = league.schedule().pairing(match);
      RC_ASSERT(!is_gone(pairing.player_a) && !is_gone(pairing.player_b));
      RC_ASSERT(league.board().slot(match).counted_attempts() < league.settings().max_attempts);
    }
  }

  void check_places() {
    const League& league = played_.league;
    for (int i = 0; i < league.status().referees; ++i) {
      const events::Agent& referee = league.roster().agent(events::AgentRef::referee(i));
      RC_ASSERT(league.board().open_count(i) ==
                static_cast<int>(league.board().open_matches(i).size()));
      RC_ASSERT(league.board().open_count(i) <= referee.profile.max_concurrent_matches);
      if (referee.lifecycle.state() != events::AgentState::kActive)
        RC_ASSERT(league.board().open_count(i) == 0);
    }
  }

  std::mt19937 engine_;
  int seconds_ = 0;
  PlayedLeague played_;
};

void check_events(const Simulation& simulation) {
  const League& league = simulation.played().league;
  std::map<events::MatchKey, int> finished;
  std::map<events::MatchKey, int> attempts;
  std::map<events::MatchKey, int> excused;
  std::map<events::MatchKey, int> by_receipt;
  std::map<events::MatchKey, int> by_loss;
  for (const auto& event : simulation.played().events) {
    if (const auto* e = std::get_if<events::MatchReported>(&event.body)) {
      ++finished[e->match];
      RC_ASSERT(e->attempt == attempts[e->match]);
    }
    if (const auto* e = std::get_if<events::MatchForfeited>(&event.body)) ++finished[e->match];
    if (const auto* e = std::get_if<events::MatchAssigned>(&event.body))
      RC_ASSERT(e->attempt == ++attempts[e->match]);
    if (const auto* e = std::get_if<events::MatchReleased>(&event.body)) {
      const bool is_receipt = e->reason == events::kReasonReceiptContradicts;
      const bool is_loss = e->reason == events::kReasonLossContradicted;
      const bool is_gone = e->reason == events::kReasonRefereeLost ||
                           e->reason == events::kReasonRefereeRestarted ||
                           e->reason == events::kReasonFailedMatches ||
                           e->reason == events::kReasonShutDownByOperator;
      excused[e->match] += e->is_excused || is_receipt || is_loss || is_gone ? 1 : 0;
      RC_ASSERT((by_receipt[e->match] += is_receipt ? 1 : 0) <= 2);
      RC_ASSERT((by_loss[e->match] += is_loss ? 1 : 0) <= 1);
    }
    if (const auto* e = std::get_if<events::RoundCompleted>(&event.body)) {
      const events::MatchSummary& s = e->summary;
      const int matches = league.schedule().matches_in(e->round);
      RC_ASSERT(s.total_matches <= matches);
      if (league.voided().empty() && !league.is_ended_early())
        RC_ASSERT(s.total_matches == matches);
      RC_ASSERT(s.wins + s.draws + s.technical_losses == s.total_matches);
      RC_ASSERT(league.round_summary(e->round) == s);
    }
  }
  if (!league.is_ended_early()) RC_ASSERT(finished.size() == league.schedule().total_matches());
  for (const auto& [match, count] : finished) RC_ASSERT(count == 1);
  for (const auto& [match, count] : attempts)
    RC_ASSERT(count - excused[match] <= league.settings().max_attempts);
}

void check_table(const League& league) {
  int expected = 0;
  int counted = 0;
  for (const auto& view : league.schedule_page(0, league.schedule().total_matches())) {
    RC_ASSERT(view.result.has_value() || league.is_ended_early());
    if (!view.result || view.result->is_voided) continue;
    ++counted;
    for (int points : view.result->points.both) expected += points;
  }
  int points = 0;
  int played = 0;
  for (const auto& row : league.standings().table()) {
    RC_ASSERT(row.tally.played <= (league.status().players - 1) * league.schedule().meetings());
    played += row.tally.played;
    points += row.tally.points;
  }
  RC_ASSERT(points == expected);
  RC_ASSERT(played == 2 * counted);
  RC_ASSERT(counted == league.status().finished.total_matches);
  RC_ASSERT(league.champion() == league.standings().table().front().player);
}

TEST(LeagueSimulation, EndsWithEveryMatchCountedOnceWhateverHappens) {
  EXPECT_TRUE(rc::check("league", [] {
    auto seed = *rc::gen::noShrink(rc::gen::arbitrary<unsigned>());
    RC_LOG() << "simulation seed " << seed;
    Simulation simulation(seed);
    RC_ASSERT(simulation.run());
    check_events(simulation);
    check_table(simulation.played().league);
  }));
}

TEST(LeagueSimulation, IsTheSameAfterAReplayOfEveryPrefix) {
  EXPECT_TRUE(rc::check("replay", [] {
    auto seed = *rc::gen::noShrink(rc::gen::arbitrary<unsigned>());
    RC_LOG() << "simulation seed " << seed;
    Simulation simulation(seed);
    RC_ASSERT(simulation.run());
    const PlayedLeague& played = simulation.played();
    journal::MemoryJournal journal;
    RC_ASSERT(journal::append_and_wait(journal, events::to_records(played.events)).has_value());
    // Replaying is applying one by one, so one pass meets every prefix; the other league never saw
    // a journal.
    League live(played.league.settings());
    events::LeagueSettings other_limits = testing::settings(99, 99);
    other_limits.max_attempts = 1;
    League restored(other_limits);
    std::size_t count = 0;
    auto replayed = journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
      auto event = events::from_record(entry.record);
      if (!event) return event.error();
      if (auto applied = live.apply(played.events[count++]); !applied) return applied;
      if (auto applied = restored.apply(*event); !applied) return applied;
      RC_ASSERT(testing::dump(restored) == testing::dump(live));
      return {};
    });
    RC_ASSERT(replayed.has_value());
    RC_ASSERT(count == played.events.size());
    RC_ASSERT(testing::dump(restored) == testing::dump(played.league));
  }));
}

/// Plays to the end without any failure.
void play(PlayedLeague& played) {
  int count = 0;
  played.step();
  while (played.league.state() == LeagueState::kRunning) {
    for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      int referee = played.league.board().slot(match).referee();
      auto decision = played.report(referee, testing::report_of(played.league, match, ++count % 3));
      ASSERT_FALSE(decision.refusal) << decision.refusal->message;
    }
    played.step();
  }
}

TEST(LeagueSimulation, LoadsRefereesEvenly) {
  PlayedLeague played(testing::settings(8, 2));
  played.enter_all(2);
  play(played);
  EXPECT_EQ(played.league.status().finished.total_matches, 28);
  EXPECT_EQ(played.league.status().finished.technical_losses, 0);
  EXPECT_EQ(played.league.board().assigned_total(0), 14);
  EXPECT_EQ(played.league.board().assigned_total(1), 14);
}

TEST(LeagueSimulation, FiftyPlayersPlay1225Matches) {
  PlayedLeague played(testing::settings(50, 3));
  played.enter_all(4);
  play(played);
  EXPECT_EQ(played.league.state(), LeagueState::kCompleted);
  EXPECT_EQ(played.league.status().finished.total_matches, 1225);
}

}  // namespace
}  // namespace league::league_manager
