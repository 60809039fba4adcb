#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/core/draft_file.h"

namespace league::agent::runtime {

/// Writes the files of the published data layout (docs/files.md), which can be recreated from
/// journal and logs. Runs on one thread that uses only a small share of a processor. Each file is
/// written atomically and at most once a second. update() never blocks; of several updates of a
/// file only the newest counts. A file that cannot be written is reported and tried again; the
/// league continues. Thread-safe.
class ProjectionWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Writes the content of the file; runs on the writer's thread, possibly again after a failure.
  /// Everything it captures must live until `stop` returns.
  using Render = std::function<core::Result<void>(core::DraftFile&)>;

  struct Options {
    std::string draft_suffix = ".new";  ///< see DraftFile
    std::chrono::milliseconds interval{1000};  ///< from an update to its file
    /// The share of one processor that writing may use. Does not apply to `write_all_now` and
    /// `stop`, or while more than half of `max_waiting` files wait.
    double share = 0.003;
    std::chrono::milliseconds retry_interval{5000};
    std::size_t max_waiting = 20'000;  ///< files; beyond them updates are lost, and reported
    /// Called on the writer's thread: with the first failure after a success, and with nothing when
    /// writing works again. Empty: writes to the operations log.
    std::function<void(const std::optional<core::Error>&)> report = {};
  };
  struct File {
    std::filesystem::path path;  ///< missing parent directories are created
    bool is_precious = false;  ///< flushed to the disk when the program ends normally
  };

  ProjectionWriter();
  explicit ProjectionWriter(Options options);
  /// Stops.
  ~ProjectionWriter();
  ProjectionWriter(const ProjectionWriter&) = delete;
  ProjectionWriter& operator=(const ProjectionWriter&) = delete;

  /// Marks `file` as out of date; `render` writes its new content.
  void update(const File& file, Render render);
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
    Render render;
    bool is_precious = false;
    Time due;
  };
  using Files = std::map<std::string, Waiting>;  // by path

  void run();
  /// The time of the next writing if nothing changes before.
  [[nodiscard]] Time next_time(Time now) const;
  Files take_due(Time now);
  enum class Pace : std::uint8_t { kShare, kFull, kLast };
  [[nodiscard]] Pace pace() const;
  void write_all(Files files, Pace pace);
  /// Records how much processor time writing has used.
  void pay(Time now, std::chrono::nanoseconds used);
  /// Counts what became of files; returns how many updates have been lost since the last call.
  std::uint64_t count(std::uint64_t written, std::uint64_t failed);
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
  std::uint64_t lost_ = 0;  // updates
  bool is_stopped_ = false;
  bool is_failing_ = false;  // of the writer's thread
  std::thread thread_;  // last: it uses everything above
};

/// Writes `file` through a draft and creates missing directories.
[[nodiscard]] core::Result<void> write_projection(const std::filesystem::path& file,
                                                  const std::string& draft_suffix,
                                                  core::Flush flush,
                                                  const ProjectionWriter::Render& render);

}  // namespace league::agent::runtime
