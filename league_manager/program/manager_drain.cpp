#include "league_manager/program/manager_drain.h"

#include "common/agent/runtime/log.h"

namespace league::league_manager {

void ManagerDrain::run(transport::link::StopSignal& stop) {
  constexpr std::chrono::milliseconds kInterval{50};
  has_begun_ = true;
  if (patience_.count() == 0) return;
  ledger_.commit(
      [](const League& league, core::UtcTimestamp now) { return league.decide_drain(now); },
      [](const core::Result<events::Events>&) {});
  if (matches_in_play() == 0) return;
  agent::runtime::log::info(
      "running matches: {}; they have up to {} s to finish, and a second signal ends "
      "the manager at once",
      matches_in_play(), patience_.count());
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  while (matches_in_play() > 0 && std::chrono::steady_clock::now() < deadline &&
         stop.wait_for(kInterval) < 0) {
  }
  if (const auto left = matches_in_play(); left > 0)
    agent::runtime::log::warn("unfinished matches: {}; they start over when the league continues",
                              left);
}

std::size_t ManagerDrain::matches_in_play() const {
  return ledger_.read([](const League& league) {
    return league.board().with_status(MatchStatus::kAssigned).size();
  });
}

}  // namespace league::league_manager
