#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/identity/registration.h"
#include "common/audit/log/log_archive.h"
#include "common/journal/lock_file.h"

namespace league::schema {
class Fields;
}

namespace league::agent::identity {

/// Stores an agent's identity in its data directory, so that the agent has the same identity after
/// a crash or a stop: `agents/player_alpha.json`, mode 0600, because it contains the token. A file
/// that holds a token is never overwritten with another one; an identity at another manager or in
/// another league is stored in a file of its own (`player_alpha.2.json`). Source: protocol §8. Not
/// thread-safe.
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

  /// Reads the stored identities and selects the one that fits the manager best, or a new one.
  /// Fails if another process uses this name in this directory, or if a file is unreadable, damaged
  /// or readable for others.
  [[nodiscard]] static core::Result<std::unique_ptr<IdentityStore>> open(
      Options options, core::RandomSource& random);

  /// The newest stored identity that `open` would select; nothing if there is none. Reads only, so
  /// several processes of one agent can call it. Fails as `open`, except for the other process.
  [[nodiscard]] static core::Result<std::optional<Identity>> find(Options options,
                                                                  core::RandomSource& random);

  /// The agent's current identity; empty if it has none. After keep() it combines the answer with
  /// what was already known about the league.
  [[nodiscard]] const Identity& identity() const { return current_.identity; }
  /// The id from the previous run; empty if there is none.
  [[nodiscard]] const std::string& id() const { return current_.identity.id; }
  /// Whether `identity` is the one from the previous run. Then the league is the same too, even if
  /// its name has changed.
  [[nodiscard]] bool is_same(const Identity& identity) const;
  /// The port from the previous run, at which the league expects this agent; 0 if there is none.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Where the identity is kept.
  [[nodiscard]] const std::filesystem::path& file() const { return current_.file; }
  /// Where the key that seals the agent's conversation log is kept: `agents/player_alpha.log.key`.
  [[nodiscard]] std::filesystem::path log_key() const;
  /// Where the agent's session on a bus is kept: `agents/player_alpha.session`.
  [[nodiscard]] std::filesystem::path session_file() const;
  /// Adds to a registration the token, the nonce and what to try if the manager does not know the
  /// token, and stores what is needed to repeat it. Must be called before the registration is sent.
  /// This object must outlive the registration.
  [[nodiscard]] core::Result<void> prepare(RegistrationOptions& registration, std::uint16_t port);
  /// Stores the identity from the registration's answer, in a new file if it is another identity.
  /// If the answer leaves out facts about the league that were known before, the known facts are
  /// kept.
  [[nodiscard]] core::Result<void> keep(const Identity& identity);

 private:
  /// The content of one file.
  struct SavedIdentity {
    std::filesystem::path file;
    int number = 1;  ///< number in the file's name; a higher one is newer
    std::string manager;
    std::uint16_t port = 0;
    /// Of an unanswered registration, or of the one that gave the receipt key; empty if there is
    /// none.
    std::string nonce = {};
    Identity identity = {};  ///< empty before the first answer

    /// The content of the file.
    void describe(schema::Fields& a);
  };

  IdentityStore(Options options, std::filesystem::path file, std::optional<journal::LockFile> lock,
                core::RandomSource& random)
      : options_(std::move(options)),
        first_file_(std::move(file)),
        lock_(std::move(lock)),
        random_(random) {}
  [[nodiscard]] core::Result<void> read_all();
  [[nodiscard]] static core::Result<void> read(SavedIdentity& kept);
  [[nodiscard]] core::Result<void> write(bool is_flushed) const;
  /// Selects the best remaining candidate as the current identity; a new identity if none remains.
  void take_next();
  /// A place for a new identity: a file without a token, or one that does not exist yet.
  [[nodiscard]] SavedIdentity free_place();
  [[nodiscard]] std::filesystem::path numbered(int number) const;
  [[nodiscard]] std::optional<Credentials> next_credentials();

  const Options options_;
  const std::filesystem::path first_file_;
  const std::optional<journal::LockFile> lock_;
  core::RandomSource& random_;
  std::uint16_t port_ = 0;
  std::vector<SavedIdentity> for_others_;  ///< and those that this manager did not know
  std::vector<SavedIdentity> candidates_;  ///< may be shown to this manager; the best is last
  SavedIdentity current_;
};

/// The league of `identity` as its log names it; `identity_store`, which may be null, must still
/// hold the previous identity.
[[nodiscard]] audit::log::LogLeague log_league(const Identity& identity,
                                               const IdentityStore* identity_store);

}  // namespace league::agent::identity
