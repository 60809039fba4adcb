#include <CLI/CLI.hpp>

#include "tools/league/client/bus_link.h"

namespace league::tools {

void add_bus_options(CLI::App& command, agent::bus::BusOptions& options) {
  command.add_option("--bus", options.urls, "message bus for nats: addresses: nats://HOST:4222");
  command.add_option("--bus-credentials", options.credentials,
                     "this command's credentials file, made by `league bus-config`");
  command.add_option("--bus-ca", options.tls.ca,
                     "PEM file of the broker's certificate authority, for tls://");
}

}  // namespace league::tools
