#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

#include "common/core/result.h"
#include "common/core/timestamp.h"

namespace league::league_manager {

/// Where a manager keeps what survives it: `journal/journal.sqlite`, the truth about its league;
/// `secret.key` and `operator.key`; and, made from the journal, `leagues/` and `matches/`. Leagues
/// that were put aside are in `archive/`. Immutable, so thread-safe.
class DataDirectory {
 public:
  explicit DataDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  /// Makes the directories that a manager needs; says why when it cannot.
  [[nodiscard]] core::Result<void> prepare() const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path journal() const;
  [[nodiscard]] std::filesystem::path secret_key() const { return root_ / "secret.key"; }
  [[nodiscard]] std::filesystem::path operator_key() const { return root_ / "operator.key"; }
  [[nodiscard]] std::filesystem::path referee_key() const { return root_ / "referee.key"; }
  /// With it the manager seals its conversation log; it is not archived.
  [[nodiscard]] std::filesystem::path log_key() const { return root_ / "log.key"; }
  /// See journal::JournalMark. Beside the journal's directory, so that it survives that one.
  [[nodiscard]] std::filesystem::path journal_mark() const { return root_ / "journal.mark"; }
  /// By which names managers of this directory have led; it is not archived.
  [[nodiscard]] std::filesystem::path lease_holder() const { return root_ / "lease.holder"; }

  /// Puts the league that is here aside, damaged or not, so that another can begin: into
  /// `archive/TIME`, which is a data directory by itself. Returns where it is now; an empty path if
  /// there was nothing. Fails while a manager runs here.
  [[nodiscard]] core::Result<std::filesystem::path> archive(core::UtcTimestamp now) const;
  /// Puts aside what claims more than the journal holds: the files that were made from it and its
  /// mark, with a copy of the journal as it was found, into `archive/TIME`. The league stays.
  /// Returns where they are now.
  [[nodiscard]] core::Result<std::filesystem::path> set_aside(core::UtcTimestamp now) const;

 private:
  /// A new directory in `archive/`.
  [[nodiscard]] core::Result<std::filesystem::path> make_place(core::UtcTimestamp now) const;
  /// Moves what is there of `names` to `place`.
  [[nodiscard]] core::Result<void> move_to(const std::filesystem::path& place,
                                           std::initializer_list<const char*> names) const;

  std::filesystem::path root_;
};

}  // namespace league::league_manager
