#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/transport/link/subject.h"

namespace league::tools {

/// The configuration of a broker (nats-server 2.9 or later) with one user per agent, as texts.
/// Everything in this file is pure: no file, no clock, no randomness.

enum class BusRole { kManager, kOperator, kReferee, kPlayer };
/// `manager`, `operator`, `referee`, `player`.
[[nodiscard]] std::string_view name_of(BusRole role);

/// A user of the broker.
struct BusLogin {
  std::string user;  ///< always written in quotes, so it may be any text
  std::string password;  ///< as its owner sends it
  std::string stored_password;  ///< as the broker stores it: a bcrypt hash, or the password
};

/// An agent that gets its own user.
struct BusUser {
  BusRole role = BusRole::kPlayer;
  std::string name;
  transport::link::BusSession session;
  BusLogin login;
  /// Of the manager and the operator: for the account of the streams, if there are streams.
  std::optional<BusLogin> streams_login = std::nullopt;
};

/// Where one broker is.
struct BrokerAddress {
  std::string host = "127.0.0.1";  ///< under which agents and other brokers reach it
  std::uint16_t client_port = 4222;
  std::uint16_t route_port = 6222;  ///< for the other brokers of its cluster
  /// `HOST:PORT` at which it listens; empty: at `host` and `client_port`.
  std::string listen = {};

  /// `HOST`, `HOST:PORT` or `HOST:PORT:ROUTE_PORT`; an IPv6 address in brackets. Nothing for any
  /// other text.
  [[nodiscard]] static std::optional<BrokerAddress> parse(std::string_view text);
  bool operator==(const BrokerAddress&) const = default;
};

/// The version of a broker.
struct BrokerVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;

  /// `2.10.27`, also as `v2.10.27` or `nats-server: v2.10.27`, which `nats-server --version`
  /// prints, and with an ending such as `-RC.1`. Nothing for any other text.
  [[nodiscard]] static std::optional<BrokerVersion> parse(std::string_view text);
  /// `2.10.27`.
  [[nodiscard]] std::string text() const;
  auto operator<=>(const BrokerVersion&) const = default;
};
/// From this version on, a broker knows `sync_interval`; an earlier one refuses a file with it.
inline constexpr BrokerVersion kFirstWithSyncInterval{2, 10, 0};

/// Paths of files on the broker's machine; `ca` may be empty if the certificate is a public one.
struct BusTls {
  std::string cert;
  std::string key;
  std::string ca;
  std::string ca_pem = {};  ///< what `ca` contains, for the agents on other machines
};

struct BusConfig {
  std::string league_id;
  std::vector<BusUser> agents;
  std::vector<BrokerAddress> brokers;  ///< several: a cluster
  std::optional<BusTls> tls;
  std::string jetstream;  ///< where streams are kept; empty: the brokers keep none
  std::optional<BrokerVersion> broker_version = {};  ///< nothing: unknown, so any from 2.9 on
  std::string route_password;  ///< for connections between the brokers of a cluster

  [[nodiscard]] bool has_streams() const { return !jetstream.empty(); }
  /// Whether a message of a stream is on a broker's disk before the broker acknowledges it.
  [[nodiscard]] bool flushes_messages() const {
    return has_streams() && broker_version >= kFirstWithSyncInterval;
  }
};

/// The league as a part of subjects, spelled as in those of its events.
[[nodiscard]] std::string league_token(const std::string& league_id);

/// Any text as a quoted string of the broker's configuration.
[[nodiscard]] std::string config_string(std::string_view text);

/// The file of all users, which every broker includes.
[[nodiscard]] std::string render_users(const BusConfig& config);
/// The file of the broker `config.brokers[index]`; includes `users.conf` from beside it.
[[nodiscard]] std::string render_broker(const BusConfig& config, std::size_t index);
/// The credentials of an agent: a JSON object with url, user, password, session, league_id and,
/// with TLS, ca (in PEM). The manager's also has served_first, the sessions of referees and
/// operator. `streams`: a second user and its password, if there is one; false for an agent that
/// would otherwise ask for streams although there are none.
[[nodiscard]] std::string render_credentials(const BusConfig& config, const BusUser& agent);

/// The broker's account of a user. Subjects are separate for each account, except that the league's
/// account imports the events. Without JetStream there is only one account, and rows of kStreams do
/// not apply.
enum class BusAccount { kLeague, kStreams };

/// What one role may do, and why: one row of the table below.
struct BusPermission {
  enum class Kind { kPublish, kPublishNot, kSubscribe };
  BusRole role;
  Kind kind;
  /// With `{session}` (the agent's own), `{referee}` (one row for each referee's session) and
  /// `{league}`.
  std::string_view subject;
  std::string_view reason;
  BusAccount account = BusAccount::kLeague;
};

/// The table of all permissions. Sources: docs/distributed.md; nats-server's subjects of streams.
[[nodiscard]] const std::vector<BusPermission>& bus_permissions();

/// An agent that gets a user, before its password is made.
struct BusEntry {
  BusRole role = BusRole::kPlayer;
  std::string name;
  std::optional<transport::link::BusSession> session;  ///< nothing: one is made
  bool operator==(const BusEntry&) const = default;
};

/// `player NAME [SESSION]` or `referee NAME [SESSION]`, one a line; `#` begins a comment. Fails
/// with kInvalidFieldValue and the line for any other text, for a name that is not a valid file
/// name and for a repeated name.
[[nodiscard]] core::Result<std::vector<BusEntry>> parse_bus_agents(std::string_view text);
/// `player01`, `player02`, ... and `referee01`, ....
[[nodiscard]] std::vector<BusEntry> numbered_bus_agents(int players, int referees);

/// The entries with a manager and an operator in front, each with a session and new random
/// passwords, which the broker is to keep as bcrypt hashes where this system can make them.
[[nodiscard]] std::vector<BusUser> make_bus_agents(const std::vector<BusEntry>& entries,
                                                   core::RandomSource& random);

/// The password's bcrypt hash (`$2a$`, by crypt(3)), or nothing where the system cannot make one.
/// Uses the lowest cost: a random password of 128 bits needs no slow hash, and a restarted broker
/// has to check the passwords of all agents at once. Thread-safe.
[[nodiscard]] std::optional<std::string> bcrypt_hash(const std::string& password,
                                                     core::RandomSource& random);

/// The files that `write_bus_config` has written.
struct BusConfigFiles {
  std::vector<std::filesystem::path> brokers;  ///< one for each broker of the configuration
  std::filesystem::path users;
  std::filesystem::path credentials;  ///< the directory of NAME.json
};

/// Writes the configuration into `directory`, all files with mode 0600 in directories of mode 0700.
/// Refuses a directory that is not empty (kInternalError, as for write errors), unless
/// `may_overwrite`; then the files of another configuration are removed first.
[[nodiscard]] core::Result<BusConfigFiles> write_bus_config(const std::filesystem::path& directory,
                                                            const BusConfig& config,
                                                            bool may_overwrite);

}  // namespace league::tools
