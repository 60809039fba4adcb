#pragma once

#include <condition_variable>
#include <filesystem>
#include <ios>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "player/core/open_match.h"

namespace league::player::service {

/// What the referees of announced matches show their players (protocol §8), if it is not the match
/// credential.
using RefereeCredentials = std::map<core::MatchId, std::string>;

/// Stores the commitments of the players of a process, so that a player that is killed during a
/// match returns with the same choice, and the credentials of third-party referees. One file for
/// all players of the process; changes are appended to it, and a thread flushes it ten times a
/// second and rewrites it when it has grown. docs/files.md describes its content. Thread-safe.
class OpenMatchFile {
 public:
  struct Options {
    std::filesystem::path file;  ///< mode 0600; its directory is created
    std::size_t most_bytes =
        4U << 20U;  ///< of finished matches; if the file has more, it is rewritten
    std::chrono::milliseconds flush_interval{100};  ///< the most that a power failure can lose
    /// Several processes of one player append to the file, so none of them rewrites it.
    bool is_shared = false;
  };

  /// Reads the file. Skips and reports a damaged line, such as a killed process leaves at the end.
  /// Fails if the file cannot be read or written.
  [[nodiscard]] static core::Result<std::unique_ptr<OpenMatchFile>> open(Options options);
  /// Flushes.
  ~OpenMatchFile();
  OpenMatchFile(const OpenMatchFile&) = delete;
  OpenMatchFile& operator=(const OpenMatchFile&) = delete;

  [[nodiscard]] std::vector<OpenMatch> matches_of(const core::PlayerId& player) const;
  /// The open match that another process of this player has stored in a shared file; nothing if
  /// there is none or the file is not shared.
  [[nodiscard]] std::optional<OpenMatch> find_shared(const core::PlayerId& player,
                                                     const core::MatchId& match);
  /// Stores the current state of a match. When this returns, the system has the data, so that it
  /// survives the end of the process; it is on disk within the flush interval.
  [[nodiscard]] core::Result<void> keep(const OpenMatch& match);
  [[nodiscard]] RefereeCredentials credentials_of(const core::PlayerId& player) const;
  /// Stores what the referee of a match shows according to the announcement; the value `match`
  /// removes an earlier one. Durable like keep().
  [[nodiscard]] core::Result<void> keep_credential(const core::PlayerId& player,
                                                   const core::MatchId& match,
                                                   const std::string& credential);
  /// Marks a match as finished, with the next line or flush. If that is lost, the match is restored
  /// as open, which does no harm, since no referee calls for it.
  void forget(const core::PlayerId& player, const core::MatchId& match);
  /// Forgets all matches of a player that has entered another league.
  void forget_all(const core::PlayerId& player);

 private:
  using Key = std::pair<core::PlayerId, core::MatchId>;

  explicit OpenMatchFile(Options options) : options_(std::move(options)) {}
  /// Reads the lines that were added since the last call.
  [[nodiscard]] core::Result<void> load();
  [[nodiscard]] core::Result<void> open_shared();
  /// Applies one line; false if it is damaged.
  bool read_line(const std::string& line);
  void take_credential(const Key& key, const std::string& credential);
  /// Rewrites the file with open matches only.
  [[nodiscard]] core::Result<void> rewrite();
  [[nodiscard]] core::Result<void> append(std::string_view lines);
  /// Wakes the flushing thread.
  void mark_dirty();
  void flush_loop();

  const Options options_;
  mutable std::mutex mutex_;  // also held while a line is written, so that lines do not mix
  std::condition_variable changed_;
  std::map<Key, OpenMatch> matches_;
  std::map<Key, std::string> credentials_;
  std::string over_lines_;  ///< lines for finished matches, to be written next
  std::size_t size_ = 0;
  std::streamoff read_size_ = 0;  ///< how much of the file has been read
  std::size_t open_size_ = 0;  ///< the size of the file after the last rewrite
  bool is_dirty_ = false;
  bool is_stopped_ = false;
  int descriptor_ = -1;  // changed only by the flushing thread once it runs
  std::thread flusher_;  // last: it uses everything above
};

}  // namespace league::player::service
