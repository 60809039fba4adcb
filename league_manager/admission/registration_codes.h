#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/agent/identity/code_table.h"

namespace league::league_manager::admission {

/// The players that the operator expects, and the code that admits each of them. Holds digests of
/// codes and no e-mail address. Immutable, so thread-safe. Source: protocol §8.
class RegistrationCodes {
 public:
  struct Entry {
    std::string name;  ///< under which the league shows the player, whatever it calls itself
    std::string team;  ///< may be empty
    std::string digest;  ///< of the code; empty where there is none
  };
  /// The form in which a code may be stored: a keyed hash, so that short codes cannot be found by
  /// trial.
  using DigestOf = std::function<std::string(std::string_view code)>;

  RegistrationCodes(const agent::identity::CodeTable& table, DigestOf digest_of);

  /// The entry that `code`, however it is typed (comparable_code), admits; null if none. The time
  /// this takes reveals nothing about other codes, since a keyed hash is looked up.
  [[nodiscard]] const Entry* find(std::string_view code) const;
  /// Null if no entry has this name (envelope::comparable_name).
  [[nodiscard]] const Entry* find_name(std::string_view name) const;
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  /// The number of entries with a code.
  [[nodiscard]] std::size_t codes() const { return by_digest_.size(); }

 private:
  static constexpr std::size_t kAmbiguous = static_cast<std::size_t>(-1);

  DigestOf digest_of_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_digest_;
  std::unordered_map<std::string, std::size_t> by_typed_;  // digests of comparable_code
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace league::league_manager::admission
