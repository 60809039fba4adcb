#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace league::core {

/// Appends `bytes` in base64 with padding (RFC 4648, section 4) to `out`.
void append_base64(std::string_view bytes, std::string& out);
/// The decoded bytes; nothing if `text` is not base64 with padding in its canonical form.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace league::core
