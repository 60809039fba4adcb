#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/agent/registration.h"
#include "common/audit/log_archive.h"
#include "common/journal/lock_file.h"

namespace league::agent {

/// Keeps who an agent is in its data directory, so that it comes back as the same one after a crash
/// or a stop: `agents/player_alpha.json`, mode 0600, because the token stands in it. Source:
/// protocol §8. Not thread-safe.
class IdentityKeeper {
 public:
  struct Options {
    std::filesystem::path data;
    envelope::Role role = envelope::Role::kPlayer;
    std::string display_name;
    std::string manager;  ///< URL; another manager is never shown the token
  };

  /// Reads what was kept. Fails when another process has this name in this directory, and when the
  /// file is unreadable, damaged or readable for others.
  [[nodiscard]] static core::Result<std::unique_ptr<IdentityKeeper>> open(
      Options options, core::RandomSource& random);

  /// The id of the last time; empty for none.
  [[nodiscard]] const std::string& id() const { return identity_.id; }
  /// Whether `identity` is the one of the last time: then the league is too, whatever its name.
  [[nodiscard]] bool is_same(const Identity& identity) const;
  /// The port of the last time, at which the league expects this agent; 0 for none.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Where the key that seals the agent's conversation log is kept: `agents/player_alpha.log.key`.
  [[nodiscard]] std::filesystem::path log_key() const;
  /// Where the agent's session on a bus is kept: `agents/player_alpha.session`.
  [[nodiscard]] std::filesystem::path session_file() const;
  /// Adds token and nonce to a registration, and keeps what a repeat of it needs. To be called
  /// before it is sent.
  [[nodiscard]] core::Result<void> prepare(RegistrationOptions& registration, std::uint16_t port);
  /// Keeps what the registration brought. A manager that does not say any more what it said of its
  /// league before changes nothing about it.
  [[nodiscard]] core::Result<void> keep(const Identity& identity);

 private:
  IdentityKeeper(Options options, std::filesystem::path file, journal::LockFile lock)
      : options_(std::move(options)), file_(std::move(file)), lock_(std::move(lock)) {}
  [[nodiscard]] core::Result<void> read();
  [[nodiscard]] core::Result<void> write(bool is_flushed) const;

  const Options options_;
  const std::filesystem::path file_;
  const journal::LockFile lock_;
  std::uint16_t port_ = 0;
  std::string nonce_;  // of a registration without an answer; empty for none
  Identity identity_;  // empty before the first answer
};

/// The league of `identity` as its log names it; `keeper`, which may be null, still has what was
/// before.
[[nodiscard]] audit::LogLeague log_league(const Identity& identity, const IdentityKeeper* keeper);

}  // namespace league::agent
