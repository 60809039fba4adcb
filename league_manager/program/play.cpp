// How a manager plays its league, from the first round until somebody stops it.
#include <cstdio>

#include "common/agent/runtime/log.h"
#include "common/agent/runtime/operations_log.h"
#include "common/core/counted.h"
#include "common/transport/link/signals.h"
#include "league_manager/program/running_program.h"
#include "league_manager/rounds/league_view.h"

namespace league::league_manager {
namespace {

/// How a league that is over ended, in one sentence for its operator.
std::string end_of_league(const core::LeagueId& id, const League& league) {
  std::string text = "league " + id.str() + " is over";
  if (!league.champion()) return text;
  const auto champion = *rounds::league_completed(league).champion;
  text += ": " + champion.player_id.str() + " '" + champion.display_name + "' is first with " +
          core::counted(champion.points, "point");
  const auto shared = rounds::shared_first_place(league);
  if (shared.size() < 2) return text;
  text += ", and shares first place with";
  for (const std::string& other : shared)
    if (other != champion.player_id.str()) text += " " + other;
  return text;
}

/// The progress of a league that continues at `url`, in one sentence.
std::string continuation_of(const core::LeagueId& id, const std::string& url,
                            const League& league) {
  const LeagueStatus status = league.status();
  const auto of = [](auto number, auto all) {
    return std::to_string(number) + " of " + std::to_string(all);
  };
  return "league " + id.str() + " continues at " + url + ": " +
         std::string(league_state_name(status.state)) + ", " +
         of(status.players, league.settings().players) + " players, round " +
         of(status.current_round, status.total_rounds) + ", " +
         of(status.finished.total_matches, status.total_matches) + " matches are finished";
}

/// Says who can register, if programs of other machines can call the manager.
void warn_who_can_register(const agent::host::ProgramOptions& common,
                           const admission::Admission& admission) {
  const std::string& address = common.bind_address;
  const bool is_local = address.starts_with("127.") || address == "::1" || address == "localhost";
  if (is_local && !common.bus.is_wanted()) return;
  agent::runtime::log::warn("the manager {}: {}. Moreover, {}.",
                            is_local ? std::string("is on a bus") : "listens on " + address,
                            admission.players_text(), admission.referees_text());
}

}  // namespace

void Program::on_finished() {
  operator_log_->say(false, "LEAGUE_COMPLETED", ledger_->read([this](const League& league) {
    return end_of_league(id(), league);
  }));
  std::printf("finished %s\n", id().str().c_str());  // tells `league up` that all agents have been
                                                     // notified
  std::fflush(stdout);
  projections_.write_all_now();
}

void Program::tell_operator() {
  const std::string url = options_.common.contact_endpoint(port_->port());
  if (ledger_->is_continued()) {
    operator_log_->say(false, "LEAGUE_CONTINUED", ledger_->read([&](const League& league) {
      return continuation_of(id(), url, league);
    }));
  } else {
    operator_log_->say(false, "LEAGUE_OPENED",
                       "league " + id().str() + " waits for " +
                           core::counted(store_->settings().players, "player") + " and " +
                           core::counted(store_->settings().referees, "referee") + " at " + url);
  }
  warn_who_can_register(options_.common, *admission_);
  agent::host::announce_ready(url, id().str());
}

void Program::play(ManagerReload* reload) {
  agent::runtime::flush_log_regularly(host_->timer());
  codes_->follow(host_->timer());
  if (reload != nullptr) reload->follow(host_->timer(), settings_, *port_, *operator_log_);
  league_runner_->start(std::chrono::seconds(options_.registration_window_seconds));
  if (store_->is_kept()) projector_->start();
  tell_operator();

  if (stop_.wait() > 0) drain_->run(stop_);
  if (webhooks_) webhooks_->finish(std::chrono::seconds(2));  // of running deliveries
  league_runner_->stop();
  pages_->finish();
  if (events_.feed) events_.feed->stop();
  port_->begin_stop();
  hosts_->stop();
  seats_->stop();
  port_->stop_serving();
  pages_->stop();
  delays_->stop();
  store_->hand_over();
  host_->shut_down();
  store_->close();
  projections_.stop();
}

int run(const ProgramOptions& options, transport::link::StopSignal& stop, const FaultHooks& hooks,
        ManagerReload* reload) {
  Program program(options, stop, hooks);
  auto leads = program.open();
  if (!leads) return agent::host::fail(leads.error());
  if (*leads) program.play(reload);
  return program.exit_code();
}

}  // namespace league::league_manager
