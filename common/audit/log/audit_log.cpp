#include "common/audit/log/audit_log.h"

#include <algorithm>
#include <utility>

namespace league::audit::log {
core::Result<std::unique_ptr<AuditLog>> AuditLog::open(AuditLogOptions options,
                                                       const core::Clock& clock) {
  if (!options.files) options.files = disk_files();
  if (options.verifiable && !options.key) {
    core::CryptoRandom random;
    options.key = std::make_shared<core::SigningKey>(core::SigningKey::generate(random));
  }
  if (!options.writer) options.writer = std::make_shared<LogWriter>();
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options), clock));
  if (is_being_written(log->options_.path)) {
    return core::Error{
        core::ErrorCode::kInternalError,
        "conversation log " + log->options_.path.string() +
            ": another process writes it: end that one first, or give another --logs",
        {}};
  }
  if (auto place =
          LogArchive(log->options_.logs).make_place(log->options_.path, log->options_.league);
      !place)
    return place.error();
  int closed = 0;
  std::optional<record::LogHead> end;
  if (auto room = log->make_room_at(log->options_.path, closed, end); !room) return room.error();
  log->state_.segment = closed + 1;
  if (end) {
    log->seq_ = end->seq;
    log->writer_.chain().go_on_from(end->hash);
  }
  if (auto begun = log->begin_segment(); !begun) return begun.error();
  log->find_segments_to_compress();
  log->closed_ = false;
  log->options_.writer->attach(*log);
  log->options_.writer->wake(*log);
  return log;
}

AuditLog::AuditLog(AuditLogOptions options, const core::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      writer_({.max_body = options_.max_body, .chained = options_.verifiable}) {
  options_.batch_bytes = std::min(options_.batch_bytes, options_.queue_bytes / 2);
}

AuditLog::~AuditLog() { close(); }

void AuditLog::append(record::Record record) {
  if (options_.on_record && record.kind != record::Kind::kNote) options_.on_record(record);
  std::size_t size = record::memory_of(record);
  if (record.meter) record.meter->add(expected_text(record));
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] {
    return queued_bytes_ == 0 || queued_bytes_ + size <= options_.queue_bytes || closing_;
  });
  if (closed_ || is_ending_) {
    ++state_.lost;
    return;
  }
  bool was_idle = queue_.empty();
  std::size_t before = queued_bytes_;
  queue_.push_back(std::move(record));
  queued_bytes_ += size;
  ++appended_;
  lock.unlock();
  // One wake-up begins a batch, and one may end it early; a wake-up for each record would cost more
  // than the record.
  if (before < options_.batch_bytes && before + size >= options_.batch_bytes) {
    options_.writer->wake(*this);
  } else if (was_idle) {
    options_.writer->expect(*this);
  }
}

std::int64_t AuditLog::expected_text(const record::Record& record) const {
  constexpr std::size_t kUsualFacts = 512;
  // Of what is sent to many, a record mostly names an earlier one; but until it is written, it
  // fills the queue, for which others would have to wait.
  const std::size_t body = std::min(record.body.size(), options_.max_body);
  return static_cast<std::int64_t>(kUsualFacts + (record.broadcast ? body / 2 : body));
}

bool AuditLog::flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  std::uint64_t target = appended_;
  if (finished_ >= target) return true;
  options_.writer->wake(*this);
  return done_.wait_for(lock, limit, [&] { return finished_ >= target; });
}

bool AuditLog::seal_now(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!options_.verifiable || closing_) return false;
  std::uint64_t wish = appended_;
  seal_wish_ = wish;
  options_.writer->wake(*this);
  return done_.wait_for(lock, limit, [&] { return sealed_ >= wish; });
}

void AuditLog::seal_then(std::function<void()> done) {
  {
    std::lock_guard lock(mutex_);
    if (options_.verifiable && !closing_ && sealed_ < appended_) {
      seal_wish_ = appended_;
      seal_wishes_.emplace_back(appended_, std::move(done));
      options_.writer->wake(*this);
      return;
    }
  }
  done();
}

core::Result<void> AuditLog::retarget(std::filesystem::path path, std::string agent,
                                      LogLeague league, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (closing_)
    return core::Error{core::ErrorCode::kShuttingDown, "the conversation log is closed", {}};
  retarget_ = Retarget{std::move(path), std::move(agent), std::move(league)};
  retarget_result_.reset();
  options_.writer->wake(*this);
  if (done_.wait_for(lock, limit, [&] { return retarget_result_.has_value(); }))
    return *retarget_result_;
  return core::Error{core::ErrorCode::kTimeout,
                     "the conversation log could not be moved in time; it will be moved when the "
                     "disk accepts data again",
                     {}};
}

void AuditLog::close() {
  {
    std::unique_lock lock(mutex_);
    if (!closing_) give_up_at_ = std::chrono::steady_clock::now() + options_.close_limit;
    closing_ = true;
    room_.notify_all();
    if (!closed_) options_.writer->wake(*this);
    done_.wait(lock, [&] { return closed_; });
  }
  options_.writer->detach(*this);
  stop_compressing();
  file_.reset();  // from now on is_being_written() returns false
}

bool AuditLog::wait_until_compressed(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  is_compressed_ = false;
  options_.writer->wake(*this);
  return done_.wait_for(lock, limit, [&] { return is_compressed_; });
}

AuditLogState AuditLog::state() const {
  std::lock_guard lock(mutex_);
  AuditLogState state = state_;
  state.queued_bytes = queued_bytes_;
  return state;
}

bool AuditLog::healthy() const {
  std::lock_guard lock(mutex_);
  return state_.healthy;
}

bool AuditLog::free_space_ok() const {
  constexpr std::chrono::milliseconds kLooksApart{100};  // each is a call of the system
  const auto now = clock_.steady_now();
  std::lock_guard lock(mutex_);
  if (!state_.healthy) return false;
  if (!looked_at_ || now >= *looked_at_ + kLooksApart) {
    looked_at_ = now;
    has_space_ = options_.files->free_space(options_.path) >= options_.min_free_bytes;
  }
  return has_space_;
}

std::optional<record::LogHead> AuditLog::sealed_head() const {
  std::lock_guard lock(mutex_);
  return sealed_head_;
}

std::string AuditLog::public_key() const {
  return options_.verifiable ? options_.key->public_key() : std::string();
}

std::filesystem::path AuditLog::path() const {
  std::lock_guard lock(mutex_);
  return options_.path;
}

}  // namespace league::audit::log
