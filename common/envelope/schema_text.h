#pragma once

#include <string>

#include "common/envelope/message_type.h"

namespace league::envelope {

/// The JSON Schema (draft-07) of a message, as text for people, printed from the description of its
/// struct: what schemas/ contains. Thread-safe.
[[nodiscard]] std::string schema_text(MessageType type);
/// That of the fields that all messages have.
[[nodiscard]] std::string envelope_schema_text();

}  // namespace league::envelope
