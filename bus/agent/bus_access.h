#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "bus/transport/nats_bus.h"
#include "common/agent/bus/bus_options.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/transport/link/subject.h"

namespace league::agent::bus {

/// The options after the credentials file has been read, ready to connect.
struct BusAccess {
  transport::bus::NatsBusOptions options;
  std::optional<transport::link::BusSession> session;  ///< of the credentials
  /// False: the credentials say that the brokers store no streams. A program that requests streams
  /// anyway violates a permission and gets no answer.
  bool has_streams = true;
  /// Empty: streams are requested with the same credentials as everything else.
  std::optional<transport::bus::NatsCredentials> streams_credentials;
  /// Only for the manager: the sessions of referees and operator, which get a connection of their
  /// own.
  std::set<transport::link::BusSession> served_first;
};

/// Reads the credentials file. Fails with kInvalidFieldValue and a text that names the file and the
/// fault. `name` is shown in the broker's own monitoring.
[[nodiscard]] core::Result<BusAccess> read_bus_access(const BusOptions& options,
                                                      const std::string& name);

/// Connects; if no broker is available yet, the bus keeps looking for one. Fails as
/// NatsBus::connect; `on_fault` as in NatsBusOptions.
[[nodiscard]] core::Result<std::shared_ptr<transport::bus::Bus>> connect_bus(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);
/// As connect_bus, with the credentials for streams. Null if there are none, because the first
/// connection can then use streams as well. Errors and faults begin with "streams: ".
[[nodiscard]] core::Result<std::shared_ptr<transport::bus::Bus>> connect_streams(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);

/// As connect_bus, for the sessions in `served_first` and with threads of its own; null if there
/// are no such sessions. Errors and faults begin with "referees: ".
[[nodiscard]] core::Result<std::shared_ptr<transport::bus::Bus>> connect_first(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);

/// The error for `who` (such as "--durable"), which needs streams although the credentials say that
/// there are none.
[[nodiscard]] core::Error no_streams_error(const std::string& who);

/// An agent's session name, read from `file` (mode 0600), which is created on first use. If `file`
/// is empty, the session is new and is not stored. Fails if the file cannot be read or written, or
/// does not contain a valid session.
[[nodiscard]] core::Result<transport::link::BusSession> open_bus_session(
    const std::filesystem::path& file, core::RandomSource& random);

}  // namespace league::agent::bus
