#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/core/auth_token.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "league_manager/events/agent_ref.h"

namespace league::league_manager {

/// Whether a message comes from a program of this machine itself: neither over a bus nor relayed by
/// a proxy that says so. A proxy on this machine that says nothing cannot be told apart.
[[nodiscard]] bool is_from_loopback(const rpc::TransportContext& transport);

/// Which bots may play: each has a code, which is good for one name. Holds hashes only. Immutable,
/// so thread-safe. Source: protocol §8.
class RegistrationCodes {
 public:
  /// Reads lines of a code, white space and a name; empty lines and those that begin with `#` are
  /// passed over. Fails, with the number of the line and never a code, where one has no name, where
  /// a code is shorter than 8 characters or longer than 256, and where a code or a name comes
  /// twice.
  [[nodiscard]] static core::Result<RegistrationCodes> parse(std::string_view text);
  /// The same of a file that nobody but its owner may read.
  [[nodiscard]] static core::Result<RegistrationCodes> read(const std::filesystem::path& file);

  /// The name for which `code` is good; null if it is none.
  [[nodiscard]] const std::string* name_of(std::string_view code) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<std::string, std::string> names_;  // by SHA-256 of the code
};

/// From which referees the manager's key is asked.
enum class RefereeAdmission {
  kOpen,  ///< from none (`--open-referees`)
  kKeyFromElsewhere,  ///< from all but those that register from this machine
  kKeyFromAll,  ///< (`--admit-referees`)
};

/// Who may become an agent of a league. Immutable, so thread-safe. Source: protocol §8, "Referees
/// are admitted".
class Admission {
 public:
  struct Options {
    RefereeAdmission referees = RefereeAdmission::kKeyFromElsewhere;
    core::AuthToken referee_key{};
    std::string referee_key_file{};  ///< as texts name it
    std::optional<RegistrationCodes> codes{};  ///< nothing: every player may register
  };
  explicit Admission(Options options) : options_(std::move(options)) {}

  /// Why a referee that shows `key` (empty: none) is not let in; nothing: it is.
  [[nodiscard]] std::optional<core::Error> refusal_of_referee(bool is_local,
                                                              std::string_view key) const;
  /// Why a player that shows `code` (empty: none) and is called `name` is not let in.
  [[nodiscard]] std::optional<core::Error> refusal_of_player(std::string_view code,
                                                             const std::string& name) const;

  /// Whether `shown` is the key that admits referees.
  [[nodiscard]] bool is_referee_key(std::string_view shown) const;
  /// The name for which `code` admits a player; null if it admits nobody.
  [[nodiscard]] const std::string* player_with(std::string_view code) const;

  /// For the operator: one sentence on who can register and how to limit it.
  [[nodiscard]] std::string players_text() const;
  [[nodiscard]] std::string referees_text() const;

 private:
  const Options options_;
};

}  // namespace league::league_manager
