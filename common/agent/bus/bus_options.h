#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace league::agent::bus {

/// The LEAGUE of `nats:manager/LEAGUE`; empty for any other URL.
[[nodiscard]] inline std::string league_of(const std::string& manager_url) {
  constexpr std::string_view kOfLeague = "nats:manager/";
  return manager_url.starts_with(kOfLeague) ? manager_url.substr(kOfLeague.size()) : std::string();
}

/// The options with which a program joins the message bus (docs/distributed.md).
struct BusOptions {
  std::string urls;  ///< of the brokers, separated by commas; empty: no bus
  /// JSON file of `league bus-config` with `user`, `password` and `session`; `url` and `ca` (a
  /// certificate authority in PEM; or `ca_file`, its path) are used where the command line gives
  /// none. `streams` is a `user` and a `password` if streams
  /// have an account of their own, or `false` if the brokers store no streams. Only for the
  /// manager: `served_first`, a list of sessions.
  std::filesystem::path credentials;
  /// PEM files. With `tls://` alone, the system's certificate authorities are trusted.
  struct Tls {
    std::filesystem::path ca = {};
    std::filesystem::path cert = {};  ///< our certificate; requires `key`
    std::filesystem::path key = {};
  } tls;

  [[nodiscard]] bool is_wanted() const { return !urls.empty() || !credentials.empty(); }
};

}  // namespace league::agent::bus
