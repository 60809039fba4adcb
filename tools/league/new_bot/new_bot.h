#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::tools {

/// A bot that is to be written.
struct NewBot {
  std::string language;  ///< `python` or `javascript`
  std::filesystem::path directory;
  std::string name;  ///< in the table of the league; empty: that of the directory
};

/// What was written.
struct WrittenBot {
  std::string name;
  std::vector<std::filesystem::path> files;
  std::string command;  ///< that starts it, in its directory: `python3 bot.py`
};

/// Writes a bot of ten lines, its library and a page that says how it is run and checked. The
/// directory must be new or empty (hidden files do not count). Fails, before anything is written,
/// with the files that are in the way or the reason why the name is not possible; also if the
/// directory cannot be written. No file is ever overwritten.
[[nodiscard]] core::Result<WrittenBot> write_bot(const NewBot& bot);

}  // namespace league::tools
