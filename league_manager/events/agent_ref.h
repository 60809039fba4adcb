#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace league::league_manager::events {

enum class AgentKind : std::uint8_t { kPlayer, kReferee };

/// `player`, `referee`.
[[nodiscard]] std::string_view agent_kind_name(AgentKind kind);

/// A registered agent by its place in the order of registration: player 0 is `P01`, referee 0 is
/// `REF01`.
struct AgentRef {
  AgentKind kind = AgentKind::kPlayer;
  int index = 0;

  [[nodiscard]] static AgentRef player(int index) { return {AgentKind::kPlayer, index}; }
  [[nodiscard]] static AgentRef referee(int index) { return {AgentKind::kReferee, index}; }
  /// Accepts exactly what `id` writes; nothing for any other text. Does not check that the agent
  /// exists.
  [[nodiscard]] static std::optional<AgentRef> parse(std::string_view id);

  /// `P01`, `P100`, `REF01`. Source: protocol §1.
  [[nodiscard]] std::string id() const;
  /// `player:P01`, as messages and logs name an agent.
  [[nodiscard]] std::string sender() const;

  auto operator<=>(const AgentRef&) const = default;
};

}  // namespace league::league_manager::events
