#pragma once

#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"

namespace league::tools {

/// An echo's place on a bus, with everything that calls need.
class EchoBus {
 public:
  /// `loop` outlives it. Fails where there is no broker, and where the program was built without a
  /// bus.
  [[nodiscard]] static core::Result<std::unique_ptr<EchoBus>> join(transport::EventLoop& loop,
                                                                   const std::string& url);
  virtual ~EchoBus() = default;
  [[nodiscard]] virtual transport::Caller& caller() = 0;
  /// Serves a new session; its URL.
  [[nodiscard]] virtual core::Result<std::string> serve(transport::MessageHandler& handler) = 0;
};

}  // namespace league::tools
