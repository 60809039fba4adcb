#include "league_manager/events/agent_ref.h"

#include <charconv>

#include "common/core/ids.h"

namespace league::league_manager::events {

std::string_view agent_kind_name(AgentKind kind) {
  return kind == AgentKind::kPlayer ? "player" : "referee";
}

std::optional<AgentRef> AgentRef::parse(std::string_view id) {
  AgentRef ref;
  std::string_view digits = id;
  if (id.starts_with("REF")) {
    ref.kind = AgentKind::kReferee;
    digits.remove_prefix(3);
  } else if (id.starts_with("P")) {
    digits.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  int number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number < 1)
    return std::nullopt;
  ref.index = number - 1;
  if (ref.id() != id) return std::nullopt;
  return ref;
}

std::string AgentRef::id() const {
  return core::numbered_id(kind == AgentKind::kPlayer ? "P" : "REF", index + 1);
}

std::string AgentRef::sender() const { return std::string(agent_kind_name(kind)) + ":" + id(); }

}  // namespace league::league_manager::events
