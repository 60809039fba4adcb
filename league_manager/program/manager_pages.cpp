#include "league_manager/program/manager_pages.h"

#include <iterator>

#include "league_manager/spectators/pages.h"

namespace league::league_manager {
namespace {

/// How long a spectator's request waits for a file that is being written.
constexpr std::chrono::milliseconds kPatienceWithFiles{100};

}  // namespace

ManagerPages::ManagerPages(files::Ledger& ledger, spectators::Metrics& metrics,
                           files::LeagueProjector& projector, core::RandomSource& random,
                           const core::Clock& clock, const agent::seats::Seats& seats)
    : ledger_(ledger),
      metrics_(metrics),
      registrations_([this] { feed_->on_registrations(); }),
      feed_(std::make_shared<spectators::SpectatorFeed>(
          spectators::SpectatorOptions{
              .epoch = core::to_hex(random.bytes<8>()),
              .registrations = [this] { return registrations_.json(); },
              .figures = [this] { return figures_.latest(); },
              .line_of = [&seats](const std::string& id)
                  -> std::optional<std::pair<std::string, core::UtcTimestamp>> {
                const auto shown = seats.shown(id);
                if (!shown) return std::nullopt;
                return std::pair{std::string(agent::seats::line_name(shown->line)), shown->since};
              }},
          [&projector](const auto& read) { return projector.read(read, kPatienceWithFiles); },
          timer_, clock)),
      figures_([&projector](const auto& read) { return projector.read(read, kPatienceWithFiles); },
               [this] { feed_->on_figures(); }) {
  ledger.observe([this, &projector](const events::Events& events) {
    projector.on_events(events);
    metrics_.on_events(events);
    feed_->on_events(events);
    figures_.on_events(events);
    registrations_.on_events(events);
  });
}

void ManagerPages::stop() {
  figures_.stop();
  feed_->stop();
}

std::vector<transport::http::Page> ManagerPages::pages(
    const audit::log::AuditLog& log, const ManagerDrain& drain,
    const spectators::ReplicationSource& replication) const {
  auto pages = spectators::spectator_pages(feed_);
  auto health = spectators::health_pages(
      metrics_, ledger_,
      {.figures =
           [this, &log, replication] {
             const auto state = log.state();
             const auto lag = ledger_.journal_lag();
             return spectators::MetricFigures{
                 .log_queue_bytes = state.queued_bytes,
                 .log_records = state.records,
                 .is_log_healthy = state.healthy,
                 .spectators = feed_->spectators(),
                 .journal_waiting = lag.waiting,
                 .journal_seconds = std::chrono::duration<double>(lag.last).count(),
                 .refused = registrations_.refusals(),
                 .replication = replication ? replication() : std::nullopt};
           },
       .trouble = [&log, &drain, replication]() -> std::string {
         if (drain.has_begun()) return "no match may start: the manager is about to end";
         const auto shared = replication ? replication() : std::nullopt;
         if (shared && !shared->waits_for.empty())
           return "no match may start: " + shared->waits_for;
         return log.free_space_ok() ? std::string()
                                    : "no match may start: the disk of the conversation log "
                                      "is nearly full, or cannot be written";
       }});
  std::ranges::move(health, std::back_inserter(pages));
  return pages;
}

}  // namespace league::league_manager
