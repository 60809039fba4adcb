#pragma once

#include <filesystem>

namespace league::core {

/// The file of the program that runs, whose siblings are in the same directory. Works without
/// /proc, too. Empty if the system does not tell.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace league::core
