#pragma once

#include <memory>

#include "common/transport/client/request_task.h"

namespace league::transport::client {

/// Sends a message and delivers its answer. Reports to the message's functions.
void start_post(const std::shared_ptr<RequestScope>& scope, link::OutboundMessage message);
/// Opens the stream for the server's unsolicited messages.
void start_listening(const std::shared_ptr<RequestScope>& scope, HttpHeaders headers,
                     StreamableHttpConnection::Done done);
/// Ends a session.
void start_delete(const std::shared_ptr<RequestScope>& scope, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done);

}  // namespace league::transport::client
