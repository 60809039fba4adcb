#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/audit/log_file.h"
#include "common/audit/record.h"
#include "common/audit/record_writer.h"
#include "common/core/clock.h"

namespace league::audit {

/// When the disk is waited for.
enum class SyncPolicy { kNever, kSegment, kBatch };

struct AuditLogOptions {
  std::filesystem::path path;  ///< of the segment that is being written
  std::string agent;  ///< for the header
  std::string league_id;
  std::size_t queue_bytes = 64 << 20;  ///< who appends beyond it waits
  std::uint64_t segment_bytes =
      256ULL << 20;  ///< then the file is closed and renamed, and a new one begins
  std::size_t max_body = 64 * 1024;  ///< of one record; see RecordWriter
  std::size_t batch_bytes = 256 * 1024;  ///< so much in the queue wakes the writer at once
  std::chrono::milliseconds batch_delay{
      20};  ///< the longest that a record stays in the queue while all is well
  std::chrono::milliseconds retry_delay{200};  ///< between attempts to write on a disk that is full
  std::chrono::milliseconds close_limit{
      5000};  ///< so long close() tries to write on a disk that is full
  std::uint64_t min_free_bytes = 256ULL << 20;  ///< below it free_space_ok() says no
  SyncPolicy sync = SyncPolicy::kNever;
  std::shared_ptr<LogFiles> files;  ///< null: the disk
  std::function<void(const std::filesystem::path&)>
      on_segment_closed;  ///< on the writer's thread; may compress it
};

/// Where the log stands.
struct AuditLogState {
  bool healthy = true;  ///< false while the last attempt to write failed
  std::string problem;  ///< what failed, for people; empty while healthy
  std::uint64_t records = 0;  ///< written
  std::uint64_t bytes = 0;  ///< written
  std::uint64_t lost =
      0;  ///< not written when close() gave up, or appended after it; 0 in every orderly run
  std::size_t queued_bytes = 0;
  int segment = 1;
};

/// The conversation log of one agent. Records go into a bounded queue; one thread numbers, masks,
/// serialises and writes them in batches, in the order of append(). None is dropped: who finds the
/// queue full waits. A disk that fails is tried again until it takes the bytes or close() gives up.
/// Thread-safe. Source: design §4 and §9, docs/audit.md.
class AuditLog final : public RecordSink {
 public:
  /// Creates the file and starts the writer. A file of an earlier run becomes a closed segment and
  /// the numbers go on. `clock` outlives the log.
  [[nodiscard]] static core::Result<std::unique_ptr<AuditLog>> open(AuditLogOptions options,
                                                                    const core::Clock& clock);
  /// Closes.
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Cheap; waits only while the queue is full. After close() the record is counted as lost.
  void append(Record record) override;

  /// Waits until everything that was appended before is written; false if that took longer than
  /// `limit`.
  [[nodiscard]] bool flush(std::chrono::milliseconds limit);

  /// The agent has its id: the file moves to `path` and a header with the new name follows. Waits
  /// at most `limit` for what was appended before. A file that is already there becomes a closed
  /// segment.
  [[nodiscard]] core::Result<void> retarget(
      std::filesystem::path path, std::string agent, std::string league_id,
      std::chrono::milliseconds limit = std::chrono::seconds(5));

  /// Writes what is left and ends the writer. A second call does nothing.
  void close();

  [[nodiscard]] AuditLogState state() const;
  /// False while the disk refuses what is to be written.
  [[nodiscard]] bool healthy() const;
  /// Whether a new match may start: healthy, and more than `min_free_bytes` are free.
  [[nodiscard]] bool free_space_ok() const;
  /// The file that is being written.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  struct Retarget {
    std::filesystem::path path;
    std::string agent;
    std::string league_id;
  };

  AuditLog(AuditLogOptions options, const core::Clock& clock);

  core::Result<void> begin_segment();
  core::Result<void> make_room_at(const std::filesystem::path& path, int& last_closed,
                                  std::uint64_t& seq) const;
  void run();
  bool next_batch(std::vector<Record>& batch, std::optional<Retarget>& retarget);
  void write_batch(std::vector<Record>& batch);
  void end_segment_if_full();
  bool write_out();
  void sync();
  bool wait_to_retry(const core::Error& error);
  void recovered();
  core::Result<void> move_to(Retarget target);

  AuditLogOptions options_;  ///< path, agent and league_id change under mutex_, by the writer only
  const core::Clock& clock_;

  // The writer's own.
  RecordWriter writer_;
  std::unique_ptr<LogFile> file_;
  std::string text_;
  std::uint64_t seq_ = 0;
  std::uint64_t segment_written_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_;  ///< for the writer
  std::condition_variable room_;  ///< for who appends
  std::condition_variable done_;  ///< for who waits for a flush or a retarget
  std::vector<Record> queue_;
  std::size_t queued_bytes_ = 0;  ///< in queue_ and in the batch that is being written
  std::uint64_t appended_ = 0;
  std::uint64_t finished_ = 0;  ///< appended and written, or given up
  bool hurry_ = false;
  bool closing_ = false;
  bool closed_ = false;
  std::chrono::steady_clock::time_point give_up_at_{};
  std::optional<Retarget> retarget_;
  std::optional<core::Result<void>> retarget_result_;
  AuditLogState state_;

  std::thread thread_;
};

}  // namespace league::audit
