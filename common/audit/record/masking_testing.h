#pragma once

#include <string>
#include <string_view>

/// Masking as it was before it was made fast: what the fast one must do, byte for byte. For tests.
namespace league::audit::record::reference {

[[nodiscard]] bool is_secret_key(std::string_view key);
[[nodiscard]] std::string mask_secrets(std::string_view raw);

}  // namespace league::audit::record::reference
