#pragma once

#include <string>
#include <string_view>

/// The reasons in events (events::kReason…), as the operator reads them. Thread-safe.
namespace league::league_manager::rounds {

/// Why the manager itself ended a match: a clause.
[[nodiscard]] std::string forfeit_reason(std::string_view reason);

/// Why a match was taken from its referee: goes on after "REF01 ".
[[nodiscard]] std::string release_reason(std::string_view reason);

}  // namespace league::league_manager::rounds
