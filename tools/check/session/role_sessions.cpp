// Sessions with referees and with league managers.
#include <iostream>
#include <thread>

#include "common/transport/front/http_server.h"
#include "tools/check/cases/cases.h"
#include "tools/check/engine.h"
#include "tools/check/session/player_session.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using core::Error;
using core::ErrorCode;
using Steady = std::chrono::steady_clock;

Report run_role(const std::vector<Check>& checks, const SessionOptions& options, RunOptions run,
                std::string subject) {
  const auto begun = Steady::now();
  Report report;
  report.subject = std::move(subject);
  report.role = options.role;
  run.only = options.only;
  run.budget = milliseconds(options.is_fast ? 3500 : 50'000);
  report.findings = run_checks(checks, run);
  report.took = std::chrono::duration_cast<milliseconds>(Steady::now() - begun);
  return report;
}

/// The endpoint of the manager under test; if the checker has started it, waits until it listens.
core::Result<transport::link::Endpoint> manager_endpoint(const SessionOptions& options,
                                                         const StartedBot* started) {
  const std::string url = started == nullptr || started->port() == 0
                              ? options.endpoint
                              : "http://127.0.0.1:" + std::to_string(started->port()) + "/mcp";
  auto endpoint = transport::link::parse_endpoint(url);
  if (!endpoint || endpoint->scheme != "http") return endpoint;
  const auto until = Steady::now() + std::chrono::seconds(started == nullptr ? 1 : 8);
  while (Steady::now() < until) {
    const auto probe = raw_http(*endpoint, {.pieces = {}, .limit = milliseconds(50)});
    if (!probe.front().is_refused) return endpoint;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return Error{ErrorCode::kConnectionError,
               "the manager cannot be reached at " + endpoint->url() +
                   (started == nullptr ? "" : "; the end of its output: " + started->last_words()),
               {}};
}

}  // namespace

core::Result<std::optional<StartedBot>> start_program(const SessionOptions& options,
                                                      const MockManager* manager) {
  std::optional<StartedBot> started;
  if (!options.start.empty()) {
    auto program =
        StartedBot::start(options.start, manager == nullptr ? std::string() : manager->url());
    if (!program) return program.error();
    started.emplace(std::move(*program));
  } else if (manager != nullptr) {
    std::cerr << "waiting for a " << options.role
              << "; start yours with this address of the league manager: " << manager->addresses()
              << std::endl;
  }
  return core::Result<std::optional<StartedBot>>(std::move(started));
}

core::Result<Report> check_referee(const SessionOptions& options) {
  auto wire = Wire::open(options.bus);
  if (!wire) return wire.error();
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  auto manager = MockManager::open(**runtime, {.address = options.address,
                                               .port = options.port.value_or(0),
                                               .league_id = options.league_id,
                                               .player_id = "",
                                               .bus = (*wire)->bus()});
  if (!manager) return manager.error();
  RefereeBench bench(**wire, **manager, options.is_fast);
  if (auto opened = bench.open(**runtime); !opened) return opened.error();
  auto started = start_program(options, manager->get());
  if (!started) return started.error();
  const auto call = (*manager)->server().wait_for(
      [](const InboundCall& seen) { return seen.type() == "REFEREE_REGISTER_REQUEST"; }, 0,
      options.patience);
  if (!call) {
    const std::string words = *started ? (*started)->last_words() : std::string();
    return Error{ErrorCode::kTimeout,
                 "no referee has registered at " + (*manager)->addresses() +
                     (words.empty() ? "" : "; the end of its output: " + words),
                 {}};
  }
  auto endpoint = transport::link::parse_endpoint(call->meta_text("contact_endpoint"));
  if (!endpoint) return endpoint.error();
  bench.admit(*call, *endpoint);
  // A first match before the checks, since a referee may refuse it if it has not read the answer to
  // its registration yet.
  RefereeMatch first;
  first.limit = milliseconds(1500);
  for (int i = 0; i < 40 && bench.play(first).reports.empty(); ++i)
    std::this_thread::sleep_for(milliseconds(25));
  const auto checks = referee_cases(bench);
  RunOptions run;
  run.is_playing = [&bench] { return bench.is_playing(); };
  auto report = run_role(checks, options, std::move(run),
                         call->meta_text("display_name") + " at " + endpoint->url());
  report.ways = bench.rpc().ways();
  report.secrets = {(*manager)->token().reveal(), bench.player_token(0).reveal(),
                    bench.player_token(1).reveal()};
  (*manager)->set_answer(nullptr);
  return report;
}

core::Result<Report> check_manager(const SessionOptions& options) {
  auto wire = Wire::open(options.bus, is_on_bus(options.endpoint));
  if (!wire) return wire.error();
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  auto started = start_program(options, nullptr);
  if (!started) return started.error();
  auto endpoint = manager_endpoint(options, *started ? &**started : nullptr);
  if (!endpoint) return endpoint.error();
  ManagerBench bench(**wire, **runtime,
                     {.manager = *endpoint,
                      .players = options.players,
                      .referees = options.referees,
                      .operator_key = core::AuthToken(options.operator_key),
                      .start_command = options.start_command,
                      .patience = options.patience,
                      .is_fast = options.is_fast});
  auto report = run_role(manager_cases(bench), options, {}, endpoint->url());
  report.ways = {"tool_name"};
  report.secrets = bench.secrets();
  return report;
}

std::vector<CheckInfo> list_checks(const std::string& role) {
  std::vector<CheckInfo> infos;
  auto wire = Wire::open();
  auto runtime = transport::front::HttpRuntime::start();
  if (!wire || !runtime) return infos;
  std::vector<Check> checks;
  if (role == "player") {
    PlayerBench bench(**wire, {});
    checks = player_cases(bench);
    add_restart_cases(bench, nullptr, checks);
  } else if (role == "manager") {
    ManagerBench bench(**wire, **runtime, {});
    checks = manager_cases(bench);
  } else {
    auto manager = MockManager::open(**runtime, {});
    if (!manager) return infos;
    RefereeBench bench(**wire, **manager, true);
    checks = referee_cases(bench);
  }
  for (const Check& check : checks) infos.push_back(check.info);
  return infos;
}

}  // namespace league::tools::check
