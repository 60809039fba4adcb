#pragma once

#include <string>
#include <string_view>

#include "common/core/result.h"

/// Names that people give to agents, teams and players. They are data of other people: only
/// admit_display_name lets one in, core::safe_text shows one. Source: protocol §8, "One address,
/// one agent".
namespace league::envelope {

inline constexpr std::size_t kLongestDisplayName = 50;  ///< characters

/// `name` as it is stored: in Normalization Form C. Refused (kInvalidFieldValue) if it is not
/// UTF-8, has no or more than 50 characters, none of them visible, has control, format or line
/// characters, mixes Latin letters with Greek or Cyrillic ones (which look the same), or is an id
/// of the league (`P01`, `REF01`, `league_manager`, `operator`). The text of the error goes on
/// after "the name ", or whatever the name is called.
[[nodiscard]] core::Result<std::string> admit_display_name(std::string_view name);

/// A display name in the form in which names are compared: NFKC, without case, without white space
/// at its ends and without characters that are never shown. What is not UTF-8 stays as it is.
[[nodiscard]] std::string comparable_name(std::string_view display_name);

}  // namespace league::envelope
