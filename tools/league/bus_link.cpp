#include "tools/league/bus_link.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace league::tools {

core::Result<std::unique_ptr<BusLink>> BusLink::join(const agent::BusOptions& options,
                                                     const Context& context) {
  if (!options.is_wanted())
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "a nats: address is on a message bus: say which with --bus "
                       "nats://HOST:4222",
                       {}};
  auto access = agent::read_bus_access(options, "league");
  if (!access) return access.error();
  auto buses = agent::connect_bus(*access);
  if (!buses) return buses.error();
  auto session = access->session.value_or(transport::BusSession::make(context.random));
  return std::unique_ptr<BusLink>(new BusLink(std::move(*buses), std::move(session), context));
}

BusLink::BusLink(agent::BusConnections buses, transport::BusSession session, const Context& context)
    : buses_(std::move(buses)),
      session_(std::move(session)),
      connector_(std::make_shared<transport::BusConnector>(
          context.hub, *buses_.bus, session_, context.clock, context.timer, context.random)) {}

void add_bus_options(CLI::App& command, agent::BusOptions& options) {
  command.add_option("--bus", options.urls, "message bus for nats: addresses: nats://HOST:4222");
  command.add_option("--bus-credentials", options.credentials, "our file of `league bus-config`");
  command.add_option("--bus-ca", options.tls.ca, "PEM file of the broker's authority, for tls://");
}

}  // namespace league::tools
