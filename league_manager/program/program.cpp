#include "league_manager/program/program.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/host/agent_host.h"
#include "common/agent/runtime/log.h"
#include "common/agent/runtime/operations_log.h"
#include "common/core/assign.h"
#include "common/core/counted.h"
#include "common/transport/link/signals.h"
#include "league_manager/admission/known_senders.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/files/league_projector.h"
#include "league_manager/hosts/host_tools.h"
#include "league_manager/program/leaders_handler.h"
#include "league_manager/program/league_store.h"
#include "league_manager/program/manager_bus.h"
#include "league_manager/program/manager_codes.h"
#include "league_manager/program/manager_drain.h"
#include "league_manager/program/manager_pages.h"
#include "league_manager/program/manager_reload.h"
#include "league_manager/program/manager_webhooks.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/service/continuation.h"
#include "league_manager/service/league_end.h"
#include "league_manager/service/manager_service.h"

namespace league::league_manager {
namespace {

/// Removes the conversation logs of earlier leagues that `retention` does not keep (see
/// audit::log::remove_old_leagues), and tells the operator which.
void remove_old_logs(const std::filesystem::path& logs, const audit::log::LogRetention& retention) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& league : audit::log::remove_old_leagues(logs, retention, now)) {
    agent::runtime::log::info(
        "the conversation logs of an earlier league, {}, are removed (--keep-logs)",
        (logs / "archive" / league).string());
  }
}

/// How a league ended, in one sentence for its operator. `status` is ManagerService::status() of a
/// league that is over.
std::string end_of_league(const core::LeagueId& id, const nlohmann::json& status) {
  std::string text = "league " + id.str() + " is over";
  const auto& champion = status["champion"];
  if (!champion.is_object()) return text;
  text += ": " + champion["player_id"].get<std::string>() + " '" +
          champion["display_name"].get<std::string>() + "' is first with " +
          core::counted(champion["points"].get<int>(), "point");
  if (!status.contains("shared_first_place")) return text;
  text += ", and shares first place with";
  for (const auto& other : status["shared_first_place"]) {
    if (other != champion["player_id"]) text += " " + other.get<std::string>();
  }
  return text;
}

/// The progress of a league that continues at `url`, in one sentence. `status` as above, of any
/// league.
std::string continuation_of(const core::LeagueId& id, const std::string& url,
                            const nlohmann::json& status) {
  const auto number = [&status](const char* name) {
    return std::to_string(status[name].get<std::int64_t>());
  };
  return "league " + id.str() + " continues at " + url + ": " + status["state"].get<std::string>() +
         ", " + number("players") + " of " + number("players_expected") + " players, round " +
         number("current_round") + " of " + number("total_rounds") + ", " +
         number("matches_completed") + " of " + number("total_matches") + " matches are finished";
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

/// One run of the program. Its members are declared in the order of their lifetimes: each uses
/// those above it.
class Program {
 public:
  Program(const ProgramOptions& options, transport::link::StopSignal& stop, const FaultHooks& hooks)
      : options_(options), stop_(stop), hooks_(hooks) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (port_) port_->stop_serving();  // no request may reach a service that is destroyed
    if (store_) store_->close();  // the journal must not call back into destroyed members
  }

  /// Opens everything and begins to serve, but starts no round yet. False: the manager was asked to
  /// stop before it led its league.
  core::Result<bool> open();
  /// Runs the league until somebody stops it.
  void play(ManagerReload* reload);
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  core::Result<void> read_options();
  core::Result<void> open_store();
  core::Result<void> open_port();
  void make_operator_log();
  core::Result<void> open_ledger();
  core::Result<void> check_ledger();
  core::Result<void> open_rounds();
  void make_league_runner();
  void publish_receipt_keys();
  core::Result<void> open_admission();
  void make_service();
  void make_hosts();
  core::Result<void> serve();
  void tell_operator();
  void on_finished();
  /// Empty if the league has one manager only.
  [[nodiscard]] spectators::ReplicationSource replication() const;
  /// Shows the league as of all durable events; false: not within half a second.
  bool read_durable(const std::function<void(const League&)>& show);

  [[nodiscard]] std::string seats_at(const std::string& manager_url) const;
  [[nodiscard]] agent::seats::Patience patience_with(const std::string& player,
                                                     envelope::MessageType type) const;
  [[nodiscard]] const core::LeagueId& id() const { return store_->settings().league_id; }

  const ProgramOptions& options_;
  transport::link::StopSignal& stop_;
  const FaultHooks& hooks_;
  agent::runtime::Settings settings_;
  transport::link::EndpointPolicy policy_ = transport::link::EndpointPolicy::any();
  core::CryptoRandom random_;
  std::atomic<int> exit_code_{0};
  std::unique_ptr<agent::host::AgentHost> host_;
  std::unique_ptr<LeagueStore> store_;
  std::optional<service::AgentRecords> records_;
  spectators::Metrics metrics_;
  std::optional<agent::seats::Seats> seats_;
  std::unique_ptr<agent::host::AgentPort> port_;
  std::optional<files::Ledger> ledger_;
  agent::runtime::ProjectionWriter projections_;
  std::optional<ManagerDrain> drain_;
  std::optional<files::LeagueProjector> projector_;
  std::optional<service::LeagueEnd> end_;
  std::optional<ManagerPages> pages_;
  std::shared_ptr<spectators::Webhooks> webhooks_;  ///< null without --webhook
  std::optional<rounds::OperatorLog> operator_log_;
  std::unique_ptr<agent::runtime::ProbingDelayMeter> delays_;
  EventPublisher events_;
  std::optional<envelope::EnvelopeBuilder> envelopes_;
  std::optional<admission::SeatCalls> seat_calls_;
  std::optional<rounds::LeagueRunner> league_runner_;
  std::optional<admission::Admission> admission_;
  std::optional<ManagerCodes> codes_;
  std::optional<admission::EndpointAdmission> endpoints_;
  std::optional<service::ManagerService> service_;
  std::optional<hosts::HostTools> hosts_;
  std::optional<LeadersHandler> handler_;
  std::optional<admission::SeatAdmission> seat_admission_;
  std::optional<agent::seats::SeatDoor> door_;
};

core::Result<bool> Program::open() {
  if (auto read = read_options(); !read) return read.error();
  if (auto opened = open_store(); !opened) return opened.error();
  if (!store_->has_turn()) return false;
  if (auto opened = open_port(); !opened) return opened.error();
  if (auto opened = open_ledger(); !opened) return opened.error();
  if (auto opened = open_rounds(); !opened) return opened.error();
  if (auto opened = open_admission(); !opened) return opened.error();
  make_service();
  if (auto served = serve(); !served) return served.error();
  return true;
}

core::Result<void> Program::read_options() {
  if (auto settings = core::assign(settings_, options_.common.settings()); !settings)
    return settings;
  auto policy = transport::link::EndpointPolicy::parse(options_.endpoints);
  if (!policy) return policy.error();
  policy_ = std::move(*policy);
  return ManagerCodes::check(options_.registration_codes);
}

core::Result<void> Program::open_store() {
  if (auto host = core::assign(
          host_, agent::host::AgentHost::create(settings_, options_.common.host_options()));
      !host)
    return host;
  if (auto able = check_turn(options_, *host_); !able) return able;
  return core::assign(store_, LeagueStore::open(options_, settings_, {*host_, random_, stop_},
                                                {.file = {},
                                                 .on_failure =
                                                     [this](const core::Error& error) {
                                                       exit_code_ = agent::host::fail(error);
                                                       stop_.request_stop();
                                                     },
                                                 .fault_point = hooks_.journal,
                                                 .vfs = hooks_.vfs}));
}

core::Result<void> Program::open_port() {
  auto log = audit::log::league_log_path(options_.common.logs, id().str());
  if (!log) return log.error();
  records_.emplace(host_->clock().utc_now());
  seats_.emplace(host_->timer(), host_->clock(), random_,
                 agent::runtime::failures_logged("a seat"));
  auto port = agent::host::AgentPort::open(
      *host_, {.log = *log,
               .agent = "league_manager",
               .league = {id().str(), store_->settings().league_key, store_->is_new()},
               .logs = options_.common.logs,
               .mode = options_.common.parsed_mode(),
               .log_key = options_.data / "log.key",
               .session_file = options_.data / "bus.session",
               .seats = &*seats_,
               .on_record = [this](const audit::record::Record& one) {
                 records_->on_record(one);
                 metrics_.on_record(one);
               }});
  if (!port) return port.error();
  port_ = std::move(*port);
  remove_old_logs(options_.common.logs, options_.keep_logs);
  return {};
}

void Program::make_operator_log() {
  operator_log_.emplace([this](const rounds::OperatorLine& line) {
    agent::runtime::write_event(line.is_warning, line.event, line.text, line.fields);
    pages_->on_line(line);
    if (webhooks_) send_news(webhooks_, line, *host_, *ledger_);
  });
}

core::Result<void> Program::open_ledger() {
  ledger_.emplace(store_->settings(), store_->journal(), host_->clock());
  projector_.emplace(projections_, options_.data, id());
  if (store_->is_kept()) {
    if (auto usable = projector_->check(); !usable) return usable;
  }
  drain_.emplace(std::chrono::seconds(options_.drain_seconds), *ledger_);
  end_.emplace(*ledger_, *projector_);
  pages_.emplace(*ledger_, metrics_, *projector_, random_, host_->clock(), *seats_);
  make_operator_log();
  auto webhooks =
      open_webhooks(options_.webhooks, options_.data / "webhook.secret", *host_, *operator_log_);
  if (!webhooks) return webhooks.error();
  webhooks_ = std::move(*webhooks);
  ledger_->observe([this](const events::Events& events) { operator_log_->on_events(events); });
  ledger_->observe([this](const events::Events& events) { records_->on_events(events); });
  if (auto opened = ledger_->open(); !opened) return opened;
  operator_log_->begin();
  return check_ledger();
}

core::Result<void> Program::check_ledger() {
  auto fits = ledger_->read([this](const League& league) {
    return service::check_token_issuer(league, store_->token_issuer());
  });
  if (!fits) return fits;
  Leadership* leadership = store_->leadership();
  if (leadership == nullptr) return {};
  // A new league has given up nothing.
  if (!options_.is_new) {
    if (auto noted = service::note_given_up(*ledger_, leadership->given_up()); !noted) return noted;
  }
  return ledger_->commit_and_wait([leadership](const League&, core::UtcTimestamp now) {
    return events::Events{{now, events::LeagueContinued{leadership->term()}}};
  });
}

core::Result<void> Program::open_rounds() {
  auto delays = agent::runtime::ProbingDelayMeter::start(
      host_->runtime(), host_->caller(), host_->timer(), host_->clock(), host_->broker_delay());
  if (!delays) return delays.error();
  delays_ = std::move(*delays);
  events_ = open_events(*host_, *port_, id(), store_->leadership());
  envelopes_.emplace(envelope::Sender::league_manager(), id(), host_->clock());
  make_league_runner();
  return {};
}

void Program::make_league_runner() {
  const Leadership* leadership = store_->leadership();
  seat_calls_.emplace(host_->clock());
  league_runner_.emplace(rounds::RoundDependencies{
      .ledger = *ledger_,
      .token_issuer = store_->token_issuer(),
      .peers = port_->peers(),
      .timer = host_->timer(),
      .clock = host_->clock(),
      .random = random_,
      .settings = settings_,
      .envelopes = *envelopes_,
      .may_start = [this] { return port_->log().free_space_ok() && store_->may_start(); },
      .log_head = [this] { return port_->log().sealed_head(); },
      .seal_log = [this] { (void)port_->log().seal_now(std::chrono::seconds(2)); },
      .publish_receipt_keys = [this] { publish_receipt_keys(); },
      .attest = [this] { return end_->attestation(store_->token_issuer()); },
      .term = leadership != nullptr ? std::optional<int>(leadership->term()) : std::nullopt,
      .events = events_.board.get(),
      .seats_at = [this](const std::string& manager_url) { return seats_at(manager_url); },
      .seat_calls = &*seat_calls_,
      .log = &*operator_log_,
      .delays = delays_.get()});
  league_runner_->on_finished([this] { on_finished(); });
}

void Program::publish_receipt_keys() {
  auto keys = end_->receipt_keys(store_->token_issuer()).dump();
  port_->log().append(audit::record::note_of("receipt_keys", std::move(keys), host_->clock()));
  (void)port_->log().seal_now(std::chrono::seconds(2));
}

core::Result<void> Program::open_admission() {
  admission_.emplace(admission::Admission::Options{
      .referees = options_.referee_admission,
      .referee_key = store_->referee_key(),
      .referee_key_file = files::DataDirectory(options_.data).referee_key().string()});
  const auto digest_of = [this](auto code) { return store_->token_issuer().code_digest(code); };
  codes_.emplace(options_.registration_codes, digest_of, *admission_, pages_->registrations(),
                 *operator_log_);
  endpoints_.emplace(host_->on_bus() != nullptr ? policy_.with_bus() : policy_);
  return codes_->read(*ledger_);
}

void Program::make_service() {
  service_.emplace(service::ManagerOptions{.mode = options_.common.parsed_mode(),
                                           .league_id = id(),
                                           .operator_key = store_->operator_key(),
                                           .league_key = store_->settings().league_key,
                                           .publishes_events = events_.board != nullptr,
                                           .game = store_->settings().rules},
                   service::ManagerDependencies{
                       .ledger = *ledger_,
                       .league_runner = *league_runner_,
                       .token_issuer = store_->token_issuer(),
                       .random = random_,
                       .clock = host_->clock(),
                       .schemas = host_->schemas(),
                       .envelopes = *envelopes_,
                       .endpoints = *endpoints_,
                       .timer = host_->timer(),
                       .admission = &*admission_,
                       .registrations = &pages_->registrations(),
                       .log = &*operator_log_,
                       .seats = &*seats_,
                       .records = &*records_,
                       .events = events_.feed.get(),
                       .news = [this] { return pages_->news(); },
                       .figures = [this] { return pages_->figures(); },
                       .replication = replication(),
                       .read_durable = [this](const auto& show) { return read_durable(show); },
                       .after_answer = hooks_.after_answer});
  make_hosts();
  handler_.emplace(service_->handler(), store_->leadership());
  seat_admission_.emplace(*ledger_, store_->token_issuer(), rounds::referee_credential,
                          *seat_calls_);
  door_.emplace(
      *handler_, *seats_,
      agent::seats::SeatRules{
          .admit = [this](const auto& claim) { return seat_admission_->admit(claim); },
          .patience = [this](const auto& player, auto type) { return patience_with(player, type); },
          .on_refused = [this](
                            const std::string& player,
                            const core::Error& why) { operator_log_->seat_refused(player, why); }},
      host_->clock());
}

/// How a referee waits for a player's answer at its seat.
agent::seats::Patience Program::patience_with(const std::string& player,
                                              envelope::MessageType type) const {
  const bool is_call = type == envelope::MessageType::kGameInvitation ||
                       type == envelope::MessageType::kChooseParityCall;
  const bool is_person = is_call && ledger_->read([&player](const League& league) {
    const auto agent = league.roster().find(player);
    return agent && league.roster().agent(*agent).profile.has_seat_limits();
  });
  if (!is_person) return {.limit = settings_.time_limit(type)};
  const auto& limits = settings_.seat_limits;
  return {
      .limit = type == envelope::MessageType::kGameInvitation ? limits.invitation : limits.choice,
      .waits_for_absent = true};
}

void Program::make_hosts() {
  const files::DataDirectory data(options_.data);
  hosts_.emplace(hosts::HostDependencies{
      .server = service_->server(),
      .ledger = *ledger_,
      .token_issuer = store_->token_issuer(),
      .seats = *seats_,
      .timer = host_->timer(),
      .clock = host_->clock(),
      .random = random_,
      .schemas = host_->schemas(),
      .league_id = id(),
      .league_key = store_->settings().league_key,
      .limit = settings_.seat_limits.invitation,
      .game = store_->settings().rules,
      .open_matches = store_->is_kept() ? data.journal().parent_path() / "hosted_matches.jsonl"
                                        : std::filesystem::path(),
      .log = &*operator_log_});
}

/// The origin at which referees reach seats.
std::string Program::seats_at(const std::string& manager_url) const {
  const auto& common = options_.common;
  if (common.advertise.empty() && !manager_url.empty()) return manager_url;
  const auto own = transport::link::parse_endpoint(common.contact_endpoint(port_->port()));
  if (!own || !transport::link::has_host(*own)) return manager_url;
  return (transport::link::is_tls(*own) ? "https://" : "http://") + own->authority();
}

core::Result<void> Program::serve() {
  auto listen = options_.common.listen_options(settings_, options_.common.port);
  listen.recognise = admission::KnownSenders(*ledger_, store_->operator_key(), *admission_,
                                             *seat_admission_, *seats_);
  listen.pages = pages_->pages(port_->log(), *drain_, replication());
  if (auto served = port_->serve(std::move(listen), *door_); !served) return served;
  return join_bus(*host_, *port_, *handler_, *league_runner_, *ledger_, id());
}

spectators::ReplicationSource Program::replication() const {
  const Leadership* leadership = store_->leadership();
  if (leadership == nullptr) return {};
  return [leadership] { return leadership->figures(); };
}

bool Program::read_durable(const std::function<void(const League&)>& show) {
  return projector_->read([&](const files::LeagueBook& book) { show(book.league()); },
                          std::chrono::milliseconds(500));
}

void Program::on_finished() {
  operator_log_->say(false, "LEAGUE_COMPLETED", end_of_league(id(), service_->status()));
  std::printf("finished %s\n", id().str().c_str());  // tells `league up` that all agents have been
                                                     // notified
  std::fflush(stdout);
  projections_.write_all_now();
}

void Program::tell_operator() {
  const std::string url = options_.common.contact_endpoint(port_->port());
  if (ledger_->is_continued()) {
    operator_log_->say(false, "LEAGUE_CONTINUED", continuation_of(id(), url, service_->status()));
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

}  // namespace

int run(const ProgramOptions& options, transport::link::StopSignal& stop, const FaultHooks& hooks,
        ManagerReload* reload) {
  Program program(options, stop, hooks);
  auto leads = program.open();
  if (!leads) return agent::host::fail(leads.error());
  if (*leads) program.play(reload);
  return program.exit_code();
}

}  // namespace league::league_manager
