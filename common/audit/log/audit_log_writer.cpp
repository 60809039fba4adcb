// The half of AuditLog that runs on the writer's thread; its seals are in audit_log_seals.cpp.
#include <algorithm>
#include <system_error>
#include <utility>

#include "common/audit/log/audit_log.h"

namespace league::audit::log {
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

/// Turns a file of an earlier run at `path` into a closed segment; `end` is where it ends.
core::Result<void> AuditLog::make_room_at(const std::filesystem::path& path, int& last_closed,
                                          std::optional<record::LogHead>& end) const {
  last_closed = last_segment(path);
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    auto renamed = rename_file(path, segment_path(path, ++last_closed));
    if (!renamed) return renamed;
  }
  // A file that was killed before its first line was whole says nothing; the one before it does.
  for (int segment = last_closed; segment > 0 && !end; --segment)
    end = log_end(segment_path(path, segment));
  return {};
}

core::Result<void> AuditLog::begin_segment() {
  auto file = options_.files->create(options_.path);
  if (!file) return file.error();
  file_ = std::move(*file);
  segment_written_ = 0;
  writer_.forget_broadcasts();
  append_header({});
  return {};
}

void AuditLog::append_header(std::string continues) {
  writer_.append_header(
      {.agent = options_.agent,
       .league_id = options_.league.id,
       .league_key = options_.league.key,
       .created = clock_.utc_now(),
       .segment = state_.segment,
       .first_seq = seq_ + 1,
       .public_key = public_key(),
       .seal_interval = options_.verifiable ? options_.seal_interval : std::chrono::milliseconds(0),
       .continues = std::move(continues),
       .starts = !std::exchange(has_started_, true)},
      text_);
  note_unsealed();
}

/// A failed step is retried later, so nothing is lost, and no other log has to wait.
std::optional<LogWriter::Time> AuditLog::serve() {
  if (has_given_up()) return std::nullopt;
  while (true) {
    if (auto delivered = deliver(); !delivered) return retry_after(delivered.error());
    if (!text_.empty()) continue;  // a full segment was sealed: the line first, then the file
    if (new_seal_) publish_seal();
    if (moved_) report_move();
    if (!file_) continue;  // the segment ended
    if (next_ < batch_.size()) {
      fill_text();
    } else if (move_) {
      moved_ = move_to(std::move(*move_));
      move_.reset();
    } else if (!take_work() && !seal_if_due() && finish()) {
      return when_to_come_again();
    }
  }
}

bool AuditLog::has_given_up() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

/// False if there is none.
bool AuditLog::take_work() {
  batch_.clear();
  next_ = 0;
  std::lock_guard lock(mutex_);
  batch_.swap(queue_);
  move_ = std::exchange(retarget_, std::nullopt);
  return !batch_.empty() || move_;
}

void AuditLog::fill_text() {
  while (next_ < batch_.size() && text_.size() < kWriteSize) {
    record::Record& record = batch_[next_++];
    const bool is_note = record.kind == record::Kind::kNote;
    if (!is_note) note_late_seal(record.mono);
    const std::size_t begin = text_.size();
    writer_.append(record, is_note ? seq_ : ++seq_, text_);
    text_notes_ += is_note ? 1 : 0;
    if (record.meter)
      record.meter->add(static_cast<std::int64_t>(text_.size() - begin) - expected_text(record));
    text_memory_ += record::memory_of(record);
    ++text_records_;
    record = record::Record{};
    note_unsealed();
  }
}

/// Writes the serialised records to the file, which is created if it is missing.
core::Result<void> AuditLog::deliver() {
  if (!file_) {
    if (auto begun = begin_next_segment(); !begun) return begun;
  }
  if (text_.empty()) return {};
  if (auto written = write_out(); !written) return written;
  text_is_done();
  end_segment_if_full();
  return {};
}

core::Result<void> AuditLog::write_out() {
  while (text_written_ < text_.size()) {
    auto written = file_->write(std::string_view(text_).substr(text_written_));
    if (!written) return written.error();
    text_written_ += *written;
    segment_written_ += *written;
    recovered();
  }
  return {};
}

void AuditLog::text_is_done() {
  std::lock_guard lock(mutex_);
  state_.bytes += std::exchange(text_written_, 0);
  state_.records += text_records_ - std::exchange(text_notes_, 0);
  finished_ += std::exchange(text_records_, 0);
  queued_bytes_ -= std::exchange(text_memory_, 0);
  text_.clear();
  room_.notify_all();
  done_.notify_all();
}

/// Nothing is left to do: true if the writer may serve others.
bool AuditLog::finish() {
  std::lock_guard lock(mutex_);
  if (!queue_.empty() || retarget_) return false;
  if (closing_ && !closing_seal_tried_ && options_.verifiable) return false;
  if (closing_) closed_ = true;
  done_.notify_all();
  return true;
}

/// When everything is written: the next work to do later.
std::optional<LogWriter::Time> AuditLog::when_to_come_again() {
  if (has_given_up()) return std::nullopt;
  auto again = compress_a_piece();
  if (to_compress_.empty()) note_compressed();
  if (unsealed_ > 0) again = again ? std::min(*again, seal_due_) : seal_due_;
  return again;
}

/// Those of earlier runs at the path of the log.
void AuditLog::find_segments_to_compress() {
  to_compress_.clear();
  for (int segment = 1; segment < state_.segment; ++segment) {
    auto path = segment_path(options_.path, segment);
    if (is_to_be_compressed(path)) to_compress_.push_back(std::move(path));
  }
}

bool AuditLog::is_to_be_compressed(const std::filesystem::path& segment) const {
  std::error_code error;
  auto size = std::filesystem::file_size(segment, error);
  return !error && options_.compress_from > 0 && size >= options_.compress_from &&
         size <= kLongestPacked;
}

void AuditLog::note_compressed() {
  std::lock_guard lock(mutex_);
  if (!std::exchange(is_compressed_, true)) done_.notify_all();
}

/// Compresses in small steps, so that neither the other logs of the process nor its league are
/// slowed down. Failures, as on a full disk, are left to the next process.
std::optional<LogWriter::Time> AuditLog::compress_a_piece() {
  constexpr std::size_t kCompressedAtOnce = std::size_t{1} << 20;
  constexpr std::chrono::seconds kUntilOthersHaveEnded{1};
  if (to_compress_.empty()) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  if (now < compress_at_) return compress_at_;
  if (!options_.writer->begin_long_work(*this)) return compress_at_ = now + kUntilOthersHaveEnded;
  compress_at_ = now + options_.compress_pause;
  if (!packer_) {
    auto begun = SegmentPacker::begin(to_compress_.front());
    if (begun) packer_ = std::move(*begun);
  }
  auto done = packer_ ? packer_->step(kCompressedAtOnce) : core::Result<bool>(true);
  if (done && !*done) return compress_at_;
  packer_.reset();
  options_.writer->end_long_work(*this);
  to_compress_.erase(to_compress_.begin());
  if (to_compress_.empty()) return std::nullopt;
  return compress_at_;
}

void AuditLog::stop_compressing() {
  packer_.reset();
  to_compress_.clear();
  options_.writer->end_long_work(*this);
}

void AuditLog::report_problem(const core::Error& error) {
  std::lock_guard lock(mutex_);
  state_.healthy = false;
  state_.problem = error.message;
}

/// When to try again; never if the log is being closed and the time for it is over.
std::optional<LogWriter::Time> AuditLog::retry_after(const core::Error& error) {
  auto now = std::chrono::steady_clock::now();
  report_problem(error);
  std::lock_guard lock(mutex_);
  if (!closing_) return now + options_.retry_delay;
  if (now < give_up_at_) return std::min(now + options_.retry_delay, give_up_at_);
  give_up();
  return std::nullopt;
}

/// Under mutex_.
void AuditLog::give_up() {
  std::uint64_t lost = appended_ - finished_;
  state_.lost += lost;
  state_.bytes += text_written_;
  finished_ = appended_;
  queued_bytes_ = 0;
  queue_.clear();
  closed_ = true;
  room_.notify_all();
  done_.notify_all();
}

void AuditLog::recovered() {
  std::lock_guard lock(mutex_);
  if (state_.healthy) return;
  state_.healthy = true;
  state_.problem.clear();
}

void AuditLog::end_segment_if_full() {
  if (segment_written_ < options_.segment_bytes) return;
  if (unsealed_ > 0 && seal(false)) return;  // called again when the seal's line is written
  std::filesystem::path closed = segment_path(options_.path, state_.segment);
  if (auto renamed = rename_file(options_.path, closed); !renamed) {
    // The file goes on growing; the next batch tries again.
    std::lock_guard lock(mutex_);
    state_.problem = renamed.error().message;
    return;
  }
  file_.reset();
  closed_segment_ = std::move(closed);
  std::lock_guard lock(mutex_);
  ++state_.segment;
}

core::Result<void> AuditLog::begin_next_segment() {
  if (auto begun = begin_segment(); !begun) return begun;
  recovered();
  if (is_to_be_compressed(closed_segment_)) to_compress_.push_back(closed_segment_);
  return {};
}

/// After the header is written, so that code waiting for the move can read it.
void AuditLog::report_move() {
  std::lock_guard lock(mutex_);
  retarget_result_ = std::exchange(moved_, std::nullopt);
  done_.notify_all();
}

core::Result<void> AuditLog::move_to(Retarget target) {
  int closed = 0;
  std::optional<record::LogHead> older;
  if (target.path != options_.path && is_being_written(target.path)) target.path = options_.path;
  stop_compressing();
  if (target.path != options_.path) {
    if (auto place = LogArchive(options_.logs).make_place(target.path, target.league); !place)
      return place;
    if (auto room = make_room_at(target.path, closed, older); !room) return room;
    if (auto moved = rename_file(options_.path, target.path); !moved) return moved;
    std::error_code error;  // the seal of a temporary name; there may be none
    std::filesystem::rename(seal_path(options_.path), seal_path(target.path), error);
    if (error) has_seal_file_ = false;
    options_.files->end_replacing(seal_path(options_.path));
  }
  {
    std::lock_guard lock(mutex_);
    if (target.path != options_.path) state_.segment = closed + 1;
    options_.path = std::move(target.path);
    options_.agent = std::move(target.agent);
    options_.league = std::move(target.league);
  }
  find_segments_to_compress();
  if (older) seq_ = std::max(seq_, older->seq);
  append_header(older ? older->hash : std::string());
  return {};
}

}  // namespace league::audit::log
