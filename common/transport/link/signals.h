#pragma once

#include <chrono>

#include "common/transport/link/socket.h"

namespace league::transport::link {

/// Makes SIGINT and SIGTERM events that can be waited for. Create it at the top of main, before any
/// thread, because threads inherit the signal mask that blocks them. Also ignores SIGPIPE. One
/// thread may wait, any thread may call `request_stop`.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Blocks until a signal or `request_stop`; returns the number of the signal, or 0.
  int wait();
  /// The same for at most `patience`; -1 when nothing came.
  int wait_for(std::chrono::milliseconds patience);
  /// Ends `wait` as a signal would, for programs whose work is done.
  void request_stop();

 private:
  int wait_until(int milliseconds);

  core::FileDescriptor signals_;
  core::FileDescriptor requested_;
};

/// Makes it possible to poll for SIGHUP, with which operators tell a program to reload its
/// settings. Create it at the top of main, before any thread, so that the signal does not end the
/// program. Thread-safe.
class HangUpSignal {
 public:
  HangUpSignal();
  HangUpSignal(const HangUpSignal&) = delete;
  HangUpSignal& operator=(const HangUpSignal&) = delete;

  /// Whether a SIGHUP has arrived since the last call. Never blocks.
  [[nodiscard]] bool take();

 private:
  core::FileDescriptor signals_;
};

}  // namespace league::transport::link
