#pragma once

#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::envelope {

/// The three kinds of agent. Values are bits, so that a table can name several.
enum class Role : unsigned { kLeagueManager = 1, kReferee = 2, kPlayer = 4 };

/// `league_manager`, `referee`, `player`.
[[nodiscard]] std::string_view role_name(Role role);

/// Who a message is from. Source: protocol §2 (`sender`).
struct Sender {
  Role role = Role::kLeagueManager;
  std::string id;  ///< `P01`, or a temporary name before registration; empty for the league manager

  /// Reads `league_manager`, `referee:ID`, `player:ID` with ID `\w+` of at most 64 characters;
  /// kInvalidSender otherwise.
  [[nodiscard]] static core::Result<Sender> parse(std::string_view text);
  [[nodiscard]] static Sender league_manager() { return {}; }
  [[nodiscard]] static Sender referee(std::string id) { return {Role::kReferee, std::move(id)}; }
  [[nodiscard]] static Sender player(std::string id) { return {Role::kPlayer, std::move(id)}; }

  /// `player:P01`.
  [[nodiscard]] std::string str() const;

  bool operator==(const Sender&) const = default;
};

}  // namespace league::envelope
