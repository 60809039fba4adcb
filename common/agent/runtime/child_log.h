#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace league::agent::runtime {

/// The maximum size of the file for one command's stderr, in bytes.
inline constexpr std::uintmax_t kMostOfChildLog = 16 * 1024 * 1024;

/// The file in `directory` for the stderr of children that run `command`: its name is the readable
/// part of the command and a short hash of the whole command, `python3-bot.py-1a2b3c4d.stderr.log`.
[[nodiscard]] std::filesystem::path child_log_file(const std::filesystem::path& directory,
                                                   std::string_view command);

/// Returns a function for transport::line::SubprocessOptions::on_stderr that appends each line,
/// with the time and our process id, to the command's file in `directory`, on a thread of its own.
/// Lines are lost if the disk is too slow or full, or if the file has reached kMostOfChildLog.
/// Thread-safe.
[[nodiscard]] std::function<void(std::string_view command, std::string_view line)> child_log(
    std::filesystem::path directory);

}  // namespace league::agent::runtime
