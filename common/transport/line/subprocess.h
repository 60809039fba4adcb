#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/transport/line/line_connection.h"
#include "common/transport/link/command_line.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::line {

/// Options of a child process; a LineConnector uses the limits for sockets, too.
struct SubprocessOptions {
  LineLimits limits{.max_line = 1024 * 1024};
  /// Receives the command and each line that the child writes to stderr, at most 4096 bytes of it,
  /// on the event loop's thread. If empty, the lines are discarded.
  std::function<void(std::string_view command, std::string_view line)> on_stderr = nullptr;
  /// How long the child may take to end after its input is closed, and again after SIGTERM; then it
  /// gets SIGKILL.
  std::chrono::milliseconds patience{2000};
};

/// Starts a child and exchanges lines on its standard input and output. The command is searched in
/// PATH and runs in our working directory and in its own process group, so that processes it has
/// started are ended too, and ^C at the terminal does not reach it. The child is always reaped, and
/// on_closed says how it ended. close() closes its input; the following steps (SIGTERM, SIGKILL)
/// run by themselves without blocking, and also when the child closes its output. `loop` must
/// outlive the child; stopping the event loop kills a running child. Fails with kConnectionError.
/// Thread-safe.
[[nodiscard]] core::Result<std::shared_ptr<link::MessageConnection>> start_subprocess(
    link::EventLoop& loop, const std::string& command, const SubprocessOptions& options = {});

}  // namespace league::transport::line
