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

namespace league::transport {

/// Options of a child process.
struct SubprocessOptions {
  LineLimits limits{.max_line = 1024 * 1024, .skips_long_lines = true};
  /// Gets the command and each line that the child writes on stderr, at most 4096 bytes of it, on
  /// the event loop's thread. Without it they are thrown away.
  std::function<void(std::string_view command, std::string_view line)> on_stderr = nullptr;
  /// Steps of closing: how long the child may take to end after its input is closed, and again
  /// after SIGTERM; then follows SIGKILL.
  std::chrono::milliseconds patience{2000};
  /// Variables of our environment that the child gets besides PATH, HOME, LANG, LC_ALL, TMPDIR, TZ,
  /// USER, SHELL and TERM: no others, since an environment may hold keys and tokens.
  std::vector<std::string> pass_environment;
};

/// Starts a child and speaks lines on its standard input and output. It is looked for in PATH, runs
/// in our working directory and in a process group of its own (so the ladder ends what it has
/// started, too, and a ^C at the terminal does not reach it). It is reaped whenever it ends, and
/// the connection's on_closed says how. close() closes its input; the rest of the ladder follows by
/// itself, blocks nobody, and also runs when the child closes its output. `loop` outlives the
/// child; who stops the event loop while a child lives kills it. Fails with kConnectionError.
/// Thread-safe.
[[nodiscard]] core::Result<std::shared_ptr<MessageConnection>> start_subprocess(
    EventLoop& loop, const std::string& command, const SubprocessOptions& options = {});

}  // namespace league::transport
