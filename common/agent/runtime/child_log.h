#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace league::agent {

/// The most that is kept of what one command writes on stderr.
inline constexpr std::uintmax_t kMostOfChildLog = 16 * 1024 * 1024;

/// The file in `directory` for what children of `command` write on stderr: the readable part of the
/// command and a mark of the whole, `python3-bot.py-1a2b3c4d.stderr.log`.
[[nodiscard]] std::filesystem::path child_log_file(const std::filesystem::path& directory,
                                                   std::string_view command);

/// Takes the lines of children (transport::SubprocessOptions::on_stderr) and appends them, with the
/// time and our process id, to the command's file in `directory`, on a thread of its own. Lines are
/// lost when the disk is too slow or full, or the file has kMostOfChildLog. Thread-safe.
[[nodiscard]] std::function<void(std::string_view command, std::string_view line)> child_log(
    std::filesystem::path directory);

}  // namespace league::agent
