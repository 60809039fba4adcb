#pragma once

#include <filesystem>
#include <memory>

#include "common/agent/runtime/projection_writer.h"
#include "referee/files/match_record.h"

namespace league::referee::files {

/// Keeps `matches/LEAGUE/MATCH.json` of the data directory up to date with the records of matches;
/// they are written by the writer's thread, in the background. Thread-safe.
class MatchFiles {
 public:
  /// Fails when matches/ cannot be written. `writer` outlives the object.
  [[nodiscard]] static core::Result<std::unique_ptr<MatchFiles>> open(
      std::filesystem::path data, agent::runtime::ProjectionWriter& writer);

  /// Call it when `record` has changed. Fast: it does not write the file itself. Never replaces the
  /// file of a later attempt, which belongs to another referee.
  void publish(const std::shared_ptr<const MatchRecord>& record);

 private:
  MatchFiles(std::filesystem::path data, agent::runtime::ProjectionWriter& writer)
      : data_(std::move(data)), writer_(writer) {}

  const std::filesystem::path data_;
  agent::runtime::ProjectionWriter& writer_;
};

}  // namespace league::referee::files
