#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "common/agent/runtime/projection_writer.h"
#include "player/core/history.h"

namespace league::player::service {

/// Keeps a player's `players/ID/history.json` in its data directory: reads it when the player
/// starts, and writes it in the background after each match. docs/files.md describes its content.
/// Thread-safe.
class HistoryFile {
 public:
  /// Reads the file of `owner` below `data`. A file of another player with the same id, or of an
  /// earlier league with the same name, is renamed to `history-1.json`; an empty file, which a
  /// power failure can leave, counts as missing. Fails, without a change, if the file is damaged,
  /// has another version or cannot be written. `writer` must outlive the object or be stopped
  /// before it is destroyed.
  [[nodiscard]] static core::Result<std::unique_ptr<HistoryFile>> open(
      const std::filesystem::path& data, HistoryOwner owner,
      agent::runtime::ProjectionWriter& writer);

  [[nodiscard]] const HistoryOwner& owner() const { return owner_; }
  /// The content of the file when it was opened.
  [[nodiscard]] MatchHistory read() const;
  /// Adds a match that has ended. Fast: it does not write the file itself.
  void add(PlayedMatch match);
  /// Adds a dispute. As fast as `add`.
  void dispute(DisputedMatch match);

 private:
  HistoryFile(std::filesystem::path file, HistoryOwner owner,
              agent::runtime::ProjectionWriter& writer);
  [[nodiscard]] core::Result<void> load();
  [[nodiscard]] core::Result<void> put_aside(const std::string& why) const;
  void update();
  [[nodiscard]] core::Result<void> write(core::DraftFile& draft);

  const std::filesystem::path file_;
  const HistoryOwner owner_;
  agent::runtime::ProjectionWriter& writer_;
  mutable std::mutex history_mutex_;  // taken before mutex_
  MatchHistory history_;
  std::mutex mutex_;
  std::vector<PlayedMatch> unwritten_;
  std::vector<DisputedMatch> unwritten_disputes_;
};

/// `DATA/players/ID/history.json`; fails with kInvalidFieldValue if the id is not a safe file name.
[[nodiscard]] core::Result<std::filesystem::path> history_file(const std::filesystem::path& data,
                                                               const core::PlayerId& player);

}  // namespace league::player::service
