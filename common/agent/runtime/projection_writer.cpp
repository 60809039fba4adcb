#include "common/agent/runtime/projection_writer.h"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "common/agent/runtime/log.h"

namespace league::agent::runtime {
namespace {

/// Files that become due within this time are written together with those that are due, which saves
/// wake-ups.
constexpr std::chrono::milliseconds kTogether{200};
constexpr std::chrono::hours kLongSleep{1};
/// One batch may use the processor time that the share allows for this long; then the writer
/// pauses.
constexpr std::chrono::seconds kBurst{1};

/// The processor time that the calling thread has used.
std::chrono::nanoseconds cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

core::Error too_many(std::uint64_t lost) {
  return {core::ErrorCode::kInternalError,
          std::to_string(lost) + " files, because too many others are waiting", ""};
}

}  // namespace

core::Result<void> write_projection(const std::filesystem::path& file,
                                    const std::string& draft_suffix, core::Flush flush,
                                    const ProjectionWriter::Render& render) {
  auto draft = core::DraftFile::create(file, {.suffix = draft_suffix});
  if (!draft) {
    std::error_code ignored;  // ignored: the second attempt reports the error
    std::filesystem::create_directories(file.parent_path(), ignored);
    draft = core::DraftFile::create(file, {.suffix = draft_suffix});
  }
  if (!draft) return draft.error();
  if (auto rendered = render(*draft); !rendered) return rendered;
  return draft->commit(flush);
}

ProjectionWriter::ProjectionWriter() : ProjectionWriter(Options()) {}

ProjectionWriter::ProjectionWriter(Options options)
    : options_(std::move(options)), thread_([this] { run(); }) {}

ProjectionWriter::~ProjectionWriter() { stop(); }

void ProjectionWriter::update(const File& file, Render render) {
  auto now = std::chrono::steady_clock::now();
  std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  const std::string& name = file.path.native();
  auto known = waiting_.find(name);
  if (known != waiting_.end()) {
    known->second.render = std::move(render);
    return;
  }
  if (waiting_.size() >= options_.max_waiting) {
    ++lost_;
    return;
  }
  Time due = now + options_.interval;
  waiting_.emplace(name, Waiting{std::move(render), file.is_precious, due});
  if (std::max(due, paid_until_) < asleep_until_) changed_.notify_one();
}

void ProjectionWriter::write_all_now() {
  {
    std::lock_guard lock(mutex_);
    writes_all_now_ = true;
  }
  changed_.notify_one();
}

void ProjectionWriter::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t ProjectionWriter::written() const {
  std::lock_guard lock(mutex_);
  return written_;
}

std::uint64_t ProjectionWriter::failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

void ProjectionWriter::run() {
  ::pthread_setname_np(::pthread_self(), "projections");
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    auto now = std::chrono::steady_clock::now();
    if (Time next = next_time(now); next > now) {
      asleep_until_ = next;
      changed_.wait_until(lock, next);
      asleep_until_ = Time::min();
      continue;
    }
    Files due = take_due(now);
    Pace pace = this->pace();
    if (waiting_.empty()) writes_all_now_ = false;
    lock.unlock();
    write_all(std::move(due), pace);
    lock.lock();
  }
  Files rest = std::exchange(waiting_, {});
  lock.unlock();
  write_all(std::move(rest), Pace::kLast);
}

ProjectionWriter::Pace ProjectionWriter::pace() const {
  bool are_many = waiting_.size() > options_.max_waiting / 2;
  return writes_all_now_ || are_many ? Pace::kFull : Pace::kShare;
}

ProjectionWriter::Time ProjectionWriter::next_time(Time now) const {
  if (waiting_.empty()) return now + kLongSleep;
  if (writes_all_now_) return now;
  Time next = now + kLongSleep;
  for (const auto& [name, what] : waiting_) next = std::min(next, what.due);
  return pace() == Pace::kFull ? next : std::max(next, paid_until_);
}

ProjectionWriter::Files ProjectionWriter::take_due(Time now) {
  Files due;
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    auto next = std::next(one);
    if (writes_all_now_ || one->second.due <= now + kTogether) due.insert(waiting_.extract(one));
    one = next;
  }
  return due;
}

void ProjectionWriter::write_all(Files files, Pace pace) {
  std::optional<core::Error> failure;
  std::uint64_t written = 0;
  Files failed;
  auto start = cpu_time();
  auto allowance = std::chrono::duration<double>(kBurst) * options_.share;
  auto may_go_on = [&] { return pace != Pace::kShare || cpu_time() - start < allowance; };
  for (bool is_first = true; !files.empty() && (is_first || may_go_on()); is_first = false) {
    auto one = files.extract(files.begin());
    const Waiting& what = one.mapped();
    auto flush = pace == Pace::kLast && what.is_precious ? core::Flush::kNow : core::Flush::kLater;
    auto result = write_projection(one.key(), options_.draft_suffix, flush, what.render);
    if (result) {
      ++written;
      continue;
    }
    if (!failure) failure = result.error();
    failed.insert(std::move(one));
  }
  auto now = std::chrono::steady_clock::now();
  pay(now, cpu_time() - start);
  auto lost = count(written, failed.size());
  if (lost > 0 && !failure) failure = too_many(lost);
  if (failure.has_value() != is_failing_ || (failure && pace == Pace::kLast)) report(failure);
  is_failing_ = failure.has_value();
  put_back(std::move(files), now);
  if (pace != Pace::kLast) put_back(std::move(failed), now + options_.retry_interval);
}

void ProjectionWriter::pay(Time now, std::chrono::nanoseconds used) {
  constexpr std::chrono::hours kLongest{1};
  auto pause = std::chrono::duration<double>(used) / std::max(options_.share, 1e-9);
  std::lock_guard lock(mutex_);
  paid_until_ = now + std::chrono::duration_cast<Time::duration>(
                          std::min<std::chrono::duration<double>>(pause, kLongest));
}

std::uint64_t ProjectionWriter::count(std::uint64_t written, std::uint64_t failed) {
  std::lock_guard lock(mutex_);
  written_ += written;
  failed_ += failed;
  return std::exchange(lost_, 0);
}

void ProjectionWriter::put_back(Files&& files, Time due) {
  std::lock_guard lock(mutex_);
  for (auto& [path, what] : files) {
    what.due = due;
    waiting_.emplace(path, std::move(what));  // unless there is a newer one
  }
}

void ProjectionWriter::report(const std::optional<core::Error>& error) {
  if (options_.report) return options_.report(error);
  if (!error) return log::info("the files of the data directory can be written again");
  log::error(
      "cannot write {}: the league continues, and `league export` can recreate the file from the "
      "journal and the logs",
      error->message);
}

}  // namespace league::agent::runtime
