// How a manager opens everything that its league needs.
#include "common/agent/runtime/log.h"
#include "common/agent/runtime/operations_log.h"
#include "common/core/assign.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/program/running_program.h"
#include "league_manager/service/continuation.h"

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

}  // namespace

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

}  // namespace league::league_manager
