#pragma once

#include <filesystem>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::player::service {

/// The code with which the player called `name` registers: the only line of `file`, or the code
/// that the operator's own list (agent::identity::CodeTable) has for this name. Nothing for an
/// empty file name. Fails, and shows no code, where there is none for this name. Source: protocol
/// §8.
[[nodiscard]] core::Result<core::AuthToken> read_registration_code(
    const std::filesystem::path& file, const std::string& name);

}  // namespace league::player::service
