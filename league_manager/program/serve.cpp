// How a manager answers.
#include "league_manager/admission/known_senders.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/program/running_program.h"
#include "league_manager/rounds/league_view.h"

namespace league::league_manager {

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

}  // namespace league::league_manager
