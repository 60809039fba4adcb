#include "player/program.h"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <memory>
#include <sstream>
#include <vector>

#include "common/agent/bus/manager_watch.h"
#include "common/agent/host/agent_host.h"
#include "common/agent/identity/identity_store.h"
#include "common/agent/identity/secret_file.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"
#include "common/core/assign.h"
#include "common/transport/link/signals.h"
#include "game/files/game_file.h"
#include "player/child_identity.h"
#include "player/core/seeded_random.h"
#include "player/service/dispute_sender.h"
#include "player/service/history_file.h"
#include "player/service/player_service.h"
#include "player/service/registration_code.h"

namespace league::player {
namespace {

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  if (names.empty()) names.emplace_back("random");
  return names;
}

/// One of the players of this process.
struct LocalPlayer {
  std::string name;
  std::filesystem::path socket;  ///< of --transport unix
  std::unique_ptr<core::RandomSource> random;
  std::unique_ptr<agent::identity::IdentityStore> identity_store;  ///< null without --data
  std::unique_ptr<agent::host::AgentPort> port;
  std::unique_ptr<service::PlayerService> service;
  std::unique_ptr<ChildIdentity> child_identity;  ///< if its caller registers it
  std::unique_ptr<service::HistoryFile> history;  ///< null without --data and before there is an id
  std::unique_ptr<task::Scope> registering;  ///< null if it is not registered from here
};

/// All players of this process.
class PlayerGroup {
 public:
  PlayerGroup(const ProgramOptions& options, agent::host::AgentHost& host,
              transport::link::StopSignal& stop)
      : options_(options), host_(host), stop_(stop) {}

  core::Result<void> start_player(int index, const std::string& strategy) {
    LocalPlayer local;
    local.name = options_.count == 1 ? options_.name : options_.name + std::to_string(index + 1);
    local.random = random_of(index);
    if (auto kept = open_identity_store(local); !kept) return kept;
    if (auto opened = open_notes(local); !opened) return opened;
    std::uint16_t wanted =
        options_.common.port == 0 ? 0 : static_cast<std::uint16_t>(options_.common.port + index);
    if (wanted == 0 && local.identity_store) wanted = local.identity_store->port();
    local.socket = agent::host::numbered_socket(options_.common.socket, index, options_.count);
    if (auto opened = open_port(local); !opened) return opened;
    game::Games games = game::Games::standard();
    if (!options_.game.empty()) {
      if (auto found = game::files::find_game(games, options_.game); !found) return found.error();
    }
    auto service =
        service::PlayerService::create({.display_name = local.name,
                                        .strategy = strategy,
                                        .mode = options_.common.parsed_mode(),
                                        .standalone = options_.standalone,
                                        .is_registered_by_caller = options_.is_registered_by_caller,
                                        .commits = options_.commits,
                                        .limits = answer_limits(),
                                        .games = std::move(games)},
                                       {.timer = host_.timer(),
                                        .clock = host_.clock(),
                                        .random = *local.random,
                                        .schemas = host_.schemas(),
                                        .open_matches = open_matches_.get(),
                                        .heads = agent::host::heads_of(local.port->log())});
    if (!service) return service.error();
    local.service = std::move(*service);
    local.service->on_league_completed(
        [this](const envelope::LeagueCompleted&) { histories_.write_all_now(); });
    if (options_.is_registered_by_caller) {
      local.child_identity = std::make_unique<ChildIdentity>(
          ChildIdentity::Options{identity_place(local), options_.common.logs}, *local.service,
          *local.port, host_.timer());
      local.child_identity->begin();
    }
    auto served = serve(local, wanted);
    if (!served && options_.common.port == 0) served = serve(local, 0);  // the old port is in use
    if (!served) return served;
    if (local.identity_store && !local.identity_store->id().empty()) {
      if (auto opened = open_history(local, local.identity_store->id(), {}); !opened) return opened;
    }
    players_.push_back(std::move(local));
    return {};
  }

  /// Registers the player that was started last.
  core::Result<void> register_player(const transport::link::Endpoint& manager) {
    LocalPlayer& local = players_.back();
    agent::identity::RegistrationOptions registration{
        .role = envelope::Role::kPlayer,
        .display_name = local.name,
        .contact_endpoint = contact_endpoint(local),
        .game_types = local.service->game_types(),
        .manager = manager,
        .log_public_key = local.port->log().public_key(),
        .hears_events = host_.on_bus() != nullptr,
        .receipts = declares_receipts(local),
        .batches = agent::host::is_over_http(options_.common.serving()),
        .game_definitions = local.service->plays_any_game()};
    // If the league is known already, subscribe before registering, so that no event is missed.
    if (auto heard = hear_events(local, agent::bus::league_of(manager_url())); !heard) return heard;
    if (local.identity_store) {
      if (auto kept = local.identity_store->prepare(registration, local.port->port()); !kept)
        return kept;
    }
    if (auto added = add_secrets(local, registration); !added) return added;
    local.registering = std::make_unique<task::Scope>(
        task::Executor(), agent::runtime::failures_logged("the registration"));
    local.registering->spawn(enter(&local, std::move(registration)));
    return {};
  }

  void announce_standalone() const {
    for (const auto& local : players_) agent::host::announce_ready(contact_endpoint(local), "");
  }

  void stop_serving() {
    for (auto& local : players_) local.port->begin_stop();
    for (auto& local : players_) local.port->stop_serving();
  }

  /// Ends the registrations that are not answered yet. Call it before the host is shut down.
  void stop_registering() {
    for (auto& local : players_) local.registering.reset();
  }

  /// Writes the histories, if they are kept.
  void save_histories() { histories_.stop(); }

  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  [[nodiscard]] std::unique_ptr<core::RandomSource> random_of(int index) const {
    if (!options_.seed) return std::make_unique<core::CryptoRandom>();
    return std::make_unique<SeededRandom>(*options_.seed + static_cast<std::uint64_t>(index));
  }

  [[nodiscard]] std::string contact_endpoint(const LocalPlayer& local) const {
    auto session = local.port->session_url();
    if (!session.empty()) return session;
    return options_.common.contact_endpoint(local.port->port(), local.socket);
  }

  [[nodiscard]] AnswerLimits answer_limits() const {
    using envelope::MessageType;
    return {.invitation = host_.settings().time_limit(MessageType::kGameInvitation),
            .choice = host_.settings().time_limit(MessageType::kChooseParityCall)};
  }

  /// A player that returned without its receipt key cannot make receipts.
  [[nodiscard]] bool declares_receipts(const LocalPlayer& local) const {
    if (!options_.commits) return false;
    return !local.identity_store || local.identity_store->id().empty() ||
           !local.identity_store->identity().receipt_key.empty();
  }

  [[nodiscard]] std::string manager_url() const {
    return options_.common.manager_url(options_.manager);
  }

  core::Result<void> open_identity_store(LocalPlayer& local) {
    if (options_.data.empty() || options_.standalone || options_.is_registered_by_caller) return {};
    return core::assign(local.identity_store,
                        agent::identity::IdentityStore::open(identity_place(local), random_));
  }

  [[nodiscard]] agent::identity::IdentityStore::Options identity_place(
      const LocalPlayer& local) const {
    return {.data = options_.data,
            .role = envelope::Role::kPlayer,
            .display_name = local.name,
            .manager = manager_url()};
  }

  /// Adds the secrets from the operator, code and token, to the registration.
  core::Result<void> add_secrets(const LocalPlayer& local,
                                 agent::identity::RegistrationOptions& registration) const {
    auto code = service::read_registration_code(options_.registration_code_file, local.name);
    if (!code) return code.error();
    registration.registration_code = *code;
    return agent::identity::use_token_of(options_.token_file, registration);
  }

  /// Opens the log and what the player calls others with.
  core::Result<void> open_port(LocalPlayer& local) {
    std::string temporary = agent::identity::temporary_id(local.name);
    // With stdio, the manager and each referee start their own process of the same player, so the
    // name needs the process id.
    const std::string process = std::to_string(::getpid());
    if (options_.common.serving() == agent::host::Serving::kStdio) temporary += "_" + process;
    // The process id makes the name unique: a log that a killed process left before it had an id
    // stays separate.
    auto log =
        audit::log::agent_log_path(options_.common.logs, "player_" + temporary + "_" + process);
    if (!log) return log.error();
    auto port = agent::host::AgentPort::open(
        host_, {.log = *log,
                .agent = "player:" + temporary,
                .logs = options_.common.logs,
                .mode = options_.common.parsed_mode(),
                .log_key = local.identity_store ? local.identity_store->log_key()
                                                : std::filesystem::path(),
                .session_file = local.identity_store ? local.identity_store->session_file()
                                                     : std::filesystem::path()});
    if (!port) return port.error();
    local.port = std::move(*port);
    return {};
  }

  /// Opens the notes, one file for all players of the process. It is named after the first player,
  /// whose identity file is locked by this process.
  core::Result<void> open_notes(const LocalPlayer& local) {
    const bool keeps_notes = local.identity_store || options_.is_registered_by_caller;
    if (!keeps_notes || open_matches_) return {};
    auto file = options_.data / "agents" /
                ("player_" + agent::identity::temporary_id(local.name) + ".open_matches.jsonl");
    return core::assign(open_matches_, service::OpenMatchFile::open(
                                           {.file = std::move(file),
                                            .is_shared = options_.is_registered_by_caller}));
  }

  /// Continues the player's matches from before, if the identity is the same.
  void resume_matches(LocalPlayer& local, const agent::identity::Identity& identity) {
    if (!local.identity_store || !open_matches_) return;
    const core::PlayerId player(identity.id);
    if (!local.identity_store->is_same(identity)) return open_matches_->forget_all(player);
    local.service->resume(open_matches_->matches_of(player), open_matches_->credentials_of(player));
  }

  /// Reports each dispute of the player to the manager, and records it in the history; asks the
  /// manager for results that did not arrive.
  void tell_disputes(LocalPlayer& local, const agent::identity::Identity& identity) {
    auto manager = transport::link::parse_endpoint(manager_url());
    if (!manager) return;
    const service::DisputeContext context{.peers = local.port->peers(),
                                          .timer = host_.timer(),
                                          .clock = host_.clock(),
                                          .settings = host_.settings(),
                                          .manager = *manager};
    local.service->on_dispute([&local, identity, context](const DisputedMatch& match) {
      if (local.history) local.history->dispute(match);
      // A third-party manager does not know this query.
      if (identity.is_at_home()) service::send_dispute(context, identity, match);
    });
    local.service->on_missing_result([&local, identity, context] {
      service::ask_for_results(
          context, identity,
          [service = local.service.get()](const auto& rows) { service->take_results(rows); });
    });
  }

  /// Continues the history of player `id`, which has entered `new_league` (empty: no new league).
  core::Result<void> open_history(LocalPlayer& local, const std::string& id,
                                  const core::LeagueId& new_league) {
    auto opened = service::HistoryFile::open(
        options_.data,
        {.player_id = core::PlayerId(id), .display_name = local.name, .new_league = new_league},
        histories_);
    if (!opened) return opened.error();
    local.history = std::move(*opened);
    local.service->remember(local.history->read());
    local.service->on_match_over(
        [file = local.history.get()](const PlayedMatch& match) { file->add(match); });
    return {};
  }

  /// Stores the player's identity and opens its history. Does nothing without --data.
  core::Result<void> keep(LocalPlayer& local, const agent::identity::Identity& identity) {
    if (!local.identity_store) return {};
    if (!local.identity_store->is_same(identity)) {
      if (auto opened = open_history(local, identity.id, identity.league); !opened) return opened;
    }
    if (auto kept = local.identity_store->keep(identity); !kept)
      agent::runtime::log::error("{}", kept.error().message);
    return {};
  }

  static core::Result<void> hear_events(LocalPlayer& local, const std::string& league_id) {
    using envelope::MessageType;
    return local.port->hear_events(
        local.service->handler(), league_id,
        {MessageType::kRoundAnnouncement, MessageType::kLeagueStandingsUpdate,
         MessageType::kRoundCompleted, MessageType::kLeagueCompleted});
  }

  core::Result<void> serve(LocalPlayer& local, std::uint16_t port) {
    if (options_.common.serving() == agent::host::Serving::kOutward) return {};
    if (options_.common.serving() == agent::host::Serving::kNats)
      return local.port->serve_session(local.service->handler(), manager_url());
    auto listen = options_.common.listen_options(host_.settings(), port, local.socket);
    listen.on_input_end = [&stop = stop_] { stop.request_stop(); };
    return local.port->serve(std::move(listen), local.service->handler());
  }

  task::Task<void> enter(LocalPlayer* local, agent::identity::RegistrationOptions registration) {
    const agent::bus::ManagerWatch watch(host_.timer(), local->name, manager_url(),
                                         [this] { return host_.lost_bus(); });
    const agent::identity::RegistrationContext context{local->port->peers(), host_.timer(),
                                                       host_.clock(), random_, host_.settings()};
    const auto answer = co_await agent::identity::register_agent(context, std::move(registration));
    watch.ended(answer.has_value());
    const auto placed = answer ? take_place(*local, *answer) : core::Result<void>(answer.error());
    if (placed || placed.error().code == core::ErrorCode::kShuttingDown) co_return;
    exit_code_ = agent::host::fail(placed.error());
    stop_.request_stop();
  }

  core::Result<void> take_place(LocalPlayer& local, const agent::identity::Identity& answer) {
    if (auto learnt = local.service->learn_game(answer); !learnt) return learnt;
    resume_matches(local, answer);
    const auto league = agent::identity::log_league(answer, local.identity_store.get());
    if (auto kept = keep(local, answer); !kept) return kept;
    // The stored identity includes earlier answers: an answer with fewer fields does not make the
    // player a guest (protocol §8).
    const agent::identity::Identity* identity =
        local.identity_store ? &local.identity_store->identity() : &answer;
    tell_disputes(local, *identity);
    local.service->set_identity(*identity);
    local.port->set_token(identity->token);
    if (auto heard = hear_events(local, identity->league.str()); !heard)
      agent::runtime::log::error("{}", heard.error().message);
    local.port->trust_events(*identity);
    auto path = audit::log::agent_log_path(options_.common.logs, identity->id);
    if (path) (void)local.port->log().retarget(*path, "player:" + identity->id, league);
    agent::runtime::log::info("{} is {} of {}", local.name, identity->id, identity->league.str());
    if (options_.common.serving() == agent::host::Serving::kOutward) {
      auto manager = transport::link::parse_endpoint(manager_url());
      if (!manager) return manager.error();
      local.port->take_seat(*manager, *identity, local.service->handler(),
                            [this](const core::Error& why) {
                              exit_code_ = agent::host::fail(why);
                              if (++lost_seats_ == options_.count) stop_.request_stop();
                            });
    }
    agent::host::announce_ready(contact_endpoint(local), identity->id);
    return {};
  }

  const ProgramOptions& options_;
  agent::host::AgentHost& host_;
  transport::link::StopSignal& stop_;
  core::CryptoRandom random_;  // of registration nonces
  std::unique_ptr<service::OpenMatchFile> open_matches_;  ///< null without --data
  std::deque<LocalPlayer> players_;  // they are registered while others are still started
  std::atomic<int> exit_code_{0};
  std::atomic<int> lost_seats_{0};  ///< that other programs have taken over
  agent::runtime::ProjectionWriter histories_;  // last, since it writes data of the members above
};

}  // namespace

int run(const ProgramOptions& options, transport::link::StopSignal& stop) {
  auto settings = options.common.settings();
  if (!settings) return agent::host::fail(settings.error());
  auto manager = transport::link::parse_endpoint(options.common.manager_url(options.manager));
  if (!manager) return agent::host::fail(manager.error());
  auto host = agent::host::AgentHost::create(*settings, options.common.host_options());
  if (!host) return agent::host::fail(host.error());

  if (options.count > 1 && (*host)->on_bus() != nullptr && (*host)->on_bus()->session()) {
    return agent::host::fail(
        {core::ErrorCode::kInvalidFieldValue,
         "--bus-credentials are those of one session: start a process for each "
         "player, or leave out --count",
         {}});
  }
  PlayerGroup group(options, **host, stop);
  // A taken port ends the program, when players before it may have seats in the league already.
  if (auto free = options.common.check_ports(options.count); !free)
    return agent::host::fail(free.error());
  const bool registers = !options.standalone && !options.is_registered_by_caller;
  auto strategies = split_names(options.strategy);
  bool is_over = false;  // perhaps before all have begun: by a signal, or since the league is full
  for (int i = 0; i < options.count && !is_over; ++i) {
    auto started =
        group.start_player(i, strategies[static_cast<std::size_t>(i) % strategies.size()]);
    if (started && registers) started = group.register_player(*manager);
    if (!started) {
      group.stop_registering();
      (*host)->shut_down();
      return agent::host::fail(started.error());
    }
    is_over = stop.wait_for(std::chrono::milliseconds(0)) >= 0;
  }
  if (!registers) group.announce_standalone();
  if (!is_over) stop.wait();
  group.stop_registering();
  group.stop_serving();
  (*host)->shut_down();
  group.save_histories();
  return group.exit_code();
}

}  // namespace league::player
