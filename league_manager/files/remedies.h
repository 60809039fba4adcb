#pragma once

#include <string_view>

namespace league::league_manager::files {

/// The clause of docs/protocol.md that a fault breaks, and what its author has to do.
struct Remedy {
  std::string_view clause;
  std::string_view clause_of_choice;  ///< of an answer to CHOOSE_PARITY_CALL; empty: the same
  std::string_view text;

  /// The clause that is broken by an answer to `call`, such as CHOOSE_PARITY_CALL.
  [[nodiscard]] std::string_view clause_of(std::string_view call) const;
};

/// For a wire code such as `E004`; a general one for a code without advice of its own.
[[nodiscard]] const Remedy& remedy_of(std::string_view code);

}  // namespace league::league_manager::files
