#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/rpc/context.h"
#include "common/transport/client/http_pool.h"
#include "common/transport/link/media_type.h"
#include "common/transport/link/sse_parser.h"

namespace league::transport::client {

/// The context of an answer: direction, times, HTTP metadata with status, and the session id in its
/// head.
[[nodiscard]] rpc::MessageContext context_of_answer(
    const ResponseHead& head, std::string_view method, const std::string& target,
    std::shared_ptr<const rpc::ConnectionInfo> connection);

/// The context of an event, based on that of its answer.
[[nodiscard]] rpc::MessageContext context_of_event(const link::SseEvent& event,
                                                   const std::string& last_event_id,
                                                   const std::string& stream_id,
                                                   const rpc::MessageContext& of_answer);

/// `GET of http://… was refused with status 404: not found`.
[[nodiscard]] core::Error refusal(std::string_view method, const link::Endpoint& endpoint,
                                  int status, std::string_view body);

/// `… answered with content type text/html instead of …`.
[[nodiscard]] core::Error wrong_type(std::string_view method, const link::Endpoint& endpoint,
                                     std::string_view type, std::string_view expected,
                                     std::string_view body);

/// Reports the result of sending a message through the message's `done`, if it has one.
void tell(const link::OutboundMessage& message, std::optional<core::Error> error,
          int http_status = 0, rpc::MessageContext context = {}, bool was_sent = false);

}  // namespace league::transport::client
