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
#include <utility>
#include <vector>

#include "common/audit/log/log_archive.h"
#include "common/audit/log/log_file.h"
#include "common/audit/log/log_writer.h"
#include "common/audit/log/packed_log.h"
#include "common/audit/record/record.h"
#include "common/audit/record/record_writer.h"
#include "common/core/clock.h"
#include "common/core/signing_key.h"

namespace league::audit::log {

struct AuditLogOptions {
  std::filesystem::path path;  ///< of the segment that is being written
  std::string agent;  ///< for the header
  LogLeague league = {};
  std::filesystem::path logs =
      {};  ///< the directory of all logs, see LogArchive; empty: none is archived
  std::size_t queue_bytes = 64 << 20;  ///< append() waits beyond it
  std::uint64_t segment_bytes =
      256ULL << 20;  ///< a file of this size is closed and renamed, and a new one begins
  std::size_t max_body = 64 * 1024;  ///< of one record; see RecordWriter
  std::size_t batch_bytes = 256 * 1024;  ///< with this much in the queue the writer wakes at once
  std::chrono::milliseconds retry_delay{200};  ///< between attempts to write on a disk that is full
  std::chrono::milliseconds close_limit{
      5000};  ///< how long close() keeps trying to write to a full disk
  std::uint64_t min_free_bytes = 256ULL << 20;  ///< below it free_space_ok() says no
  /// Whether lines are chained by hashes and sealed by signed heads, so that anybody can verify the
  /// log afterwards.
  bool verifiable = true;
  std::shared_ptr<const core::SigningKey>
      key;  ///< of the agent; null: one that lives as long as the log
  std::chrono::milliseconds seal_interval{
      5000};  ///< the longest that a written record stays unsealed
  std::uint64_t seal_records = 50'000;  ///< this many unsealed records are sealed sooner
  std::shared_ptr<LogFiles> files;  ///< null: the disk
  std::shared_ptr<LogWriter> writer;  ///< what the logs of a process share; null: one of its own
  /// Closed segments of at least this many bytes are compressed (packed_path), including those of
  /// earlier runs; 0: none.
  std::uint64_t compress_from = 1 << 20;
  std::chrono::milliseconds compress_pause{50};  ///< between two pieces of 1 MiB
  /// Called with each record as it is appended, unmasked, on the thread that appends. Must be quick
  /// and thread-safe. May be empty.
  std::function<void(const record::Record&)> on_record = {};
};

/// State of the log.
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

/// The conversation log of one agent. Records go into a bounded queue of its own; the writer's
/// thread numbers, masks, serialises and writes them in batches, in the order of append(). No
/// record is dropped: when the queue is full, append() waits. Writing is retried until the disk
/// accepts the bytes or close() gives up. Thread-safe. Source: docs/audit.md.
class AuditLog final : public record::RecordSink, private LogWriter::Client {
 public:
  /// Creates the file. An existing file of an earlier run becomes a closed segment, and its
  /// numbering is continued; one of another league is archived. Fails while another process is
  /// writing the existing file. `clock` outlives the log.
  [[nodiscard]] static core::Result<std::unique_ptr<AuditLog>> open(AuditLogOptions options,
                                                                    const core::Clock& clock);
  /// Closes.
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Cheap; waits only while the queue is full. After close() the record is counted as lost. A note
  /// (record::note_of) is written in its place between the records.
  void append(record::Record record) override;

  /// Waits until everything that was appended before is written; false if that took longer than
  /// `limit`.
  [[nodiscard]] bool flush(std::chrono::milliseconds limit);

  /// The agent has got its id: moves the file to `path` and writes a header with the new name.
  /// Waits up to `limit` for records appended before. A file already at `path` becomes a closed
  /// segment, or is archived if it belongs to another league; if another process is writing it,
  /// this log stays where it is and gets only the header.
  [[nodiscard]] core::Result<void> retarget(
      std::filesystem::path path, std::string agent, LogLeague league,
      std::chrono::milliseconds limit = std::chrono::seconds(5));

  /// Writes the remaining records. A second call does nothing.
  void close();

  [[nodiscard]] AuditLogState state() const;
  /// False while writing fails.
  [[nodiscard]] bool healthy() const;
  /// Whether a new match may start: healthy, and more than `min_free_bytes` were free a tenth of a
  /// second ago or less.
  [[nodiscard]] bool free_space_ok() const;
  /// The newest head that is signed and on the disk; nothing before the first. Publishing it lets
  /// others prove what the log contained up to there.
  [[nodiscard]] std::optional<record::LogHead> sealed_head() const;
  /// Seals the records appended before, waiting up to `limit`; false if that took longer, or if
  /// seals are switched off.
  [[nodiscard]] bool seal_now(std::chrono::milliseconds limit);
  /// The same without waiting: calls `done` on the writer's thread when they are sealed, or at once
  /// where there will be no seal. Not at all if the disk refuses them until the log is closed.
  /// `done` must be quick, and must not append.
  void seal_then(std::function<void()> done);
  /// Waits up to `limit` until all closed segments are compressed; false if that took longer.
  [[nodiscard]] bool wait_until_compressed(std::chrono::milliseconds limit);
  /// The key that verifies the seals, in hexadecimal; empty if there are none.
  [[nodiscard]] std::string public_key() const;
  /// The file that is being written.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  struct Retarget {
    std::filesystem::path path;
    std::string agent;
    LogLeague league;
  };

  AuditLog(AuditLogOptions options, const core::Clock& clock);

  // On the writer's thread.
  std::optional<LogWriter::Time> serve() override;
  core::Result<void> begin_segment();
  core::Result<void> make_room_at(const std::filesystem::path& path, int& last_closed,
                                  std::optional<record::LogHead>& end) const;
  void append_header(std::string continues);
  [[nodiscard]] bool has_given_up() const;
  bool take_work();
  void fill_text();
  /// About how many bytes the record takes in the log.
  [[nodiscard]] std::int64_t expected_text(const record::Record& record) const;
  void note_late_seal(core::Clock::Steady now);
  core::Result<void> deliver();
  core::Result<void> write_out();
  void text_is_done();
  void end_segment_if_full();
  core::Result<void> begin_next_segment();
  bool finish();
  void find_segments_to_compress();
  std::optional<LogWriter::Time> compress_a_piece();
  void stop_compressing();
  void note_compressed();
  [[nodiscard]] bool is_to_be_compressed(const std::filesystem::path& segment) const;
  [[nodiscard]] std::optional<LogWriter::Time> when_to_come_again();
  core::Result<void> sync();
  void note_unsealed();
  bool seal_if_due();
  bool seal(bool closed);
  core::Result<void> begin_seal_file(record::Seal seal);
  void publish_seal();
  [[nodiscard]] std::vector<std::function<void()>> note_sealed(std::uint64_t finished);
  std::optional<LogWriter::Time> retry_after(const core::Error& error);
  void give_up();
  void recovered();
  void report_problem(const core::Error& error);
  void report_move();
  core::Result<void> move_to(Retarget target);

  AuditLogOptions options_;  ///< path, agent and league change under mutex_, by the writer only
  const core::Clock& clock_;

  // The writer's own.
  record::RecordWriter writer_;
  std::unique_ptr<LogFile> file_;  ///< null between two segments
  std::filesystem::path closed_segment_;  ///< whose successor is still to be begun
  std::vector<record::Record> batch_;  ///< taken from the queue
  std::size_t next_ = 0;  ///< of batch_, to be serialised
  std::optional<Retarget> move_;  ///< to be done after batch_
  std::optional<core::Result<void>> moved_;  ///< to be told when the new header is written
  std::string text_;  ///< serialised
  std::size_t text_written_ = 0;
  std::size_t text_memory_ = 0;  ///< what its records took in the queue
  std::uint64_t text_records_ = 0;  ///< with notes that were appended
  std::uint64_t text_notes_ = 0;  ///< of these
  std::uint64_t seq_ = 0;
  std::uint64_t unsealed_ = 0;  ///< lines since the last seal
  LogWriter::Time seal_due_{};  ///< when to write the next seal, while there are unsealed lines
  std::optional<core::Clock::Steady> first_unsealed_;  ///< the earliest record since the last seal
  std::optional<core::Clock::Steady> delay_noted_to_;  ///< how far the last `seal_delayed` reaches
  std::optional<record::Seal> new_seal_;  ///< to be published when its line is written
  std::uint64_t new_seal_covers_ = 0;  ///< of appended
  bool has_seal_file_ = false;  ///< a seal file of this process is next to the log
  bool closing_seal_tried_ = false;
  std::uint64_t segment_written_ = 0;
  bool has_started_ = false;  ///< this process has written a header
  std::vector<std::filesystem::path> to_compress_;  ///< closed segments, the next one first
  std::unique_ptr<SegmentPacker> packer_;  ///< of the next one
  LogWriter::Time compress_at_{};  ///< while there are any

  mutable std::mutex mutex_;
  std::condition_variable room_;  ///< callers that append wait here for room
  std::condition_variable done_;  ///< callers wait here for a flush, a retarget or the end
  std::vector<record::Record> queue_;
  std::size_t queued_bytes_ = 0;  ///< in queue_ and in the batch that is being written
  std::uint64_t appended_ = 0;
  std::uint64_t finished_ = 0;  ///< appended and written, or given up
  bool closing_ = false;
  bool is_ending_ = false;  ///< the closing seal is being written
  bool closed_ = true;  ///< nothing will be written any more; or not yet open
  std::chrono::steady_clock::time_point give_up_at_{};
  std::optional<Retarget> retarget_;
  std::optional<core::Result<void>> retarget_result_;
  std::optional<record::LogHead> sealed_head_;
  std::uint64_t seal_wish_ = 0;  ///< appended records that somebody wants sealed
  std::uint64_t sealed_ = 0;  ///< of appended
  std::vector<std::pair<std::uint64_t, std::function<void()>>> seal_wishes_;  ///< of seal_then()
  bool is_compressed_ = true;  ///< false while somebody waits for all segments to be compressed
  AuditLogState state_;
  mutable std::optional<core::Clock::Steady> looked_at_;  ///< when the free space was last checked
  mutable bool has_space_ = true;  ///< whether there was enough free space then
};

}  // namespace league::audit::log
