#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/agent/runtime/projection_writer.h"
#include "referee/files/match_record.h"

namespace league::referee::files {

/// Writes the records of a referee's matches to `matches/LEAGUE/REFEREE.jsonl` of the data
/// directory, and, when no match has ended for a while, when the league is over, or when the
/// program ends, to a file for each match, `matches/LEAGUE/MATCH.json`. Both happen on the writer's
/// thread. Thread-safe. Source: docs/files.md.
class MatchFiles {
 public:
  /// Fails when matches/ cannot be written. `writer` outlives the object.
  [[nodiscard]] static core::Result<std::unique_ptr<MatchFiles>> open(
      std::filesystem::path data, agent::runtime::ProjectionWriter& writer);
  /// Stops the writer.
  ~MatchFiles();
  MatchFiles(const MatchFiles&) = delete;
  MatchFiles& operator=(const MatchFiles&) = delete;

  /// Call it when the match has ended; of several calls for a match the last one counts. Fast: it
  /// does not write the file itself.
  void publish(const std::shared_ptr<const MatchRecord>& record);

 private:
  MatchFiles(std::filesystem::path data, agent::runtime::ProjectionWriter& writer)
      : data_(std::move(data)), writer_(writer) {}
  [[nodiscard]] core::Result<void> append();
  /// Moves the records from the common files to those of the matches.
  [[nodiscard]] core::Result<void> take_apart();

  const std::filesystem::path data_;
  agent::runtime::ProjectionWriter& writer_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const MatchRecord>> ended_;  ///< not yet written
  std::set<std::filesystem::path> written_;  ///< the common files; of the writer's thread
};

}  // namespace league::referee::files
