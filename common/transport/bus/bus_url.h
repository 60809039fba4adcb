#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::transport {

/// The brokers of a list with commas, each `nats://` or `tls://` [USER:PASSWORD@ or TOKEN@] HOST
/// [:PORT], or HOST[:PORT] alone. kInvalidFieldValue, without repeating what may hold a password.
[[nodiscard]] core::Result<std::vector<std::string>> parse_bus_urls(std::string_view list);

/// The URL as it may stand in logs: without what is before the `@`.
[[nodiscard]] std::string without_credentials(std::string_view url);

/// Whether it names a user with a password, and not no one or a token only.
[[nodiscard]] bool has_user(std::string_view url);

}  // namespace league::transport
