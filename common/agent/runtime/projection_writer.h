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

namespace league::agent {

/// Writes the files of the published data layout (docs/files.md), which could be made again from
/// journal and logs: on one thread of low priority, each file at most once a second and whole or
/// not at all. Who says that a file is out of date never waits. Of several updates of a file only
/// the newest counts. A file that cannot be written is reported and tried again; it stops nobody.
/// Thread-safe.
class ProjectionWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Writes what the file is to hold; runs on the writer's thread, perhaps again after a failure.
  /// What it captures outlives `stop`.
  using Render = std::function<core::Result<void>(core::DraftFile&)>;

  struct Options {
    std::string draft_suffix = ".new";  ///< see DraftFile
    std::chrono::milliseconds interval{1000};  ///< from an update to its file
    /// How much of one processor the writing may take, but for `write_all_now` and `stop`, and as
    /// long as fewer than half of `max_waiting` wait.
    double share = 0.003;
    std::chrono::milliseconds retry_interval{5000};
    std::size_t max_waiting = 20'000;  ///< files; beyond them updates are lost, and reported
    /// Told on the writer's thread: the first failure after a success, and nothing when all is well
    /// again. Empty: the operations log.
    std::function<void(const std::optional<core::Error>&)> report = {};
  };
  struct File {
    std::filesystem::path path;  ///< its directory is made
    bool is_precious = false;  ///< flushed to the disk when the program ends in order
  };

  ProjectionWriter();
  explicit ProjectionWriter(Options options);
  /// Stops.
  ~ProjectionWriter();
  ProjectionWriter(const ProjectionWriter&) = delete;
  ProjectionWriter& operator=(const ProjectionWriter&) = delete;

  /// `file` is out of date; `render` makes it new.
  void update(const File& file, Render render);
  /// The league is over, so nobody is held up: writes what waits, now.
  void write_all_now();
  /// Writes what waits, now, and ends; later updates are ignored. Files that cannot be written are
  /// reported. A second call does nothing.
  void stop();

  /// Files that have been written, and attempts that have failed.
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
  /// When something is to be written, if nothing changes.
  [[nodiscard]] Time next_time(Time now) const;
  Files take_due(Time now);
  enum class Pace : std::uint8_t { kShare, kFull, kLast };
  [[nodiscard]] Pace pace() const;
  void write_all(Files files, Pace pace);
  /// Notes what the writing has used of the processor.
  void pay(Time now, std::chrono::nanoseconds used);
  /// Counts what became of files; returns how many updates have been lost since the last call.
  std::uint64_t count(std::uint64_t written, std::uint64_t failed);
  void put_back(Files&& files, Time due);
  void report(const std::optional<core::Error>& error);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Files waiting_;
  Time asleep_until_ = Time::min();  // min while the thread is awake
  Time paid_until_ = Time::min();  // what has been written is within the share from then on
  bool writes_all_now_ = false;  // until nothing waits
  std::uint64_t written_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t lost_ = 0;  // updates
  bool is_stopped_ = false;
  bool is_failing_ = false;  // of the writer's thread
  std::thread thread_;  // last: it uses everything above
};

/// Writes `file` through a draft, with the directories that are missing.
[[nodiscard]] core::Result<void> write_projection(const std::filesystem::path& file,
                                                  const std::string& draft_suffix,
                                                  core::Flush flush,
                                                  const ProjectionWriter::Render& render);

}  // namespace league::agent
