#pragma once

#include <string>
#include <string_view>

namespace league::league_manager::view {

/// `text` in a form that may be published: tokens are masked (audit::record::mask_secrets), and
/// URLs, bus sessions, paths of sockets, e-mail and IP addresses become `[address]`. In doubt it
/// masks too much rather than too little.
[[nodiscard]] std::string public_text(std::string_view text);

}  // namespace league::league_manager::view
