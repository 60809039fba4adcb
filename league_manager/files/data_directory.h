#pragma once

#include <filesystem>

#include "common/core/result.h"
#include "common/core/timestamp.h"

namespace league::league_manager::files {

/// The directory with everything that survives a manager: `journal/journal.sqlite`, the truth about
/// its league; `secret.key` and `operator.key`; and, derived from the journal, `leagues/` and
/// `matches/`. Archived leagues are in `archive/`. Immutable, so thread-safe.
class DataDirectory {
 public:
  explicit DataDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  /// Creates the directories that a manager needs; fails with the reason.
  [[nodiscard]] core::Result<void> prepare() const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path journal() const;
  [[nodiscard]] std::filesystem::path secret_key() const { return root_ / "secret.key"; }
  [[nodiscard]] std::filesystem::path operator_key() const { return root_ / "operator.key"; }
  [[nodiscard]] std::filesystem::path referee_key() const { return root_ / "referee.key"; }
  /// The key with which the manager seals its conversation log; it is not archived.
  [[nodiscard]] std::filesystem::path log_key() const { return root_ / "log.key"; }
  /// See journal::JournalMark. It is not in the journal's directory, so that it survives the loss
  /// of that directory.
  [[nodiscard]] std::filesystem::path journal_mark() const { return root_ / "journal.mark"; }
  /// What a manager knows of others that could lead the league.
  [[nodiscard]] std::filesystem::path replication() const { return root_ / "replication.json"; }
  /// The operator's decision to go on without them (`league admin lead`).
  [[nodiscard]] std::filesystem::path lose_after() const { return root_ / "lose_after"; }
  /// The directory of entries that others did not have when they went on; it is not archived.
  [[nodiscard]] std::filesystem::path put_aside() const { return root_ / "put_aside"; }

  /// Archives the league in this directory, damaged or not, so that another can begin: moves it to
  /// `archive/TIME`, which is a data directory itself. Returns its new path; an empty path if there
  /// was nothing. Fails while a manager runs here.
  [[nodiscard]] core::Result<std::filesystem::path> archive(core::UtcTimestamp now) const;

 private:
  std::filesystem::path root_;
};

}  // namespace league::league_manager::files
