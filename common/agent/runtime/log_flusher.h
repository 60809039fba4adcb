#pragma once

#include "common/core/timer.h"

namespace league::agent {

/// Has what was repeated in the operations log told every second, as long as the timer lives.
class LogFlusher {
 public:
  /// `timer` outlives this object's last run, which its end drops.
  explicit LogFlusher(core::Timer& timer) : timer_(timer) { run(); }

 private:
  void run();
  core::Timer& timer_;
};

}  // namespace league::agent
