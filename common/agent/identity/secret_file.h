#pragma once

#include <filesystem>

#include "common/agent/identity/registration.h"
#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::agent::identity {

/// A secret that the operator gave to an agent: the first line of `file`, without a byte
/// order mark and without blanks at its ends. Nothing if `file` is an empty name. Fails if the file
/// does not exist, if others may read it, or if the line is empty.
[[nodiscard]] core::Result<core::AuthToken> read_secret_file(const std::filesystem::path& file);

/// Makes the registration use only the token in `file`, instead of a stored one. Does nothing if
/// `file` is an empty name.
[[nodiscard]] core::Result<void> use_token_of(const std::filesystem::path& file,
                                              RegistrationOptions& registration);

}  // namespace league::agent::identity
