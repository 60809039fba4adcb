#pragma once

#include <string>
#include <string_view>

namespace league::rpc {

/// A subject as logs may show it: of the names behind `mcp.session.` and `_INBOX.`, which are worth
/// as much as credentials, only the beginning.
[[nodiscard]] std::string shown_subject(std::string_view subject);

}  // namespace league::rpc
