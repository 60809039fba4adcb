#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "common/core/auth_token.h"
#include "common/core/random_source.h"
#include "common/core/result.h"

namespace league::league_manager::admission {

/// The key that the operator's commands must show: the first line of `file`, which is made (mode
/// 0600) with a random key if it is missing. Refuses a file that others may read, and a key of
/// fewer than 16 characters.
[[nodiscard]] core::Result<core::AuthToken> open_operator_key(const std::filesystem::path& file,
                                                              core::RandomSource& random);
/// Like open_operator_key, for the key that admits referees. If `file` is missing, it is created
/// with the key `usual`.
[[nodiscard]] core::Result<core::AuthToken> open_referee_key(const std::filesystem::path& file,
                                                             const core::AuthToken& usual);

/// Why a call of `tool` with these arguments is refused because it is not from the operator;
/// nothing if the argument `operator_key` is `key`. An empty key authorises nobody.
[[nodiscard]] std::optional<core::Error> refusal_of_operator(const nlohmann::json& arguments,
                                                             const core::AuthToken& key,
                                                             std::string_view tool);

}  // namespace league::league_manager::admission
