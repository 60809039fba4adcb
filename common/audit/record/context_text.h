#pragma once

#include <optional>
#include <string>

#include "common/rpc/session_id.h"
#include "common/rpc/transport_context.h"

namespace league::audit {

/// Appends what is known of the way a message came as one JSON object with a fixed order of keys
/// (docs/audit.md, "Context"): `{"connection":"c12","remote":"127.0.0.1:4242","method":"POST"}`.
/// Appends nothing where nothing is known. No header values, no query of a URI, and of names that
/// are worth a credential (sessions, streams) the beginning only.
void append_context(const rpc::TransportContext& transport,
                    const std::optional<rpc::SessionId>& session, std::string& out);

}  // namespace league::audit
