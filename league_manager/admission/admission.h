#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/auth_token.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "league_manager/admission/registration_codes.h"

namespace league::league_manager::admission {

/// Whether a message comes from a program on this machine: neither over a bus nor through a proxy
/// that announces itself. A proxy on this machine without such a header cannot be detected.
[[nodiscard]] bool is_from_loopback(const rpc::TransportContext& transport);

/// Which referees must show the manager's key.
enum class RefereeAdmission {
  kOpen,  ///< none (`--open-referees`)
  kKeyFromElsewhere,  ///< all but those that register from this machine
  kKeyFromAll,  ///< all (`--admit-referees`)
};

/// The identity under which a player is admitted.
struct AdmittedPlayer {
  std::string name;  ///< its own, or the one that the operator has for its code
  std::optional<std::string> code_digest = std::nullopt;  ///< nothing if the league requires no
                                                          ///< code

  bool operator==(const AdmittedPlayer&) const = default;
};

/// Decides who may become an agent of a league. Thread-safe. Source: protocol §8, "Referees are
/// admitted".
class Admission {
 public:
  using Codes = std::shared_ptr<const RegistrationCodes>;
  struct Options {
    RefereeAdmission referees = RefereeAdmission::kKeyFromElsewhere;
    core::AuthToken referee_key{};
    std::string referee_key_file{};  ///< as it is named in messages for people
    Codes codes{};  ///< null: every player may register
  };
  explicit Admission(Options options)
      : options_(std::move(options)), codes_(std::move(options_.codes)) {}

  /// Replaces all codes; only these are valid from now on.
  void replace_codes(Codes codes);
  [[nodiscard]] Codes codes() const;

  /// Why a referee that shows `key` (empty: none) is refused; nothing if it is admitted.
  [[nodiscard]] std::optional<core::Error> refusal_of_referee(bool is_local,
                                                              std::string_view key) const;
  /// The identity under which a player that calls itself `name` and shows `code` (empty: none) is
  /// admitted, or why it is refused. A player that has the name of another entry than that of its
  /// code has been given the wrong code.
  [[nodiscard]] core::Result<AdmittedPlayer> admit_player(std::string_view code,
                                                          const std::string& name) const;

  /// Whether `shown` is a registration code.
  [[nodiscard]] bool is_code(std::string_view shown) const;
  /// The name on the operator's list for the code `shown`; empty if it is no code.
  [[nodiscard]] std::string owner_of(std::string_view shown) const;
  /// Whether `shown` is the key that admits referees.
  [[nodiscard]] bool is_referee_key(std::string_view shown) const;

  /// One sentence for the operator: who can register, and how to limit it.
  [[nodiscard]] std::string players_text() const;
  [[nodiscard]] std::string referees_text() const;

 private:
  Options options_;  // constant, except `codes`, which `codes_` replaces
  mutable std::mutex mutex_;
  Codes codes_;  // guarded by mutex_
};

}  // namespace league::league_manager::admission
