#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/core/result.h"

namespace league::agent {

/// `why` an answer is not what was expected, and behind it the beginning of what came instead, with
/// every secret masked.
[[nodiscard]] core::Error with_received(core::Error why, const nlohmann::json& received);

}  // namespace league::agent
