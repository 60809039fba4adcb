#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/transport/bus/nats_bus.h"
#include "common/transport/link/subject.h"

namespace league::agent {

/// The LEAGUE of `nats:manager/LEAGUE`; empty for any other URL.
[[nodiscard]] inline std::string league_of(const std::string& manager_url) {
  constexpr std::string_view kOfLeague = "nats:manager/";
  return manager_url.starts_with(kOfLeague) ? manager_url.substr(kOfLeague.size()) : std::string();
}

/// How a program gets on the message bus (docs/distributed.md).
struct BusOptions {
  std::string urls;  ///< of brokers, with commas between; empty: no bus
  /// JSON file of `league bus-config`: `user`, `password`, `session`, and `url` and `ca_file` where
  /// no others are given; `streams` with a `user` and a `password` where streams are kept in an
  /// account of their own, or `false` where the brokers keep none; and of the manager
  /// `served_first`, a list of sessions.
  std::filesystem::path credentials;
  transport::NatsTls tls;

  [[nodiscard]] bool is_wanted() const { return !urls.empty() || !credentials.empty(); }
};

/// The same, ready to connect.
struct BusAccess {
  transport::NatsBusOptions options;
  std::optional<transport::BusSession> session;  ///< of the credentials
  /// False: the credentials say that the brokers keep no streams. Who asks all the same breaks a
  /// permission, and is not answered.
  bool has_streams = true;
  /// Nothing: streams are asked as all others are.
  std::optional<transport::NatsCredentials> streams_credentials;
  /// Of the manager: the sessions of referees and operator, which have a connection of their own.
  std::set<transport::BusSession> served_first;
};

/// Reads the credentials. Fails with kInvalidFieldValue and a text that names the file and what is
/// wrong with it.
/// `name` is what the broker's own monitoring shows.
[[nodiscard]] core::Result<BusAccess> read_bus_access(const BusOptions& options,
                                                      const std::string& name);

/// Connects, and goes on looking where there is no broker yet. Fails as NatsBus::connect;
/// `on_fault` as of NatsBusOptions.
[[nodiscard]] core::Result<std::unique_ptr<transport::Bus>> connect_bus(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);
/// The same as the user whom streams have of their own; null where there is none, and the first
/// connection reaches all that there is. Its errors and faults begin with "streams: ".
[[nodiscard]] core::Result<std::unique_ptr<transport::Bus>> connect_streams(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);

/// The same for `served_first`, with threads of its own; null where there are none. Its errors and
/// faults begin with "referees: ".
[[nodiscard]] core::Result<std::unique_ptr<transport::Bus>> connect_first(
    const BusAccess& access, std::function<void(std::string)> on_fault = nullptr);

/// `who` (such as "--durable") needs streams, and the credentials say that there are none.
[[nodiscard]] core::Error no_streams_error(const std::string& who);

/// The session of an agent: kept in `file` (mode 0600), made at the first time; a passing one where
/// `file` is empty. Fails when the file cannot be read or written, or holds no session.
[[nodiscard]] core::Result<transport::BusSession> open_bus_session(
    const std::filesystem::path& file, core::RandomSource& random);

}  // namespace league::agent
