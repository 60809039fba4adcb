#pragma once

#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "common/rpc/context.h"
#include "common/transport/link/media_type.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// Names of headers; all are optional on the wire (docs/distributed.md).
inline constexpr const char* kDirectionHeader = "Mcp-Direction";
inline constexpr const char* kTraceHeader = "Trace-Id";
inline constexpr const char* kLeagueHeader = "League-Id";
inline constexpr const char* kContentTypeHeader = "Content-Type";

/// What all messages of one session on one bus share.
[[nodiscard]] std::shared_ptr<const rpc::ConnectionInfo> bus_connection_info(
    const Bus& bus, const link::BusSession& session);

/// The context of a message that was received; `session` is the sender's.
[[nodiscard]] rpc::MessageContext bus_context(const BusMessage& message,
                                              const link::BusSession& session,
                                              rpc::MessageDirection direction,
                                              std::shared_ptr<const rpc::ConnectionInfo> connection,
                                              const core::Clock& clock);

/// The conversation that the message names; empty if it names none. Names longer than 256
/// characters are cut, because strangers choose them and we store them and send them back.
[[nodiscard]] std::string bus_trace(const BusMessage& message);

/// A message of `session` with its headers; `trace_id` may be empty.
[[nodiscard]] BusMessage bus_message(std::string subject, std::string payload,
                                     const link::BusSession& session,
                                     rpc::MessageDirection direction,
                                     const std::string& trace_id = {});

}  // namespace league::transport::bus
