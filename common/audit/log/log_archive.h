#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/core/result.h"

namespace league::audit::log {

/// The league that a log is of.
struct LogLeague {
  std::string id;  ///< empty while unknown
  std::string key = {};  ///< its public key, by which leagues are told apart; empty in old logs
  /// No earlier log belongs to this league, even where no key says so.
  bool is_new = false;
};

/// The last league that the headers at the beginning of the file at `path` name; nothing where none
/// does.
[[nodiscard]] std::optional<LogLeague> league_of_log(const std::filesystem::path& path);

/// Whether `entry` is the folder in `logs` that contains the logs of other leagues.
[[nodiscard]] bool is_archive(const std::filesystem::directory_entry& entry,
                              const std::filesystem::path& logs);

/// Keeps the logs of each league apart: `archive/1a2b3c4d` below the directory of all logs holds
/// those of the league whose key begins so, in the same layout (`agents/P01.log.jsonl`). Immutable,
/// so thread-safe; no two processes share a log. Source: docs/audit.md, "Files".
class LogArchive {
 public:
  /// `logs` is the directory of all logs; empty: everything stays where it is.
  explicit LogArchive(std::filesystem::path logs) : logs_(std::move(logs)) {}

  /// Makes `log`, a path without a number below the directory, the log of `league`: a log of
  /// another league at that path is archived, with its segments and seal, and an archived log of
  /// this league is restored.
  [[nodiscard]] core::Result<void> make_place(const std::filesystem::path& log,
                                              const LogLeague& league) const;

 private:
  [[nodiscard]] std::filesystem::path place_of(const std::string& league) const;
  [[nodiscard]] core::Result<void> put_aside(const std::filesystem::path& log,
                                             const LogLeague& owner) const;
  [[nodiscard]] core::Result<void> bring_back(const std::filesystem::path& log,
                                              const LogLeague& league) const;

  std::filesystem::path logs_;
};

}  // namespace league::audit::log
