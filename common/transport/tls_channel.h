#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/deadline_stream.h"
#include "common/transport/socket.h"

namespace league::transport {

/// TLS as a client on a connected socket: at least TLS 1.2, the certificate is verified against the
/// system's roots and `host` (a name or a numeric address), whatever address the socket is
/// connected to. Fills `info`. Fails with kTimeout, kShuttingDown or kConnectionError and the
/// cause.
[[nodiscard]] core::Result<std::unique_ptr<Channel>> make_tls_channel(
    FileDescriptor socket, const std::string& host, const Patience& patience,
    std::optional<rpc::TlsInfo>& info);

}  // namespace league::transport
