#pragma once

#include <functional>
#include <memory>

#include "common/core/result.h"
#include "common/transport/line/line_connection.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/served_connection.h"

namespace league::transport::line {

/// Serves a handler on this process's standard input and output. From then on, other output to
/// stdout (printf, std::cout) goes to stderr, because stdout may carry only messages. `on_end` runs
/// once, on the event loop's thread, when the input has ended and everything was answered, or when
/// the output's reader is gone. `loop` and `handler` must outlive the connection. Fails with
/// kInternalError.
[[nodiscard]] core::Result<std::shared_ptr<link::ServedConnection>> serve_stdio(
    link::EventLoop& loop, link::MessageHandler& handler, std::function<void()> on_end,
    const LineLimits& limits = {});

}  // namespace league::transport::line
