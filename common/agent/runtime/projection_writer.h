#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "common/core/draft_file.h"

namespace league::agent::runtime {

/// Writes the files of the published data layout (docs/files.md), which can be recreated from
/// journal and logs. Runs on one thread that uses only a small share of a processor. Each file is
/// written atomically and at most once a second. update() and run() never block; of several updates
/// of a file only the newest counts. A file that cannot be written is reported and tried again; the
/// league continues. Not for a file per match: what waits is not limited. Thread-safe.
class ProjectionWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Writes the content of the file; runs on the writer's thread, possibly again after a failure.
  /// Everything it captures must live until `stop` returns.
  using Render = std::function<core::Result<void>(core::DraftFile&)>;
  /// As `Render`, for what is not one file that is replaced as a whole.
  using Job = std::function<core::Result<void>()>;

  struct Options {
    std::string draft_suffix = ".new";  ///< see DraftFile
    std::chrono::milliseconds interval{1000};  ///< from an update to its file
    /// The share of one processor that writing may use. Does not apply to `write_all_now`, `stop`
    /// and jobs that run soon.
    double share = 0.003;
    std::chrono::milliseconds retry_interval{5000};
    /// Called on the writer's thread: with the first failure after a success, and with nothing when
    /// writing works again. Empty: writes to the operations log.
    std::function<void(const std::optional<core::Error>&)> report = {};
  };
  struct File {
    std::filesystem::path path;  ///< missing parent directories are created
    bool is_precious = false;  ///< flushed to the disk when the program ends normally
  };

  enum class When : std::uint8_t {
    kSoon,  ///< `interval` after the first call, whatever it costs
    kWhenQuiet  ///< three times `interval` after the last call
  };

  ProjectionWriter();
  explicit ProjectionWriter(Options options);
  /// Stops.
  ~ProjectionWriter();
  ProjectionWriter(const ProjectionWriter&) = delete;
  ProjectionWriter& operator=(const ProjectionWriter&) = delete;

  /// Marks `file` as out of date; `render` writes its new content.
  void update(const File& file, Render render);
  /// Lets the writer's thread run `job`, in place of one of the same name that still waits. A job
  /// that fails is run again.
  void run(const std::string& name, When when, Job job);
  /// Writes `file` through a draft and creates missing directories, at once and on the calling
  /// thread. For jobs.
  [[nodiscard]] core::Result<void> write(const std::filesystem::path& file, core::Flush flush,
                                         const Render& render) const;
  /// The league is over, so speed no longer matters: writes everything that waits, now.
  void write_all_now();
  /// Writes everything that waits and ends the thread; later updates are ignored. Files that cannot
  /// be written are reported. A second call does nothing.
  void stop();

  /// The number of files written, and of attempts that failed.
  [[nodiscard]] std::uint64_t written() const;
  [[nodiscard]] std::uint64_t failed() const;

 private:
  struct Waiting {
    std::function<core::Result<void>(core::Flush)> job;
    bool is_precious = false;
    bool is_paced = true;  ///< takes no more than the share
    Time due;
  };
  using Files = std::unordered_map<std::string, Waiting>;  // by path or name
  enum class Pace : std::uint8_t { kShare, kFull, kLast };

  void add(const std::string& name, Waiting what, When when);
  void work();
  /// The time of the next writing if nothing changes before.
  [[nodiscard]] Time next_time(Time now) const;
  /// When `what` is written at the earliest.
  [[nodiscard]] Time turn_of(const Waiting& what) const;
  Files take_due(Time now);
  void write_all(Files files, Pace pace);
  /// Records how much processor time writing has used.
  void pay(Time now, std::chrono::nanoseconds used);
  void put_back(Files&& files, Time due);
  void report(const std::optional<core::Error>& error);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Files waiting_;
  Time asleep_until_ = Time::min();  // Time::min() while the thread is awake
  Time paid_until_ = Time::min();  // until then the share of the processor is used up
  bool writes_all_now_ = false;  // until nothing waits
  std::uint64_t written_ = 0;
  std::uint64_t failed_ = 0;
  bool is_stopped_ = false;
  bool is_failing_ = false;  // of the writer's thread
  std::thread thread_;  // last: it uses everything above
};

}  // namespace league::agent::runtime
