#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace league::tools {

/// Rows of modules; true is dark.
using QrModules = std::vector<std::vector<bool>>;

/// A QR code (ISO/IEC 18004) of the versions 1 to 5 with error correction L, for telephones that
/// read an address from a screen. Empty for a text of more than 106 bytes.
[[nodiscard]] QrModules qr_code(std::string_view text);

/// Lines for a terminal with UTF-8, two rows of modules in each, black on white with the margin
/// that readers need.
[[nodiscard]] std::vector<std::string> qr_lines(const QrModules& modules);

}  // namespace league::tools
