// The half of AuditLog that runs on the writer's thread.
#include <algorithm>
#include <system_error>
#include <utility>

#include "common/audit/audit_log.h"

namespace league::audit {
namespace {

constexpr std::size_t kWriteSize = 256 * 1024;

core::Result<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::create_directories(to.parent_path(), error);
  std::filesystem::rename(from, to, error);
  if (!error) return {};
  return core::Error{core::ErrorCode::kInternalError,
                     "conversation log: renaming " + from.string() + " to " + to.string() +
                         " failed: " + error.message(),
                     {}};
}

}  // namespace

/// What stands at `path` from an earlier run becomes a closed segment; `last_closed` and `seq` are
/// carried on.
core::Result<void> AuditLog::make_room_at(const std::filesystem::path& path, int& last_closed,
                                          std::uint64_t& seq) const {
  last_closed = last_segment(path);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (last_closed > 0) seq = std::max(seq, last_seq(segment_path(path, last_closed)));
    return {};
  }
  seq = std::max(seq, last_seq(path));
  return rename_file(path, segment_path(path, ++last_closed));
}

core::Result<void> AuditLog::begin_segment() {
  auto file = options_.files->create(options_.path);
  if (!file) return file.error();
  file_ = std::move(*file);
  segment_written_ = 0;
  writer_.forget_broadcasts();
  append_header({.agent = options_.agent,
                 .league_id = options_.league_id,
                 .created = clock_.utc_now(),
                 .segment = state_.segment,
                 .first_seq = seq_ + 1},
                text_);
  return {};
}

void AuditLog::run() {
  std::vector<Record> batch;
  std::optional<Retarget> retarget;
  write_out();  // the header
  while (next_batch(batch, retarget)) {
    if (!batch.empty()) write_batch(batch);
    if (!retarget) continue;
    auto moved = move_to(std::move(*retarget));
    retarget.reset();
    std::lock_guard lock(mutex_);
    retarget_result_ = std::move(moved);
    done_.notify_all();
  }
  if (options_.sync != SyncPolicy::kNever) sync();
}

/// Waits for work; false when the log is closed and nothing is left.
bool AuditLog::next_batch(std::vector<Record>& batch, std::optional<Retarget>& retarget) {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [&] { return !queue_.empty() || retarget_ || hurry_ || closing_; });
  work_.wait_for(lock, options_.batch_delay, [&] {
    return queued_bytes_ >= options_.batch_bytes || retarget_ || hurry_ || closing_;
  });
  hurry_ = false;
  batch.clear();
  batch.swap(queue_);
  retarget = std::exchange(retarget_, std::nullopt);
  if (!batch.empty() || retarget || !closing_) return true;
  closed_ = true;
  return false;
}

void AuditLog::write_batch(std::vector<Record>& batch) {
  std::size_t freed = 0;
  std::uint64_t done = 0;
  auto write_and_report = [&] {
    bool written = write_out();
    std::lock_guard lock(mutex_);
    queued_bytes_ -= std::exchange(freed, 0);
    finished_ += done;
    (written ? state_.records : state_.lost) += std::exchange(done, 0);
    room_.notify_all();
    done_.notify_all();
  };
  for (Record& record : batch) {
    writer_.append(record, ++seq_, text_);
    freed += memory_of(record);
    ++done;
    record = Record{};
    if (text_.size() < kWriteSize) continue;
    write_and_report();
    end_segment_if_full();
  }
  write_and_report();
  if (options_.sync == SyncPolicy::kBatch) sync();
  end_segment_if_full();
}

void AuditLog::sync() {
  auto synced = file_->sync();
  if (synced) return;
  std::lock_guard lock(mutex_);
  state_.healthy = false;
  state_.problem = synced.error().message;
}

/// Writes `text_`, however often the disk refuses; false when it gave up.
bool AuditLog::write_out() {
  std::string_view left = text_;
  while (!left.empty()) {
    auto written = file_->write(left);
    if (!written) {
      if (wait_to_retry(written.error())) continue;
      break;
    }
    left.remove_prefix(*written);
    segment_written_ += *written;
    recovered();
  }
  std::lock_guard lock(mutex_);
  state_.bytes += text_.size() - left.size();
  text_.clear();
  return left.empty();
}

/// False when the log is being closed and the time for it is over.
bool AuditLog::wait_to_retry(const core::Error& error) {
  std::unique_lock lock(mutex_);
  state_.healthy = false;
  state_.problem = error.message;
  auto until = std::chrono::steady_clock::now() + options_.retry_delay;
  work_.wait_until(lock, until,
                   [&] { return closing_ && std::chrono::steady_clock::now() >= give_up_at_; });
  return !closing_ || std::chrono::steady_clock::now() < give_up_at_;
}

void AuditLog::recovered() {
  std::lock_guard lock(mutex_);
  if (state_.healthy) return;
  state_.healthy = true;
  state_.problem.clear();
}

void AuditLog::end_segment_if_full() {
  if (segment_written_ < options_.segment_bytes) return;
  if (options_.sync != SyncPolicy::kNever) sync();
  std::filesystem::path closed = segment_path(options_.path, state_.segment);
  if (auto renamed = rename_file(options_.path, closed); !renamed) {
    // The file goes on growing; the next batch tries again.
    std::lock_guard lock(mutex_);
    state_.problem = renamed.error().message;
    return;
  }
  {
    std::lock_guard lock(mutex_);
    ++state_.segment;
  }
  while (true) {
    auto begun = begin_segment();
    if (begun) break;
    if (!wait_to_retry(begun.error())) return;
  }
  recovered();
  write_out();
  if (options_.on_segment_closed) options_.on_segment_closed(closed);
}

core::Result<void> AuditLog::move_to(Retarget target) {
  int closed = 0;
  if (target.path != options_.path) {
    if (auto room = make_room_at(target.path, closed, seq_); !room) return room;
    if (auto moved = rename_file(options_.path, target.path); !moved) return moved;
  }
  {
    std::lock_guard lock(mutex_);
    if (target.path != options_.path) state_.segment = closed + 1;
    options_.path = std::move(target.path);
    options_.agent = std::move(target.agent);
    options_.league_id = std::move(target.league_id);
  }
  append_header({.agent = options_.agent,
                 .league_id = options_.league_id,
                 .created = clock_.utc_now(),
                 .segment = state_.segment,
                 .first_seq = seq_ + 1},
                text_);
  write_out();
  return {};
}

}  // namespace league::audit
