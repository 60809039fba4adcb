#pragma once

#include "common/core/timer.h"

namespace league::agent {

/// Writes the counts of repeated warnings to the operations log every second, as long as the timer
/// lives.
class LogFlusher {
 public:
  /// `timer` must outlive this object; the destructor cancels the next run.
  explicit LogFlusher(core::Timer& timer) : timer_(timer) { run(); }

 private:
  void run();
  core::Timer& timer_;
};

}  // namespace league::agent
