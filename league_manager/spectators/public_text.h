#pragma once

#include <string>
#include <string_view>

namespace league::league_manager {

/// `text` as everybody may read it: tokens are masked (audit::mask_secrets), and URLs, bus
/// sessions, paths of sockets, e-mail and IP addresses become `[address]`. When in doubt, it hides
/// more.
[[nodiscard]] std::string public_text(std::string_view text);

}  // namespace league::league_manager
