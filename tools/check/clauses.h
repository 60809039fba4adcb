#pragma once

#include <string_view>

namespace league::tools::check {

/// The sentence of docs/protocol.md that a clause stands for; empty for an unknown one. The table
/// in clauses.cpp is the only link between checks and the document. The set of clauses is frozen
/// for a version of the protocol.
[[nodiscard]] std::string_view clause_text(std::string_view clause);

/// The version of the protocol whose requirements are checked.
inline constexpr std::string_view kRequirementSet = "2.1.0";

}  // namespace league::tools::check
