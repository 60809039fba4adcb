#pragma once

#include <string>
#include <string_view>

namespace league::rpc {

/// A subject in a form for logs: the names after `mcp.session.` and `_INBOX.` work like
/// credentials, so only their beginning is shown.
[[nodiscard]] std::string shown_subject(std::string_view subject);

}  // namespace league::rpc
