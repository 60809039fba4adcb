#pragma once

#include <cstddef>
#include <string_view>

#include "bus/transport/bus.h"
#include "common/core/result.h"

namespace league::transport::bus {

/// The rules that every bus applies before it contacts a broker. Pure, so safe from any thread.

/// Fails with kInvalidFieldValue and the field's name for an invalid subject or reply (blanks,
/// empty tokens, wildcards) and for headers that would break the frame; with kReplyTooLarge beyond
/// `max_payload` bytes of headers and payload.
[[nodiscard]] core::Result<void> check_bus_message(const BusMessage& message,
                                                   std::size_t max_payload);
/// Fails with kInvalidFieldValue for a subject that cannot be subscribed to, or a queue that is not
/// a token. An empty queue means no queue.
[[nodiscard]] core::Result<void> check_bus_subscription(std::string_view subject,
                                                        std::string_view queue);

}  // namespace league::transport::bus
