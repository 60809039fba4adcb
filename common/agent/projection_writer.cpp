#include "common/agent/projection_writer.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace league::agent {
namespace {

constexpr int kNiceness = 10;
/// What becomes due so soon is written with what is due: fewer awakenings.
constexpr std::chrono::milliseconds kTogether{200};
constexpr std::chrono::hours kLongSleep{1};

core::Error too_many(std::uint64_t lost) {
  return {core::ErrorCode::kInternalError,
          std::to_string(lost) + " files, because too many others wait", ""};
}

}  // namespace

core::Result<void> write_projection(const std::filesystem::path& file,
                                    const std::string& draft_suffix, core::Flush flush,
                                    const ProjectionWriter::Render& render) {
  auto draft = core::DraftFile::create(file, {.suffix = draft_suffix});
  if (!draft) {
    std::error_code ignored;  // the second attempt says what is wrong
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
  if (auto pause = pauses_.find(name); pause != pauses_.end()) due = std::max(due, pause->second);
  waiting_.emplace(name, Waiting{std::move(render), file.is_precious, due});
  if (due < asleep_until_) changed_.notify_one();
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
  // Answers come first. It does not matter if the system does not allow it.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    auto now = std::chrono::steady_clock::now();
    Time first = now + kLongSleep;
    for (const auto& [name, what] : waiting_) first = std::min(first, what.due);
    if (first > now) {
      asleep_until_ = first;
      changed_.wait_until(lock, first);
      asleep_until_ = Time::min();
      continue;
    }
    Files due = take_due(now);
    lock.unlock();
    write_all(std::move(due), false);
    lock.lock();
  }
  Files rest = std::exchange(waiting_, {});
  lock.unlock();
  write_all(std::move(rest), true);
}

ProjectionWriter::Files ProjectionWriter::take_due(Time now) {
  Files due;
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    auto next = std::next(one);
    if (one->second.due <= now + kTogether) due.insert(waiting_.extract(one));
    one = next;
  }
  return due;
}

void ProjectionWriter::write_all(Files files, bool is_last) {
  std::optional<core::Error> failure;
  std::uint64_t written = 0;
  Files failed;
  while (!files.empty()) {
    auto one = files.extract(files.begin());
    auto start = std::chrono::steady_clock::now();
    const Waiting& what = one.mapped();
    auto flush = is_last && what.is_precious ? core::Flush::kNow : core::Flush::kLater;
    auto result = write_projection(one.key(), options_.draft_suffix, flush, what.render);
    auto end = std::chrono::steady_clock::now();
    auto pause = (end - start) * options_.pause_factor;
    if (result) {
      ++written;
      if (pause <= options_.interval) continue;
      std::lock_guard lock(mutex_);
      pauses_[one.key()] = end + pause;
    } else {
      if (!failure) failure = result.error();
      failed.insert(std::move(one));
    }
  }
  auto lost = count(written, failed.size());
  if (lost > 0 && !failure) failure = too_many(lost);
  if (failure.has_value() != is_failing_ || (failure && is_last)) report(failure);
  is_failing_ = failure.has_value();
  if (!is_last)
    put_back(std::move(failed), std::chrono::steady_clock::now() + options_.retry_interval);
}

std::uint64_t ProjectionWriter::count(std::uint64_t written, std::uint64_t failed) {
  std::lock_guard lock(mutex_);
  written_ += written;
  failed_ += failed;
  return std::exchange(lost_, 0);
}

void ProjectionWriter::put_back(Files files, Time due) {
  std::lock_guard lock(mutex_);
  for (auto& [path, what] : files) {
    what.due = due;
    waiting_.emplace(path, std::move(what));  // unless there is a newer one
  }
}

void ProjectionWriter::report(const std::optional<core::Error>& error) {
  if (options_.report) return options_.report(error);
  if (!error) return spdlog::info("the files of the data directory are written again");
  spdlog::error(
      "cannot write {}: the league goes on, and `league export` can make the file from journal and "
      "logs",
      error->message);
}

}  // namespace league::agent
