#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "common/agent/runtime/projection_writer.h"
#include "player/core/history_text.h"

namespace league::player {

/// Keeps a player's `players/ID/history.json` in its data directory: reads it when the player
/// begins, and writes it in the background after each match. docs/files.md says what is in it.
/// Thread-safe.
class HistoryFile {
 public:
  /// Reads the file of `owner` below `data`. One of another player who had the same id, or of an
  /// earlier league of the same name, is put aside, as `history-1.json`; an empty one, as a loss of
  /// power leaves it, counts as none. Fails, changing nothing, when the file is damaged, of another
  /// version or cannot be written. `writer` outlives the object or is stopped before it goes.
  [[nodiscard]] static core::Result<std::unique_ptr<HistoryFile>> open(
      const std::filesystem::path& data, HistoryOwner owner, agent::ProjectionWriter& writer);

  [[nodiscard]] const HistoryOwner& owner() const { return owner_; }
  /// What the file held when it was opened.
  [[nodiscard]] MatchHistory read() const;
  /// The player has learned of the end of a match. Short: nothing is written here.
  void add(PlayedMatch match);
  /// The player disputes a match. As short.
  void dispute(DisputedMatch match);

 private:
  HistoryFile(std::filesystem::path file, HistoryOwner owner, agent::ProjectionWriter& writer);
  [[nodiscard]] core::Result<void> load();
  [[nodiscard]] core::Result<void> put_aside(const std::string& why) const;
  void update();
  [[nodiscard]] core::Result<void> write(core::DraftFile& draft);

  const std::filesystem::path file_;
  const HistoryOwner owner_;
  agent::ProjectionWriter& writer_;
  mutable std::mutex history_mutex_;  // taken before mutex_
  MatchHistory history_;
  std::mutex mutex_;
  std::vector<PlayedMatch> unwritten_;
  std::vector<DisputedMatch> unwritten_disputes_;
};

/// `DATA/players/ID/history.json`; fails with kInvalidFieldValue when the id is no safe name.
[[nodiscard]] core::Result<std::filesystem::path> history_file(const std::filesystem::path& data,
                                                               const core::PlayerId& player);

}  // namespace league::player
