#include "bus/commands/broker_link.h"

#include <utility>

#include "bus/transport/bus_connection.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/bus_sessions.h"
#include "common/transport/link/handle.h"

namespace league::tools {
namespace {

template <typename Server>
std::shared_ptr<void> stopped_at_end(std::shared_ptr<Server> server) {
  return transport::link::make_handle<void>(std::move(server), [](Server& ended) {
    constexpr std::chrono::milliseconds kGrace{1000};
    ended.stop(kGrace);
  });
}

}  // namespace

core::Result<std::unique_ptr<BusLink>> BusLink::join(const agent::bus::BusOptions& options,
                                                     const Context& context) {
  auto link = BrokerLink::join(options, context);
  if (!link) return link.error();
  return std::unique_ptr<BusLink>(std::move(*link));
}

core::Result<std::unique_ptr<BrokerLink>> BrokerLink::join(const agent::bus::BusOptions& options,
                                                           const Context& context) {
  if (!options.is_wanted())
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "a nats: address is on a message bus: say which with --bus "
                       "nats://HOST:4222",
                       {}};
  auto access = agent::bus::read_bus_access(options, "league");
  if (!access) return access.error();
  auto bus = agent::bus::connect_bus(*access);
  if (!bus) return bus.error();
  auto session = access->session.value_or(transport::link::BusSession::make(context.random));
  return std::unique_ptr<BrokerLink>(
      new BrokerLink(std::move(*access), std::move(*bus), std::move(session), context));
}

BrokerLink::BrokerLink(agent::bus::BusAccess access, std::shared_ptr<transport::bus::Bus> bus,
                       transport::link::BusSession session, const Context& context)
    : access_(std::move(access)),
      bus_(std::move(bus)),
      session_(std::move(session)),
      connector_(std::make_shared<transport::bus::BusConnector>(
          context.loop, transport::bus::SessionOnBus{*bus_, session_, context.clock, context.timer,
                                                     context.random})) {}

core::Result<std::shared_ptr<transport::bus::Bus>> BrokerLink::connect_streams(
    const std::string& who) const {
  if (!access_.has_streams) return agent::bus::no_streams_error(who);
  return agent::bus::connect_streams(access_);
}

core::Result<std::shared_ptr<void>> BrokerLink::serve(transport::link::MessageHandler& handler,
                                                      const core::Clock& clock) const {
  auto started = transport::bus::BusListener::start(*bus_, session_, handler, clock, {});
  if (!started) return started.error();
  return stopped_at_end(std::move(*started));
}

core::Result<std::shared_ptr<void>> BrokerLink::serve_league(
    transport::link::MessageHandler& handler, const std::string& league_id,
    const Context& context) const {
  transport::bus::BusSessionsOptions options;
  options.league_id = league_id;
  options.keep_alive = std::chrono::milliseconds(0);
  auto started = transport::bus::BusSessions::start(*bus_, handler, context.clock, context.timer,
                                                    context.random, std::move(options));
  if (!started) return started.error();
  return stopped_at_end(std::shared_ptr(std::move(*started)));
}

}  // namespace league::tools
