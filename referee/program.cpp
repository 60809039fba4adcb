#include "referee/program.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/bus/manager_watch.h"
#include "common/agent/host/agent_host.h"
#include "common/agent/identity/identity_keeper.h"
#include "common/agent/identity/secret_file.h"
#include "common/transport/link/signals.h"
#include "referee/files/match_files.h"
#include "referee/service/referee_service.h"

namespace league::referee {
namespace {

core::Result<PlayerAddresses> read_players_file(const std::filesystem::path& file) {
  if (file.empty()) return PlayerAddresses();
  auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInvalidFieldValue, file.string() + ": " + why, ""};
  };
  std::ifstream in(file, std::ios::binary);
  if (!in) return failed("cannot be read");
  auto content = nlohmann::json::parse(in, nullptr, false);
  if (content.is_discarded()) return failed("is no JSON");
  auto addresses = read_addresses(content);
  if (addresses.empty())
    return failed("names no player; write {\"P01\": \"http://localhost:8101/mcp\"}");
  return addresses;
}

}  // namespace

// All parts of the program, in the order of their lifetimes. It is to become a class.
// NOLINTNEXTLINE(readability-function-size)
int run(const ProgramOptions& options, const game::Registry& games, transport::StopSignal& stop) {
  auto settings = options.common.settings();
  if (!settings) return agent::fail(settings.error());
  const std::string manager_url = options.common.manager_url(options.manager);
  auto manager = transport::parse_endpoint(manager_url);
  if (!manager) return agent::fail(manager.error());
  auto policy = transport::EndpointPolicy::parse(options.endpoints);
  if (!policy) return agent::fail(policy.error());
  auto admission_key = agent::read_secret_file(options.admission_key_file);
  if (!admission_key) return agent::fail(admission_key.error());
  auto players = read_players_file(options.players_file);
  if (!players) return agent::fail(players.error());
  auto host_options = options.common.host_options();
  if (!host_options) return agent::fail(host_options.error());
  auto host = agent::AgentHost::create(*settings, *host_options);
  if (!host) return agent::fail(host.error());

  core::CryptoRandom random;
  agent::ProjectionWriter projections(
      {.draft_suffix = "." + agent::temporary_id(options.name) + ".new"});
  std::unique_ptr<MatchFiles> files;  // null without --data, as the next
  std::unique_ptr<agent::IdentityKeeper> keeper;
  if (!options.data.empty()) {
    auto opened = agent::IdentityKeeper::open({.data = options.data,
                                               .role = envelope::Role::kReferee,
                                               .display_name = options.name,
                                               .manager = manager_url},
                                              random);
    if (!opened) return agent::fail(opened.error());
    keeper = std::move(*opened);
    auto matches = MatchFiles::open(options.data, projections);
    if (!matches) return agent::fail(matches.error());
    files = std::move(*matches);
  }
  std::string temporary = agent::temporary_id(options.name);
  // What another process left that was killed before it had an id stays a log by itself.
  auto log = audit::agent_log_path(options.common.logs,
                                   "referee_" + temporary + "_" + std::to_string(::getpid()));
  if (!log) return agent::fail(log.error());
  auto port = agent::AgentPort::open(
      **host, {.log = *log,
               .agent = "referee:" + temporary,
               .logs = options.common.logs,
               .mode = options.common.parsed_mode(),
               .log_key = keeper ? keeper->log_key() : std::filesystem::path(),
               .session_file = keeper ? keeper->session_file() : std::filesystem::path()});
  if (!port) return agent::fail(port.error());
  auto delays = agent::ProbingDelayMeter::start((*host)->runtime(), (*host)->caller(),
                                                (*host)->timer(), (*host)->clock(), (*host)->bus());
  if (!delays) return agent::fail(delays.error());
  std::function<void(const std::shared_ptr<const MatchRecord>&)> publish;
  if (files) publish = [&files](const auto& record) { files->publish(record); };
  RefereeService service(
      {.max_concurrent_matches = options.max_matches,
       .mode = options.common.parsed_mode(),
       .manager = *manager,
       .endpoints = (*host)->bus() != nullptr ? policy->with_bus() : std::move(*policy),
       .players = std::move(*players)},
      {.peers = (*port)->peers(),
       .timer = (*host)->timer(),
       .clock = (*host)->clock(),
       .schemas = (*host)->schemas(),
       .games = games,
       .settings = *settings,
       .delays = **delays,
       .may_start = [&file = (*port)->log()] { return file.free_space_ok(); },
       .publish = publish});
  service.on_league_completed([&projections](const envelope::LeagueCompleted& message) {
    projections.hurry();
    spdlog::info("the league is over; champion: {}",
                 message.champion ? message.champion->display_name : "none");
  });
  auto serve = [&](std::uint16_t wanted) {
    if (options.common.serving() == agent::Serving::kNats)
      return (*port)->serve_session(service.handler(), manager_url);
    return (*port)->serve(options.common.listen_options(*settings, wanted), service.handler());
  };
  bool wants_any = options.common.port == 0;
  auto served = serve(wants_any && keeper ? keeper->port() : options.common.port);
  if (!served && wants_any) served = serve(0);  // the port of the last time is taken
  if (!served) return agent::fail(served.error());

  std::atomic<int> exit_code{0};
  std::string url = (*port)->session_url();
  if (url.empty()) url = options.common.contact_endpoint((*port)->port());
  agent::RegistrationOptions registration{.role = envelope::Role::kReferee,
                                          .display_name = options.name,
                                          .contact_endpoint = url,
                                          .game_types = games.names(),
                                          .max_concurrent_matches = options.max_matches,
                                          .manager = *manager,
                                          .log_public_key = (*port)->log().public_key(),
                                          .hears_events = (*host)->bus() != nullptr};
  auto hear_events = [&port, &service](const std::string& league_id) {
    return (*port)->hear_events(
        service.handler(), league_id,
        {envelope::MessageType::kRoundCompleted, envelope::MessageType::kLeagueCompleted});
  };
  // Where the league is known, nothing is missed while the answer is on its way.
  auto give_up = [&port](const core::Error& error) {
    (*port)->stop_serving();  // whoever calls must not find a service that is gone
    return agent::fail(error);
  };
  if (auto heard = hear_events(agent::league_of(manager_url)); !heard)
    return give_up(heard.error());
  if (keeper) {
    if (auto kept = keeper->prepare(registration, (*port)->port()); !kept)
      return give_up(kept.error());
  }
  registration.admission_key = *admission_key;
  if (auto used = agent::use_token_of(options.token_file, registration); !used)
    return give_up(used.error());
  const agent::ManagerWatch watch((*host)->timer(), options.name, manager_url);
  agent::register_agent({(*port)->peers(), (*host)->timer(), (*host)->clock(), random, *settings},
                        std::move(registration), [&](const core::Result<agent::Identity>& answer) {
                          watch.ended(answer.has_value());
                          if (!answer) {
                            exit_code = answer.error().code == core::ErrorCode::kShuttingDown
                                            ? 0
                                            : agent::fail(answer.error());
                            return stop.request_stop();
                          }
                          auto path = audit::agent_log_path(options.common.logs, answer->id);
                          if (path)
                            (void)(*port)->log().retarget(*path, "referee:" + answer->id,
                                                          agent::log_league(*answer, keeper.get()));
                          if (keeper) {
                            if (auto kept = keeper->keep(*answer); !kept)
                              spdlog::error("{}", kept.error().message);
                          }
                          // An answer that says less than an earlier one makes nobody a guest
                          // (protocol §8).
                          const agent::Identity* identity = keeper ? &keeper->identity() : &*answer;
                          service.set_identity(*identity, url);
                          (*port)->set_token(identity->token);
                          if (auto heard = hear_events(identity->league.str()); !heard)
                            spdlog::error("{}", heard.error().message);
                          (*port)->trust_events(*identity);
                          spdlog::info("{} is {} of {}", options.name, identity->id,
                                       identity->league.str());
                          agent::announce_ready(url, identity->id);
                        });

  stop.wait();
  (*port)->stop_serving();
  (*delays)->stop();
  (*host)->shut_down();
  projections.stop();
  return exit_code;
}

}  // namespace league::referee
