#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/agent/identity/registration.h"
#include "common/audit/log/log_archive.h"
#include "common/journal/lock_file.h"

namespace league::agent {

/// Keeps who an agent is in its data directory, so that it comes back as the same one after a crash
/// or a stop: `agents/player_alpha.json`, mode 0600, because the token stands in it. A file that
/// holds a token is never overwritten with another: who is somebody else to another manager or in
/// another league is kept beside it (`player_alpha.2.json`). Source: protocol §8. Not thread-safe.
class IdentityStore {
 public:
  struct Options {
    std::filesystem::path data;
    envelope::Role role = envelope::Role::kPlayer;
    std::string display_name;
    /// URL. A token is shown to the manager that gave it and to no other; `localhost`, `127.0.0.1`
    /// and `::1` are one host, and there the port may be another.
    std::string manager;
  };

  /// Reads what was kept and takes the identity that fits the manager best, or a new one. Fails
  /// when another process has this name in this directory, and when a file is unreadable, damaged
  /// or readable for others.
  [[nodiscard]] static core::Result<std::unique_ptr<IdentityStore>> open(
      Options options, core::RandomSource& random);

  /// Who the agent is; empty for none. After keep() what its answer said and, of its league, what
  /// was known before.
  [[nodiscard]] const Identity& identity() const { return current_.identity; }
  /// The id of the last time; empty for none.
  [[nodiscard]] const std::string& id() const { return current_.identity.id; }
  /// Whether `identity` is the one of the last time: then the league is too, whatever its name.
  [[nodiscard]] bool is_same(const Identity& identity) const;
  /// The port of the last time, at which the league expects this agent; 0 for none.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Where the identity is kept.
  [[nodiscard]] const std::filesystem::path& file() const { return current_.file; }
  /// Where the key that seals the agent's conversation log is kept: `agents/player_alpha.log.key`.
  [[nodiscard]] std::filesystem::path log_key() const;
  /// Where the agent's session on a bus is kept: `agents/player_alpha.session`.
  [[nodiscard]] std::filesystem::path session_file() const;
  /// Adds token and nonce to a registration, what to try when the manager does not know the token,
  /// and keeps what a repeat of it needs. To be called before it is sent; this outlives it.
  [[nodiscard]] core::Result<void> prepare(RegistrationOptions& registration, std::uint16_t port);
  /// Keeps what the registration brought, beside what is there if it is another identity. A manager
  /// that does not say any more what it said of its league before changes nothing about it.
  [[nodiscard]] core::Result<void> keep(const Identity& identity);

 private:
  /// One file.
  struct SavedIdentity {
    std::filesystem::path file;
    int number = 1;  ///< of the file; a higher one is newer
    std::string manager;
    std::uint16_t port = 0;
    std::string nonce = {};  ///< of a registration without an answer; empty for none
    Identity identity = {};  ///< empty before the first answer
  };

  IdentityStore(Options options, std::filesystem::path file, journal::LockFile lock,
                core::RandomSource& random)
      : options_(std::move(options)),
        first_file_(std::move(file)),
        lock_(std::move(lock)),
        random_(random) {}
  [[nodiscard]] core::Result<void> read_all();
  [[nodiscard]] static core::Result<void> read(SavedIdentity& kept);
  [[nodiscard]] core::Result<void> write(bool is_flushed) const;
  /// Makes the best identity that is left the present one; a new one where none is.
  void take_next();
  /// A file without a token, or one that is not there yet.
  [[nodiscard]] SavedIdentity free_place();
  [[nodiscard]] std::filesystem::path numbered(int number) const;
  [[nodiscard]] std::optional<Credentials> next_credentials();

  const Options options_;
  const std::filesystem::path first_file_;
  const journal::LockFile lock_;
  core::RandomSource& random_;
  std::uint16_t port_ = 0;
  std::vector<SavedIdentity> for_others_;  ///< and what this manager did not know
  std::vector<SavedIdentity> candidates_;  ///< that may be shown to this manager, the best last
  SavedIdentity current_;
};

/// The league of `identity` as its log names it; `identity_store`, which may be null, still has
/// what was before.
[[nodiscard]] audit::LogLeague log_league(const Identity& identity,
                                          const IdentityStore* identity_store);

}  // namespace league::agent
