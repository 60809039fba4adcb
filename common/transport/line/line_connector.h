#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/core/timer.h"
#include "common/transport/line/line_connection.h"
#include "common/transport/line/subprocess.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::line {

/// Opens connections that carry lines: `tcp://HOST:PORT`, `unix:/path`, `stdio:COMMAND`.
/// Thread-safe.
class LineConnector final : public link::Connector {
 public:
  /// `loop` outlives it and its connections.
  explicit LineConnector(link::EventLoop& loop, SubprocessOptions options = {});

  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;

 private:
  link::EventLoop& loop_;
  const SubprocessOptions options_;
};

}  // namespace league::transport::line
