#pragma once

#include <cstddef>
#include <string_view>

#include "common/core/result.h"
#include "common/transport/bus/bus.h"

namespace league::transport {

/// What every bus refuses before a broker sees it. Pure, so safe from any thread.

/// kInvalidFieldValue, with the field's name, for a subject or reply that is none (blanks, empty
/// tokens, wildcards) and for headers that would break the frame; kReplyTooLarge beyond
/// `max_payload` bytes of headers and payload.
[[nodiscard]] core::Result<void> check_bus_message(const BusMessage& message,
                                                   std::size_t max_payload);
/// kInvalidFieldValue for a subject that cannot be listened at, or a queue that is no token. An
/// empty queue is none.
[[nodiscard]] core::Result<void> check_bus_subscription(std::string_view subject,
                                                        std::string_view queue);
/// Whether what is published at `subject` is heard at `pattern`: `*` is one token, a last `>` one
/// or more.
[[nodiscard]] bool subject_matches(std::string_view pattern, std::string_view subject);

}  // namespace league::transport
