#include "referee/program.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "common/agent/agent_host.h"
#include "common/agent/identity_keeper.h"
#include "common/agent/manager_watch.h"
#include "common/agent/secret_file.h"
#include "common/transport/signals.h"
#include "referee/match_files.h"
#include "referee/referee_service.h"

namespace league::referee {
namespace {

/// The intake of a referee on a bus, which begins when the referee has its id.
class IntakeSlot {
 public:
  void open(const MatchIntake::Context& context, MatchIntake::Options options) {
    // Under the lock: a match that is over at once finds the intake.
    std::lock_guard lock(mutex_);
    if (!is_stopped_) intake_ = std::make_shared<MatchIntake>(context, std::move(options));
  }
  void on_over(const std::string& match, bool is_accepted) {
    if (auto intake = get()) intake->on_over(match, is_accepted);
  }
  void on_played() {
    if (auto intake = get()) intake->on_played();
  }
  void stop() {
    std::shared_ptr<MatchIntake> intake;
    {
      std::lock_guard lock(mutex_);
      is_stopped_ = true;
      intake.swap(intake_);
    }
    if (intake) intake->stop();
  }

 private:
  std::shared_ptr<MatchIntake> get() {
    std::lock_guard lock(mutex_);
    return intake_;
  }

  std::mutex mutex_;
  std::shared_ptr<MatchIntake> intake_;
  bool is_stopped_ = false;
};

}  // namespace

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
  auto delays = ProbingDelayMeter::start((*host)->runtime(), (*host)->caller(), (*host)->timer(),
                                         (*host)->clock());
  if (!delays) return agent::fail(delays.error());
  std::function<void(const std::shared_ptr<const MatchRecord>&)> publish;
  if (files) publish = [&files](const auto& record) { files->publish(record); };
  IntakeSlot intake;  // before the service, which tells it of matches until its end
  RefereeService service(
      {.max_concurrent_matches = options.max_matches,
       .mode = options.common.parsed_mode(),
       .manager = *manager,
       .endpoints = (*host)->bus() != nullptr ? policy->with_bus() : std::move(*policy)},
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
  service.on_match_over([&intake](const std::string& match, bool is_accepted) {
    intake.on_over(match, is_accepted);
  });
  service.on_match_played([&intake] { intake.on_played(); });
  std::string url = (*port)->session_url();
  if (url.empty()) url = options.common.contact_endpoint((*port)->port());
  agent::RegistrationOptions registration{.role = envelope::Role::kReferee,
                                          .display_name = options.name,
                                          .contact_endpoint = url,
                                          .game_types = games.names(),
                                          .max_concurrent_matches = options.max_matches,
                                          .manager = *manager,
                                          .log_public_key = (*port)->log().public_key(),
                                          .takes_from_queue = (*port)->streams() != nullptr,
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
  agent::register_agent(
      {(*port)->peers(), (*host)->timer(), (*host)->clock(), random, *settings},
      std::move(registration), [&](const core::Result<agent::Identity>& identity) {
        watch.answered();
        if (!identity) {
          exit_code = identity.error().code == core::ErrorCode::kShuttingDown
                          ? 0
                          : agent::fail(identity.error());
          return stop.request_stop();
        }
        auto path = audit::agent_log_path(options.common.logs, identity->id);
        if (path)
          (void)(*port)->log().retarget(*path, "referee:" + identity->id,
                                        agent::log_league(*identity, keeper.get()));
        if (keeper) {
          if (auto kept = keeper->keep(*identity); !kept) spdlog::error("{}", kept.error().message);
        }
        service.set_identity(*identity);
        if (auto* streams = (*port)->streams()) {
          intake.open({*streams, (*port)->peers(), (*host)->timer(), (*host)->clock(), service},
                      {*identity, *manager, settings->bus.queue_wait});
        }
        if (auto heard = hear_events(identity->league.str()); !heard)
          spdlog::error("{}", heard.error().message);
        (*port)->trust_events(*identity);
        spdlog::info("{} is {} of {}", options.name, identity->id, identity->league.str());
        agent::announce_ready(url, identity->id);
      });

  stop.wait();
  intake.stop();
  (*port)->stop_serving();
  (*delays)->stop();
  (*host)->shut_down();
  projections.stop();
  return exit_code;
}

}  // namespace league::referee
