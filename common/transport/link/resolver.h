#pragma once

#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::transport::link {

/// The numeric addresses of a host, at least one. A numeric host is its own address and never
/// blocks; a name is looked up by the system's resolver, which may take seconds. Fails with
/// kConnectionError.
[[nodiscard]] core::Result<std::vector<std::string>> resolve(const std::string& host);

}  // namespace league::transport::link
