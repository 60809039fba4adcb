#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {

/// The Error that explains the most useful of the `violations` (at least one) of `message` to the
/// bot's author.
[[nodiscard]] core::Error to_error(MessageType type, const nlohmann::json& message,
                                   const std::vector<schema::Violation>& violations);

}  // namespace league::envelope
