#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::transport::bus {

/// Parses a comma-separated list of brokers, each `nats://` or `tls://` [USER:PASSWORD@ or TOKEN@]
/// HOST [:PORT], or just HOST[:PORT]. Fails with kInvalidFieldValue, without repeating a part that
/// may hold a password.
[[nodiscard]] core::Result<std::vector<std::string>> parse_bus_urls(std::string_view list);

/// The URL for logs: without everything before the `@`.
[[nodiscard]] std::string without_credentials(std::string_view url);

/// Whether it names a user and a password, rather than nobody or only a token.
[[nodiscard]] bool has_user(std::string_view url);

}  // namespace league::transport::bus
