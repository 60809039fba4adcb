#pragma once

#include <chrono>

#include "common/transport/link/socket.h"

namespace league::transport {

/// SIGINT and SIGTERM as something to wait for. Make one at the top of main, before any thread:
/// threads inherit the mask that keeps the signals from killing them. Also ignores SIGPIPE. One
/// thread may wait, any may `request_stop`.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Blocks until a signal or `request_stop`; returns the number of the signal, or 0.
  int wait();
  /// The same for at most `patience`; -1 when nothing came.
  int wait_for(std::chrono::milliseconds patience);
  /// Ends `wait` as a signal would: for programs that have done their work.
  void request_stop();

 private:
  int wait_until(int milliseconds);

  FileDescriptor signals_;
  FileDescriptor requested_;
};

/// SIGHUP as something to ask for, by which operators have a program read its settings again. Make
/// one at the top of main, before any thread, so that the signal ends none. Thread-safe.
class HangUpSignal {
 public:
  HangUpSignal();
  HangUpSignal(const HangUpSignal&) = delete;
  HangUpSignal& operator=(const HangUpSignal&) = delete;

  /// Whether one came since the last call. Never blocks.
  [[nodiscard]] bool take();

 private:
  FileDescriptor signals_;
};

}  // namespace league::transport
