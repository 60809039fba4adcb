#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {

/// The Error that tells the author of a bot about the most useful of `violations` (at least one) of
/// `message`.
[[nodiscard]] core::Error to_error(MessageType type, const nlohmann::json& message,
                                   const std::vector<schema::Violation>& violations);

}  // namespace league::envelope
