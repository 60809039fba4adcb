#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "player/core/open_match.h"

namespace league::player {

/// What the referees of announced matches show their players (protocol §8), where it is not the
/// match credential.
using RefereeCredentials = std::map<core::MatchId, std::string>;

/// Keeps what the players of a process have committed themselves to, so that a player that is
/// killed in the middle of a match comes back with the same choice, and by what they know foreign
/// referees. One file for all players of the
/// process, to which each change is appended; a thread flushes it ten times a second and makes it
/// small again when it has grown. docs/files.md says what is in it. Thread-safe.
class OpenMatchFile {
 public:
  struct Options {
    std::filesystem::path file;  ///< mode 0600; its directory is made
    std::size_t most_bytes =
        4U << 20U;  ///< of what is over; more than that, and it is written anew
    std::chrono::milliseconds flush_interval{100};  ///< what a loss of power can cost at most
  };

  /// Reads what is there. A damaged line, as a kill leaves one at the end, is left out and
  /// reported. Fails when the file cannot be read or written.
  [[nodiscard]] static core::Result<std::unique_ptr<OpenMatchFile>> open(Options options);
  /// Flushes.
  ~OpenMatchFile();
  OpenMatchFile(const OpenMatchFile&) = delete;
  OpenMatchFile& operator=(const OpenMatchFile&) = delete;

  [[nodiscard]] std::vector<OpenMatch> matches_of(const core::PlayerId& player) const;
  /// What is known of a match now. When this returns it is with the system, and so survives the end
  /// of the process; the disk has it within the flush interval.
  [[nodiscard]] core::Result<void> keep(const OpenMatch& match);
  [[nodiscard]] RefereeCredentials credentials_of(const core::PlayerId& player) const;
  /// What the referee of a match shows, as it was announced; `match` forgets what was announced
  /// before. As keep().
  [[nodiscard]] core::Result<void> keep_credential(const core::PlayerId& player,
                                                   const core::MatchId& match,
                                                   const std::string& credential);
  /// The match is over. That goes to the system with the next line or flush: without it, and where
  /// it fails, the match is found open again, and nobody asks.
  void forget(const core::PlayerId& player, const core::MatchId& match);
  /// All matches of a player who has entered another league.
  void forget_all(const core::PlayerId& player);

 private:
  using Key = std::pair<core::PlayerId, core::MatchId>;

  explicit OpenMatchFile(Options options) : options_(std::move(options)) {}
  [[nodiscard]] core::Result<void> load();
  /// Takes in one line; false for one that is damaged.
  bool read_line(const std::string& line);
  /// Takes in that a choice was asked for; false where the match or a field of `note` is unknown.
  bool read_asked_for(const Key& key, const nlohmann::json& note);
  void take_credential(const Key& key, const std::string& credential);
  /// Writes the file anew, with what is open only.
  [[nodiscard]] core::Result<void> rewrite();
  [[nodiscard]] core::Result<void> append(std::string_view lines);
  /// The flushing thread has something to do.
  void mark_dirty();
  void flush_loop();

  const Options options_;
  mutable std::mutex mutex_;  // held while a line goes to the system: lines must not mix
  std::condition_variable changed_;
  std::map<Key, OpenMatch> matches_;
  std::map<Key, std::string> credentials_;
  std::string over_lines_;  ///< of matches that are over, for the next write
  std::size_t size_ = 0;
  std::size_t open_size_ = 0;  ///< when it was written anew the last time
  bool is_dirty_ = false;
  bool is_stopped_ = false;
  int descriptor_ = -1;  // only the flushing thread changes it once that runs
  std::thread flusher_;  // last: it uses everything above
};

}  // namespace league::player
