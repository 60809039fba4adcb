#pragma once

#include <atomic>
#include <string>

namespace league::testing {

/// A file layer of SQLite that fails when it is told to: what a full or a broken disk does.
/// Registered under `name()` as long as the object lives. Thread-safe.
class FailingVfs {
 public:
  enum class Fault { kNone, kDiskFull, kTornWrite, kSyncError };

  explicit FailingVfs(std::string name);
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// From now on each write (or flush, for kSyncError) of a write-ahead log fails, after the next
  /// `after`.
  void fail(Fault fault, int after = 0);
  /// Whether the operation that `fault` is about has to fail now.
  [[nodiscard]] bool takes(Fault fault);
  [[nodiscard]] Fault fault() const { return fault_; }
  /// Flushes of write-ahead logs so far.
  [[nodiscard]] int syncs() const { return syncs_; }
  void count_sync() { ++syncs_; }

 private:
  struct Registration;

  const std::string name_;
  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<int> remaining_{0};
  std::atomic<int> syncs_{0};
  Registration* registration_;
};

}  // namespace league::testing
