#pragma once

#include <optional>
#include <string>

#include "common/rpc/session_id.h"
#include "common/rpc/transport_context.h"

namespace league::audit::record {

/// Appends how a message arrived as one JSON object with a fixed order of keys (docs/audit.md,
/// "Context"): `{"connection":"c12","remote":"127.0.0.1:4242","method":"POST"}`. Appends nothing if
/// nothing is known. Leaves out header values and the query of a URI, and writes only the beginning
/// of names that work like credentials (sessions, streams).
void append_context(const rpc::TransportContext& transport,
                    const std::optional<rpc::SessionId>& session, std::string& out);

}  // namespace league::audit::record
