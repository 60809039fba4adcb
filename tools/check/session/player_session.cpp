#include "tools/check/session/player_session.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "common/transport/front/http_server.h"
#include "tools/check/cases/cases.h"
#include "tools/check/engine.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using core::Error;
using core::ErrorCode;

PlayerBench::Options bench_options(const SessionOptions& options) {
  PlayerBench::Options bench;
  bench.is_fast = options.is_fast;
  bench.limit = milliseconds(options.is_fast ? 1500 : 5000);
  bench.bot.id = options.id;
  bench.bot.token = core::AuthToken(options.token);
  bench.bot.league_id = options.league_id;
  return bench;
}

constexpr std::chrono::seconds kSeatedWithin{5};  ///< of a player that comes

/// Waits for the player's registration, and sets the identity of the bot.
core::Result<void> admit(PlayerBench& bench, MockManager& manager, StartedBot* started,
                         const SessionOptions& options) {
  const auto is_registration = [](const InboundCall& call) {
    return call.type() == "LEAGUE_REGISTER_REQUEST";
  };
  const auto until = std::chrono::steady_clock::now() + options.patience;
  std::optional<InboundCall> call;
  while (!call && std::chrono::steady_clock::now() < until) {
    const bool has_ended = started != nullptr && started->has_ended();
    call = manager.server().wait_for(is_registration, 0, milliseconds(100));
    if (has_ended) break;
  }
  if (!call) {
    const bool has_ended = started != nullptr && started->has_ended();
    std::string text = has_ended
                           ? "the command of --start has ended, and no player has registered at " +
                                 manager.addresses()
                           : "no player has registered at " + manager.addresses() + " within " +
                                 std::to_string(options.patience.count() / 1000) + " s";
    if (manager.server().count() > 0)
      text += "; the first other request was: " +
              safe_text(manager.server().calls().front().bytes.substr(0, 200));
    if (started != nullptr && !started->last_words().empty())
      text += "; the end of its output: " + safe_text(started->last_words());
    text +=
        ". A bot that does not register by itself can be checked at its address: league check "
        "http://localhost:8101/mcp";
    return Error{ErrorCode::kTimeout, text, {}};
  }
  bench.server = &manager.server();
  bench.take_registration(*call);
  auto endpoint = place_of(call->meta_text("contact_endpoint"), manager.options().player_id);
  BotIdentity bot{.id = manager.options().player_id,
                  .token = manager.token(),
                  .league_id = manager.options().league_id,
                  .endpoint = {},
                  .league_key = manager.league_key(),
                  .receipt_key = manager.receipt_key()};
  if (endpoint) {
    bot.endpoint = *endpoint;
  } else {
    return Error{ErrorCode::kEndpointNotAllowed,
                 "the registration has no usable contact_endpoint: " + endpoint.error().message +
                     " The request was: " + safe_text(call->bytes.substr(0, 400)),
                 "/params/player_meta/contact_endpoint"};
  }
  bench.set_bot(std::move(bot));
  // Its calls would wait for it.
  if (is_seat(*endpoint)) (void)bench.seats().wait_for_session(0, kSeatedWithin);
  return {};
}

/// How the bot's process ended and at which message; empty: it has not.
std::string end_of(StartedBot& bot, const PlayerBench& bench) {
  // The end of the process is seen a moment after the end of its connections.
  for (int i = 0; i < 10 && !bot.has_ended(); ++i) std::this_thread::sleep_for(milliseconds(10));
  std::string end = bot.obituary();
  const std::string last = bench.last_sent();
  if (end.empty() || last.empty()) return end;
  return "while answering " + last + ", " + end;
}

Report finished(PlayerBench& bench, const Checks& checks, const SessionOptions& options,
                std::string subject, StartedBot* started = nullptr,
                std::function<bool()> revive = {}) {
  const auto begun = std::chrono::steady_clock::now();
  Report report;
  report.subject = std::move(subject);
  RunOptions run;
  run.only = options.only;
  run.budget = milliseconds(options.is_fast ? 3000 : 80'000);
  run.is_playing = [&bench] { return bench.is_playing(); };
  run.has_word = [&bench] { return bench.spells_its_choice(); };
  run.is_there = [&bench] {
    if (!bench.is_http()) return true;
    const auto answer = raw_http(bench.bot().endpoint, {.pieces = {}, .limit = milliseconds(100)});
    return !answer.front().is_refused;
  };
  std::mutex end_mutex;
  if (started != nullptr)
    run.obituary = [&] {
      std::lock_guard lock(end_mutex);
      return end_of(*started, bench);
    };
  run.is_quick = [&bench] { return bench.is_quick(); };
  run.after_check = [&bench] { bench.end_open_matches(); };
  run.revive = std::move(revive);
  report.findings = run_checks(checks, run);
  report.ways = bench.ways();
  report.leniencies = bench.leniencies();
  report.secrets = bench.secrets();
  report.credentials = bench.credentials();
  report.took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
  return report;
}

core::Result<Report> check_endpoint(Wire& wire, const SessionOptions& options) {
  auto endpoint = transport::link::parse_endpoint(options.endpoint);
  if (!endpoint) return endpoint.error();
  auto bench_settings = bench_options(options);
  bench_settings.bot.endpoint = *endpoint;
  PlayerBench bench(wire, bench_settings);
  // On a bus it takes some time until a missing session is detected.
  const milliseconds limit =
      std::max(bench.limit(), is_on_bus(options.endpoint) ? milliseconds(4000) : milliseconds(0));
  const Exchange first = wire.send(
      *endpoint, R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{}})", rpc::Id(1), limit);
  if (first.is_refused)
    return Error{ErrorCode::kConnectionError,
                 "the bot cannot be reached at " + endpoint->url() + ": " + first.trouble,
                 {}};
  Checks checks = player_cases(bench);
  add_restart_cases(bench, nullptr, checks);
  add_take_over_case(bench, nullptr, checks);
  return finished(bench, checks, options, endpoint->url());
}

core::Result<Report> check_registering(Wire& wire, const SessionOptions& options) {
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  auto manager = MockManager::open(**runtime, {.address = options.address,
                                               .port = options.port.value_or(0),
                                               .league_id = options.league_id,
                                               .bus = wire.bus(),
                                               .seats = &wire.seats()});
  if (!manager) return manager.error();
  auto started = start_program(options, manager->get());
  if (!started) return started.error();
  StartedBot* const bot = *started ? &**started : nullptr;
  PlayerBench bench(wire, bench_options(options));
  auto admitted = admit(bench, **manager, bot, options);
  if (!admitted) return admitted.error();
  RestartTools restart{.manager = **manager, .bot = bot};
  Checks checks = player_cases(bench);
  add_restart_cases(bench, &restart, checks);
  add_take_over_case(bench, &restart, checks);
  const std::string name = bench.registration->meta_text("display_name");
  auto report = finished(bench, checks, options,
                         (name.empty() ? "a player" : name) + " at " +
                             (bench.is_outward() ? "its seat" : bench.bot().endpoint.url()),
                         bot, [&bench, &restart] { return start_again(bench, restart); });
  (*manager)->server().set_script([](const InboundCall&) { return MockAnswer{}; });
  return report;
}

}  // namespace

core::Result<Report> check_player(const SessionOptions& options) {
  auto wire = Wire::open(options.bus, is_on_bus(options.endpoint));
  if (!wire) return wire.error();
  return options.endpoint.empty() ? check_registering(**wire, options)
                                  : check_endpoint(**wire, options);
}

}  // namespace league::tools::check
