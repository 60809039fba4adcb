#include "league_manager/program/manager_bus.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus/agent/nats_host.h"
#include "bus/events/bus_event_board.h"
#include "bus/events/event_feed.h"
#include "bus/events/store_watch.h"
#include "common/agent/runtime/log.h"

namespace league::league_manager {
namespace {

/// The agent with this session; nothing if it is no agent's.
std::optional<events::AgentRef> agent_at(const files::Ledger& ledger,
                                         const transport::link::BusSession& session) {
  return ledger.read([endpoint = "nats:" + session.str()](const League& league) {
    return league.roster().find_by_endpoint(endpoint);
  });
}

/// `P07 (alpha)`.
std::string shown(const files::Ledger& ledger, events::AgentRef ref) {
  return ledger.read([ref](const League& league) {
    return ref.id() + " (" + league.roster().agent(ref).profile.display_name + ")";
  });
}

std::vector<bus::WatchedStore> watched_stores(const std::string& league,
                                              const agent::runtime::Settings::Bus& settings,
                                              const Leadership* leadership) {
  std::vector<bus::WatchedStore> stores = {
      {[league] { return transport::link::event_stream(league); },
       "when it is full, its oldest events are dropped (bus.events_max_mib)",
       transport::bus::stream_bytes(settings.events_max_mib)}};
  if (leadership != nullptr)
    stores.push_back({[leadership] { return leadership->stream(); },
                      "when it is full, the league is paused (bus.journal_max_mib)",
                      transport::bus::stream_bytes(settings.journal_max_mib)});
  return stores;
}

}  // namespace

EventPublisher open_events(agent::host::AgentHost& host, agent::host::AgentPort& port,
                           const core::LeagueId& id, const Leadership* leadership) {
  EventPublisher publisher;
  auto* nats = agent::bus::nats_of(host);
  constexpr std::string_view kScheme = "nats:";
  auto url = port.session_url();
  auto session =
      transport::link::BusSession::parse(url.substr(std::min(kScheme.size(), url.size())));
  if (nats == nullptr || !session) return publisher;
  auto* streams = agent::bus::nats_of(port)->streams();
  auto feed = std::make_unique<bus::EventFeed>(nats->bus(), streams, id.str(), host.clock());
  publisher.board = std::make_unique<bus::BusEventBoard>(bus::BusEventBoardDependencies{
      .bus = nats->streams_bus(),
      .streams = streams,
      .session = *session,
      .league_id = id.str(),
      .replicas = host.settings().bus.replicas,
      .max_bytes = transport::bus::stream_bytes(host.settings().bus.events_max_mib),
      .clock = host.clock(),
      .log = port.log(),
      .on_published = [feed = feed.get()](const bus::PublishedEvent& event, bus::EventKept kept) {
        feed->on_published(event, kept);
      }});
  publisher.feed = std::move(feed);
  if (streams != nullptr)
    publisher.stores = std::make_shared<bus::StoreWatch>(
        *streams, host.clock(), host.timer(),
        watched_stores(id.str(), host.settings().bus, leadership),
        [](const std::string& notice) { agent::runtime::log::warn("{}", notice); });
  else
    agent::runtime::log::info("the brokers have no streams, so events are not stored");
  return publisher;
}

core::Result<void> join_bus(agent::host::AgentHost& host, agent::host::AgentPort& port,
                            transport::link::MessageHandler& handler,
                            rounds::LeagueRunner& league_runner, const files::Ledger& ledger,
                            const core::LeagueId& id) {
  auto* nats = agent::bus::nats_of(host);
  if (nats == nullptr) return {};
  auto& sessions = *agent::bus::nats_of(port);
  transport::bus::BusSessionsOptions options;
  options.league_id = id.str();
  options.keep_alive = host.settings().bus.keep_alive;
  options.on_gone = [&ledger, &league_runner](const transport::link::BusSession& session) {
    auto agent = agent_at(ledger, session);
    if (!agent) return;
    agent::runtime::log::warn("{} is silent on the bus", shown(ledger, *agent));
    league_runner.on_silent(*agent);
  };
  options.on_back = [&ledger, &league_runner](const transport::link::BusSession& session) {
    auto agent = agent_at(ledger, session);
    if (!agent) return;
    agent::runtime::log::info("{} is back on the bus", shown(ledger, *agent));
    league_runner.on_alive(*agent, events::kReasonHeardAgain);
  };
  options.limiter = port.limiter();
  auto served = sessions.serve_sessions(port.audited(handler), std::move(options));
  if (!served) return served;
  auto endpoints = ledger.read([](const League& league) {
    std::vector<std::string> all;
    for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
      for (int i = 0; i < league.roster().count(kind); ++i)
        all.push_back(league.roster().agent({kind, i}).profile.endpoint);
    }
    return all;
  });
  for (const auto& endpoint : endpoints) sessions.expect_session(endpoint);
  if (nats->bus().is_connected()) agent::runtime::log::info("on the bus at {}", nats->bus().url());
  return {};
}

}  // namespace league::league_manager
