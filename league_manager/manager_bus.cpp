#include "league_manager/manager_bus.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace league::league_manager {
namespace {

/// Whose session that is; nothing for one that is no agent's.
std::optional<AgentRef> agent_at(const Ledger& ledger, const transport::BusSession& session) {
  return ledger.read([endpoint = "nats:" + session.str()](const League& league) {
    return league.roster().find_by_endpoint(endpoint);
  });
}

/// `P07 (alpha)`.
std::string shown(const Ledger& ledger, AgentRef ref) {
  return ledger.read([ref](const League& league) {
    return ref.id() + " (" + league.roster().agent(ref).profile.display_name + ")";
  });
}

}  // namespace

EventOffice open_events(agent::AgentHost& host, agent::AgentPort& port, const core::LeagueId& id) {
  EventOffice office;
  constexpr std::string_view kScheme = "nats:";
  auto url = port.session_url();
  auto session = transport::BusSession::parse(url.substr(std::min(kScheme.size(), url.size())));
  if (host.bus() == nullptr || !session) return office;
  office.feed = std::make_unique<EventFeed>(*host.bus(), port.streams(), id.str(), host.clock());
  office.board = std::make_unique<BusEventBoard>(BusEventBoardDependencies{
      .bus = host.streams_bus(),
      .streams = port.streams(),
      .session = *session,
      .league_id = id.str(),
      .replicas = host.settings().bus.replicas,
      .clock = host.clock(),
      .log = port.log(),
      .on_published = [feed = office.feed.get()](const PublishedEvent& event, EventKept kept) {
        feed->on_published(event, kept);
      }});
  return office;
}

WorkQueue open_queue(agent::AgentHost& host, agent::AgentPort& port, const core::LeagueId& id,
                     core::RandomSource& random) {
  constexpr std::chrono::seconds kLimit{3};
  if (host.bus() != nullptr && !host.has_streams())
    spdlog::info("the brokers keep no streams: matches are assigned, and no events kept");
  if (port.streams() == nullptr) return {};
  auto queue = std::make_unique<BusMatchQueue>(
      BusMatchQueue::Dependencies{*port.streams(), *host.bus(), host.clock(), random,
                                  host.settings().bus.replicas},
      id, host.settings().bus.queue_wait);
  auto opened = queue->open(host.clock().steady_now() + kLimit);
  if (!opened)
    spdlog::warn("the broker keeps no queue of matches, so they are assigned until it does: {}",
                 opened.error().message);
  return {std::move(queue), opened.has_value()};
}

core::Result<void> join_bus(agent::AgentHost& host, agent::AgentPort& port,
                            transport::MessageHandler& handler, Conductor& conductor,
                            const Ledger& ledger, const core::LeagueId& id) {
  if (host.bus() == nullptr) return {};
  transport::BusSessionsOptions options;
  options.league_id = id.str();
  options.keep_alive = host.settings().bus.keep_alive;
  options.on_gone = [&ledger, &conductor](const transport::BusSession& session) {
    auto agent = agent_at(ledger, session);
    if (!agent) return;
    spdlog::warn("{} is silent on the bus", shown(ledger, *agent));
    conductor.on_silent(*agent);
  };
  options.on_back = [&ledger, &conductor](const transport::BusSession& session) {
    auto agent = agent_at(ledger, session);
    if (!agent) return;
    spdlog::info("{} is back on the bus", shown(ledger, *agent));
    conductor.on_alive(*agent, kReasonHeardAgain);
  };
  auto served = port.serve_sessions(handler, std::move(options));
  if (!served) return served;
  auto endpoints = ledger.read([](const League& league) {
    std::vector<std::string> all;
    for (auto kind : {AgentKind::kPlayer, AgentKind::kReferee}) {
      for (int i = 0; i < league.roster().count(kind); ++i)
        all.push_back(league.roster().agent({kind, i}).profile.endpoint);
    }
    return all;
  });
  for (const auto& endpoint : endpoints) port.expect_session(endpoint);
  if (host.bus()->is_connected()) spdlog::info("on the bus at {}", host.bus()->url());
  return {};
}

}  // namespace league::league_manager
