#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bus/transport/bus.h"
#include "common/core/result.h"

namespace league::transport::bus {

/// The user with whom an agent logs in; if empty, what the URLs say.
struct NatsCredentials {
  std::string user = {};
  std::string password = {};
};

/// PEM files. With `tls://` alone, the system's certificate authorities are trusted.
struct NatsTls {
  std::filesystem::path ca = {};
  std::string ca_pem = {};  ///< the contents of such a file, in place of `ca`
  std::filesystem::path cert = {};  ///< our certificate; requires `key`
  std::filesystem::path key = {};
  std::string expected_host = {};  ///< the name in the broker's certificate; empty: the URL's host
};

struct NatsBusOptions {
  std::string urls;  ///< separated by commas; brokers announce the others of their cluster
  std::string name = {};  ///< shown in the broker's own monitoring
  NatsCredentials credentials = {};
  NatsTls tls = {};
  /// Reports what an operator should know: a missing permission, messages dropped because a handler
  /// was too slow, a broker that refuses us. The text contains no credentials. On a thread of the
  /// bus; may be empty.
  std::function<void(std::string)> on_fault = nullptr;
  /// Uses one delivery thread per subscription instead of the pool that all buses of the process
  /// share, so that traffic on other buses causes no delays. Only for few subscriptions.
  bool has_own_threads = false;
};

/// A bus over NATS brokers. It keeps looking for a broker until it is released, even if brokers
/// accept a connection and close it, or refuse it later. Messages published meanwhile are queued,
/// up to 4 MiB, and sent when a broker is found; subscriptions persist. A broker that does not read
/// delays a publisher by at most two seconds. Uses three threads per process and one per bus,
/// however many subscriptions there are, and one more per bus once it has had to search; stalling
/// publishers takes a connection and a thread for each broker in `urls`, once it is first used.
/// The last reference may be released on any thread; that waits for handlers on other threads, and
/// for an attempt to connect, which takes a second per broker.
///
/// Tries to connect once, which takes at most a second per broker; if that fails, the bus is still
/// created and keeps trying. Fails with kInvalidFieldValue if URLs, credentials or certificates
/// cannot be used or a broker has just refused them.
[[nodiscard]] core::Result<std::shared_ptr<Bus>> connect_nats(const NatsBusOptions& options);

/// Parses a comma-separated list of brokers, each `nats://` or `tls://` [USER:PASSWORD@ or TOKEN@]
/// HOST [:PORT], or just HOST[:PORT]. Fails with kInvalidFieldValue, without repeating a part that
/// may hold a password.
[[nodiscard]] core::Result<std::vector<std::string>> parse_bus_urls(std::string_view list);

/// The URL for logs: without everything before the `@`.
[[nodiscard]] std::string without_credentials(std::string_view url);

/// Whether it names a user and a password, rather than nobody or only a token.
[[nodiscard]] bool has_user(std::string_view url);

}  // namespace league::transport::bus
