#pragma once

#include <filesystem>

#include "common/agent/identity/registration.h"
#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::agent {

/// The secret that an operator gave an agent: the first line of `file`, without white space at its
/// end. Nothing for an empty name. Fails where there is no such file, where others may read it, and
/// where the line is empty.
[[nodiscard]] core::Result<core::AuthToken> read_secret_file(const std::filesystem::path& file);

/// Registers with the token in `file` instead of one that is kept, and with no other. Does nothing
/// for an empty name.
[[nodiscard]] core::Result<void> use_token_of(const std::filesystem::path& file,
                                              RegistrationOptions& registration);

}  // namespace league::agent
