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
constexpr int kQuietIntervals = 3;
/// One batch may use the processor time that the share allows for this long; then the writer
/// pauses.
constexpr std::chrono::seconds kBurst{1};

/// The processor time that the calling thread has used.
std::chrono::nanoseconds cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

ProjectionWriter::ProjectionWriter() : ProjectionWriter(Options()) {}

ProjectionWriter::ProjectionWriter(Options options)
    : options_(std::move(options)), thread_([this] { work(); }) {}

ProjectionWriter::~ProjectionWriter() { stop(); }

void ProjectionWriter::update(const File& file, Render render) {
  auto write = [this, path = file.path, render = std::move(render)](core::Flush flush) {
    return this->write(path, flush, render);
  };
  add(file.path.native(), {.job = std::move(write), .is_precious = file.is_precious, .due = {}},
      When::kSoon);
}

void ProjectionWriter::run(const std::string& name, When when, Job job) {
  add(name,
      {.job = [job = std::move(job)](core::Flush /*flush*/) { return job(); },
       .is_paced = when == When::kWhenQuiet,
       .due = {}},
      when);
}

void ProjectionWriter::add(const std::string& name, Waiting what, When when) {
  what.due = std::chrono::steady_clock::now() +
             options_.interval * (when == When::kSoon ? 1 : kQuietIntervals);
  std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  auto [place, is_new] = waiting_.try_emplace(name);
  if (!is_new && when == When::kSoon) what.due = place->second.due;
  place->second = std::move(what);
  if (turn_of(place->second) < asleep_until_) changed_.notify_one();
}

core::Result<void> ProjectionWriter::write(const std::filesystem::path& file, core::Flush flush,
                                           const Render& render) const {
  auto draft = core::DraftFile::create(file, {.suffix = options_.draft_suffix});
  if (!draft) {
    std::error_code ignored;  // the second attempt reports the error
    std::filesystem::create_directories(file.parent_path(), ignored);
    draft = core::DraftFile::create(file, {.suffix = options_.draft_suffix});
  }
  if (!draft) return draft.error();
  if (auto rendered = render(*draft); !rendered) return rendered;
  return draft->commit(flush);
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

void ProjectionWriter::work() {
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
    Pace pace = writes_all_now_ ? Pace::kFull : Pace::kShare;
    Files due = take_due(now);
    if (waiting_.empty()) writes_all_now_ = false;
    lock.unlock();
    write_all(std::move(due), pace);
    lock.lock();
  }
  Files rest = std::exchange(waiting_, {});
  lock.unlock();
  write_all(std::move(rest), Pace::kLast);
}

ProjectionWriter::Time ProjectionWriter::next_time(Time now) const {
  if (writes_all_now_ && !waiting_.empty()) return now;
  Time next = now + kLongSleep;
  for (const auto& [name, what] : waiting_) next = std::min(next, turn_of(what));
  return next;
}

ProjectionWriter::Time ProjectionWriter::turn_of(const Waiting& what) const {
  return what.is_paced ? std::max(what.due, paid_until_) : what.due;
}

ProjectionWriter::Files ProjectionWriter::take_due(Time now) {
  Files due;
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    auto next = std::next(one);
    const Waiting& what = one->second;
    bool may_run = what.due <= now + kTogether && (!what.is_paced || paid_until_ <= now);
    if (writes_all_now_ || may_run) due.insert(waiting_.extract(one));
    one = next;
  }
  return due;
}

void ProjectionWriter::write_all(Files files, Pace pace) {
  std::optional<core::Error> failure;
  std::uint64_t written = 0;
  Files failed;
  Files postponed;
  std::chrono::nanoseconds used{0};
  const auto allowance = std::chrono::duration<double>(kBurst) * options_.share;
  while (!files.empty()) {
    auto one = files.extract(files.begin());
    const Waiting& what = one.mapped();
    if (what.is_paced && pace == Pace::kShare && used > allowance) {
      postponed.insert(std::move(one));
      continue;
    }
    auto start = cpu_time();
    auto result =
        what.job(pace == Pace::kLast && what.is_precious ? core::Flush::kNow : core::Flush::kLater);
    if (what.is_paced) used += cpu_time() - start;
    if (result) {
      ++written;
      continue;
    }
    if (!failure) failure = result.error();
    failed.insert(std::move(one));
  }
  auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    written_ += written;
    failed_ += failed.size();
  }
  pay(now, used);
  if (failure.has_value() != is_failing_ || (failure && pace == Pace::kLast)) report(failure);
  is_failing_ = failure.has_value();
  put_back(std::move(postponed), now);
  if (pace != Pace::kLast) put_back(std::move(failed), now + options_.retry_interval);
}

void ProjectionWriter::pay(Time now, std::chrono::nanoseconds used) {
  if (used.count() == 0) return;
  constexpr std::chrono::hours kLongest{1};
  auto pause = std::chrono::duration<double>(used) / std::max(options_.share, 1e-9);
  std::lock_guard lock(mutex_);
  paid_until_ = now + std::chrono::duration_cast<Time::duration>(
                          std::min<std::chrono::duration<double>>(pause, kLongest));
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
