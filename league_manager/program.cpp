#include "league_manager/program.h"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/agent/agent_host.h"
#include "common/journal/memory_journal.h"
#include "common/transport/signals.h"
#include "league_manager/manager_service.h"
#include "league_manager/operator_key.h"

namespace league::league_manager {
namespace {

core::LeagueId league_id(const ProgramOptions& options, const core::Clock& clock) {
  if (!options.league_id.empty()) return core::LeagueId(options.league_id);
  return core::LeagueId("league_" + clock.utc_now().to_wire().substr(0, 4) + "_" +
                        options.game_type);
}

LeagueSettings league_settings(const ProgramOptions& options, const agent::Settings& limits,
                               const core::LeagueId& id) {
  constexpr std::chrono::seconds kMargin{10};
  LeagueSettings settings;
  settings.league_id = id;
  settings.game_type = options.game_type;
  settings.players = options.players;
  settings.referees = options.referees;
  settings.open_mode = options.common.parsed_mode() == envelope::Mode::kOpen;
  settings.max_attempts = limits.league.max_match_attempts;
  settings.match_time_limit = limits.league.match_watchdog.count() > 0
                                  ? limits.league.match_watchdog
                                  : limits.longest_match() + kMargin;
  settings.lifecycle = {.timeouts_in_a_row = limits.life_cycle.timeouts_in_a_row,
                        .connection_errors = limits.life_cycle.connection_errors,
                        .connection_window = limits.life_cycle.connection_error_window,
                        .validation_errors = limits.life_cycle.validation_errors,
                        .failures_in_all = limits.life_cycle.total_failures,
                        .suspension_limit = limits.life_cycle.max_suspension};
  return settings;
}

}  // namespace

int run(const ProgramOptions& options, transport::StopSignal& stop) {
  auto settings = options.common.settings();
  if (!settings) return agent::fail(settings.error());
  auto policy = transport::EndpointPolicy::parse(options.endpoints);
  if (!policy) return agent::fail(policy.error());
  auto host = agent::AgentHost::create(*settings, options.common.schemas());
  if (!host) return agent::fail(host.error());

  core::CryptoRandom random;
  const core::Clock& clock = (*host)->clock();
  core::LeagueId id = league_id(options, clock);
  std::error_code ignored;
  std::filesystem::create_directories(options.data, ignored);  // the next line says what is wrong
  auto vault = TokenVault::open(id, options.data / "secret.key", random);
  if (!vault) return agent::fail(vault.error());
  auto key = open_operator_key(options.operator_key_file.empty()
                                   ? options.data / "operator.key"
                                   : std::filesystem::path(options.operator_key_file),
                               random);
  if (!key) return agent::fail(key.error());
  auto log = audit::league_log_path(options.common.logs, id.str());
  if (!log) return agent::fail(log.error());
  auto port = agent::AgentPort::open(**host, {.log = *log,
                                              .agent = "league_manager",
                                              .league_id = id.str(),
                                              .mode = options.common.parsed_mode()});
  if (!port) return agent::fail(port.error());

  journal::DiscardingJournal journal;
  Ledger ledger(league_settings(options, *settings, id), journal, clock);
  if (auto opened = ledger.open(); !opened) return agent::fail(opened.error());
  envelope::EnvelopeBuilder envelopes(envelope::Sender::league_manager(), id, clock);
  Conductor conductor(
      {.ledger = ledger,
       .vault = *vault,
       .peers = (*port)->peers(),
       .timer = (*host)->timer(),
       .clock = clock,
       .random = random,
       .settings = *settings,
       .envelopes = envelopes,
       .may_start = [&log_file = (*port)->log()] { return log_file.free_space_ok(); }});
  EndpointAdmission endpoints(std::move(*policy));
  ManagerService service(
      {.mode = options.common.parsed_mode(), .league_id = id, .operator_key = *key},
      {.ledger = ledger,
       .conductor = conductor,
       .vault = *vault,
       .random = random,
       .clock = clock,
       .schemas = (*host)->schemas(),
       .envelopes = envelopes,
       .endpoints = endpoints});
  conductor.on_finished([&] {
    spdlog::info("league {} is over: {}", id.str(), service.status()["champion"].dump());
    std::printf("finished %s\n", id.str().c_str());  // for `league up`: everybody has been told
    std::fflush(stdout);
  });

  auto served =
      (*port)->serve(agent::server_options(*settings, options.common.bind_address,
                                           options.common.port, options.common.allow_hosts),
                     service.handler());
  if (!served) return agent::fail(served.error());
  conductor.start(std::chrono::seconds(options.registration_window_seconds));
  std::string url = options.common.contact_endpoint((*port)->port());
  spdlog::info("league {} waits for {} players and {} referees at {}", id.str(), options.players,
               options.referees, url);
  agent::announce_ready(url, id.str());

  stop.wait();
  conductor.stop();
  (*port)->stop_serving();
  (*host)->shut_down();
  return 0;
}

}  // namespace league::league_manager
