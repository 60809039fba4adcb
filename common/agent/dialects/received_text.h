#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/core/result.h"

namespace league::agent {

/// `why`, extended by the beginning of what was received instead of the expected answer, with every
/// secret masked.
[[nodiscard]] core::Error with_received(core::Error why, const nlohmann::json& received);

}  // namespace league::agent
