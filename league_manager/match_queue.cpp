#include "league_manager/match_queue.h"

#include <algorithm>
#include <vector>

namespace league::league_manager {
namespace {

struct Waiting {
  MatchKey match;
  int attempt;  ///< the next one
};

/// The matches that wait, where anybody comes for them.
std::vector<Waiting> waiting_matches(const League& league) {
  std::vector<Waiting> waiting;
  if (!league.settings().has_queue || league.state() != LeagueState::kRunning) return waiting;
  auto referees = league.roster().agents(AgentKind::kReferee);
  bool any_comes = std::ranges::any_of(
      referees, [](const Agent& referee) { return referee.profile.takes_from_queue; });
  if (!any_comes) return waiting;
  for (MatchKey match : league.board().with_status(MatchStatus::kPending))
    waiting.push_back({match, league.board().slot(match).attempts + 1});
  return waiting;
}

}  // namespace

QueueKeeper::QueueKeeper(const Ledger& ledger, MatchQueue& queue, const core::Clock& clock,
                         std::chrono::milliseconds patience)
    : ledger_(ledger), queue_(queue), clock_(clock), patience_(patience) {}

void QueueKeeper::sync() {
  constexpr int kMostDoublings = 6;
  auto waiting = ledger_.read([](const League& league) { return waiting_matches(league); });
  auto now = clock_.steady_now();
  struct Offer {
    Waiting waiting;
    int repetition;
  };
  std::vector<Offer> offers;
  {
    std::lock_guard lock(mutex_);
    std::map<MatchKey, Offered> kept;
    for (const auto& one : waiting) {
      auto known = offered_.find(one.match);
      bool is_new = known == offered_.end() || known->second.attempt != one.attempt;
      Offered offered = is_new ? Offered{one.attempt} : known->second;
      if (is_new || now >= offered.due) {
        if (!is_new) ++offered.repetitions;
        offered.due = now + patience_ * (1 << std::min(offered.repetitions, kMostDoublings));
        offers.push_back({one, offered.repetitions});
      }
      kept.emplace(one.match, offered);
    }
    offered_ = std::move(kept);
  }
  for (const auto& [one, repetition] : offers) queue_.offer(one.match, one.attempt, repetition);
}

}  // namespace league::league_manager
