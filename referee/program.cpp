#include "referee/program.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/agent/bus/manager_watch.h"
#include "common/agent/host/agent_host.h"
#include "common/agent/identity/identity_store.h"
#include "common/agent/identity/secret_file.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"
#include "common/core/assign.h"
#include "common/transport/link/signals.h"
#include "game/files/game_file.h"
#include "referee/files/match_files.h"
#include "referee/service/referee_drain.h"
#include "referee/service/referee_service.h"

namespace league::referee {
namespace {

constexpr int kCallsOfMatch = 3;  ///< at once: one to each player, and its report

core::Result<service::PlayerAddresses> read_players_file(const std::filesystem::path& file) {
  if (file.empty()) return service::PlayerAddresses();
  auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInvalidFieldValue, file.string() + ": " + why, ""};
  };
  std::ifstream in(file, std::ios::binary);
  if (!in) return failed("cannot be read");
  auto content = nlohmann::json::parse(in, nullptr, false);
  if (content.is_discarded()) return failed("is not JSON");
  auto addresses = service::read_addresses(content);
  if (addresses.empty())
    return failed("names no player; write {\"P01\": \"http://localhost:8101/mcp\"}");
  return addresses;
}

/// One run of the program. Members are in the order of their lifetimes: each part uses those above
/// it.
class Program {
 public:
  Program(const ProgramOptions& options, transport::link::StopSignal& stop)
      : options_(options), stop_(stop) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (port_) port_->stop_serving();  // no request may reach a service that is destroyed
  }

  /// Opens everything and begins to serve, but does not register yet.
  core::Result<void> open() {
    if (auto read = read_options(); !read) return read;
    if (auto opened = open_data(); !opened) return opened;
    if (auto opened = open_port(); !opened) return opened;
    make_service();
    return serve();
  }

  /// Registers at the manager. The answer arrives asynchronously; a refusal stops the program.
  core::Result<void> register_with_manager();

  /// Runs until it is stopped. Returns the exit code.
  int play() {
    const bool is_signal = stop_.wait() > 0;
    registering_.reset();
    if (is_signal) drain_->run(stop_);
    port_->stop_serving();
    delays_->stop();
    service_->stop();
    host_->shut_down();
    projections_.stop();
    return exit_code_;
  }

 private:
  core::Result<void> read_options();
  core::Result<void> open_data();
  core::Result<void> open_port();
  void make_service();
  core::Result<void> serve();
  core::Result<void> serve_at(std::uint16_t port);
  core::Result<void> hear_events(const std::string& league_id);
  task::Task<void> enter(agent::identity::RegistrationOptions registration);
  /// Another referee can take it if the league has not started.
  task::Task<void> give_up_place(agent::identity::Identity answer);
  void take_place(const agent::identity::Identity& answer);

  const ProgramOptions& options_;
  game::Games games_ = game::Games::standard();
  transport::link::StopSignal& stop_;
  agent::runtime::Settings settings_;
  std::string manager_url_;
  transport::link::Endpoint manager_;
  transport::link::EndpointPolicy policy_ = transport::link::EndpointPolicy::any();
  core::AuthToken admission_key_;
  service::PlayerAddresses players_;
  int exit_code_ = 0;
  core::CryptoRandom random_;
  std::unique_ptr<agent::host::AgentHost> host_;
  agent::runtime::ProjectionWriter projections_{
      {.draft_suffix = "." + agent::identity::temporary_id(options_.name) + ".new"}};
  std::unique_ptr<agent::identity::IdentityStore> identity_store_;  ///< null without --data; so is
                                                                    ///< the next member
  std::unique_ptr<files::MatchFiles> files_;
  std::unique_ptr<agent::host::AgentPort> port_;
  std::unique_ptr<agent::runtime::ProbingDelayMeter> delays_;
  std::optional<service::RefereeService> service_;
  std::optional<service::RefereeDrain> drain_;
  std::string url_;
  std::optional<task::Scope> registering_;
};

core::Result<void> Program::read_options() {
  if (auto settings = core::assign(settings_, options_.common.settings()); !settings)
    return settings;
  // A call that waits for its turn takes time from its player, so no match waits for another one.
  settings_.calls.game = std::max(settings_.calls.game, kCallsOfMatch * options_.max_matches);
  if (!options_.game.empty()) {
    if (auto found = game::files::find_game(games_, options_.game); !found) return found.error();
  }
  manager_url_ = options_.common.manager_url(options_.manager);
  if (auto manager = core::assign(manager_, transport::link::parse_endpoint(manager_url_));
      !manager)
    return manager;
  auto policy = transport::link::EndpointPolicy::parse(options_.endpoints);
  if (!policy) return policy.error();
  policy_ = std::move(*policy);
  auto admission_key = agent::identity::read_secret_file(options_.admission_key_file);
  if (!admission_key) return admission_key.error();
  admission_key_ = std::move(*admission_key);
  return core::assign(players_, read_players_file(options_.players_file));
}

core::Result<void> Program::open_data() {
  if (auto host = core::assign(
          host_, agent::host::AgentHost::create(settings_, options_.common.host_options()));
      !host)
    return host;
  if (options_.data.empty()) return {};
  auto identity_store = agent::identity::IdentityStore::open({.data = options_.data,
                                                              .role = envelope::Role::kReferee,
                                                              .display_name = options_.name,
                                                              .manager = manager_url_},
                                                             random_);
  if (!identity_store) return identity_store.error();
  identity_store_ = std::move(*identity_store);
  return core::assign(files_, files::MatchFiles::open(options_.data, projections_));
}

core::Result<void> Program::open_port() {
  const std::string temporary = agent::identity::temporary_id(options_.name);
  // The process id makes the name unique: a log that a killed process left before it had an id
  // stays separate.
  auto log = audit::log::agent_log_path(options_.common.logs,
                                        "referee_" + temporary + "_" + std::to_string(::getpid()));
  if (!log) return log.error();
  auto port = agent::host::AgentPort::open(
      *host_, {.log = *log,
               .agent = "referee:" + temporary,
               .logs = options_.common.logs,
               .mode = options_.common.parsed_mode(),
               .log_key = identity_store_ ? identity_store_->log_key() : std::filesystem::path(),
               .session_file =
                   identity_store_ ? identity_store_->session_file() : std::filesystem::path()});
  if (!port) return port.error();
  port_ = std::move(*port);
  return core::assign(delays_, agent::runtime::ProbingDelayMeter::start(
                                   host_->runtime(), host_->caller(), host_->timer(),
                                   host_->clock(), host_->broker_delay()));
}

void Program::make_service() {
  std::function<void(const std::shared_ptr<const files::MatchRecord>&)> publish;
  if (files_) publish = [this](const auto& record) { files_->publish(record); };
  service_.emplace(
      service::RefereeOptions{
          .max_concurrent_matches = options_.max_matches,
          .mode = options_.common.parsed_mode(),
          .manager = manager_,
          .endpoints = host_->on_bus() != nullptr ? policy_.with_bus() : policy_,
          .players = players_},
      service::RefereeDependencies{.peers = port_->peers(),
                                   .timer = host_->timer(),
                                   .clock = host_->clock(),
                                   .schemas = host_->schemas(),
                                   .games = games_,
                                   .settings = settings_,
                                   .delays = *delays_,
                                   .may_start = [this] { return port_->log().free_space_ok(); },
                                   .publish = publish,
                                   .heads = agent::host::heads_of(port_->log())});
  drain_.emplace(std::chrono::seconds(options_.drain_seconds), *service_, port_->peers(), manager_);
  service_->on_league_completed([this](const envelope::LeagueCompleted& message) {
    projections_.write_all_now();
    agent::runtime::log::info("the league is over; champion: {}",
                              message.champion ? message.champion->display_name : "none");
  });
}

core::Result<void> Program::serve_at(std::uint16_t port) {
  if (options_.common.serving() == agent::host::Serving::kNats)
    return port_->serve_session(service_->handler(), manager_url_);
  return port_->serve(options_.common.listen_options(settings_, port), service_->handler());
}

core::Result<void> Program::serve() {
  const bool wants_any = options_.common.port == 0;
  auto served =
      serve_at(wants_any && identity_store_ ? identity_store_->port() : options_.common.port);
  if (!served && wants_any) served = serve_at(0);  // the port of the last run is in use
  if (!served) return served;
  url_ = port_->session_url();
  if (url_.empty()) url_ = options_.common.contact_endpoint(port_->port());
  // If the league is known already, subscribe before registering, so that no event is missed.
  return hear_events(agent::bus::league_of(manager_url_));
}

core::Result<void> Program::hear_events(const std::string& league_id) {
  return port_->hear_events(
      service_->handler(), league_id,
      {envelope::MessageType::kRoundCompleted, envelope::MessageType::kLeagueCompleted});
}

core::Result<void> Program::register_with_manager() {
  agent::identity::RegistrationOptions registration{.role = envelope::Role::kReferee,
                                                    .display_name = options_.name,
                                                    .contact_endpoint = url_,
                                                    .game_types = games_.names(),
                                                    .max_concurrent_matches = options_.max_matches,
                                                    .manager = manager_,
                                                    .log_public_key = port_->log().public_key(),
                                                    .hears_events = host_->on_bus() != nullptr};
  if (identity_store_) {
    if (auto kept = identity_store_->prepare(registration, port_->port()); !kept) return kept;
  }
  registration.admission_key = admission_key_;
  if (auto used = agent::identity::use_token_of(options_.token_file, registration); !used)
    return used;
  registering_.emplace(task::Executor(), agent::runtime::failures_logged("the registration"));
  registering_->spawn(enter(std::move(registration)));
  return {};
}

task::Task<void> Program::enter(agent::identity::RegistrationOptions registration) {
  const agent::bus::ManagerWatch watch(host_->timer(), options_.name, manager_url_,
                                       [this] { return host_->lost_bus(); });
  const agent::identity::RegistrationContext context{port_->peers(), host_->timer(), host_->clock(),
                                                     random_, settings_};
  const auto answer = co_await agent::identity::register_agent(context, std::move(registration));
  watch.ended(answer.has_value());
  const auto entered =
      answer ? game::files::learn_game(games_, answer->game) : core::Result<void>(answer.error());
  if (entered) co_return take_place(*answer);
  if (answer) co_await give_up_place(*answer);
  const bool is_stopping = entered.error().code == core::ErrorCode::kShuttingDown;
  exit_code_ = is_stopping ? 0 : agent::host::fail(entered.error());
  stop_.request_stop();
}

task::Task<void> Program::give_up_place(agent::identity::Identity answer) {
  const nlohmann::json arguments = {{"sender", "referee:" + answer.id},
                                    {"auth_token", answer.token.reveal()},
                                    {"reason", "its game has other rules"}};
  agent::peers::PeerToolCall call{.endpoint = manager_,
                                  .peer = "league_manager",
                                  .tool = "withdraw",
                                  .arguments = arguments.dump(),
                                  .time_limit = std::chrono::seconds(5)};
  (void)co_await port_->peers().call_tool(std::move(call));
}

void Program::take_place(const agent::identity::Identity& answer) {
  if (auto path = audit::log::agent_log_path(options_.common.logs, answer.id))
    (void)port_->log().retarget(*path, "referee:" + answer.id,
                                agent::identity::log_league(answer, identity_store_.get()));
  if (identity_store_) {
    if (auto kept = identity_store_->keep(answer); !kept)
      agent::runtime::log::error("{}", kept.error().message);
  }
  // The stored identity includes earlier answers: an answer with fewer fields does not make the
  // referee a guest (protocol §8).
  const agent::identity::Identity& identity =
      identity_store_ ? identity_store_->identity() : answer;
  service_->set_identity(identity, url_);
  drain_->set_identity(identity);
  port_->set_token(identity.token);
  if (auto heard = hear_events(identity.league.str()); !heard)
    agent::runtime::log::error("{}", heard.error().message);
  port_->trust_events(identity);
  agent::runtime::log::info("{} is {} of {}", options_.name, identity.id, identity.league.str());
  agent::host::announce_ready(url_, identity.id);
}

}  // namespace

int run(const ProgramOptions& options, transport::link::StopSignal& stop) {
  Program program(options, stop);
  auto begun = program.open();
  if (begun) begun = program.register_with_manager();
  return begun ? program.play() : agent::host::fail(begun.error());
}

}  // namespace league::referee
