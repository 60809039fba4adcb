#pragma once

#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::bench {

/// The connection of an echo to a bus, with everything that is needed for calls.
class EchoBus {
 public:
  /// `loop` must outlive it. Fails if there is no broker, or if the program was built without a
  /// bus.
  [[nodiscard]] static core::Result<std::unique_ptr<EchoBus>> join(transport::link::EventLoop& loop,
                                                                   const std::string& url);
  virtual ~EchoBus() = default;
  [[nodiscard]] virtual transport::link::Caller& caller() = 0;
  /// Serves a new session; returns its URL.
  [[nodiscard]] virtual core::Result<std::string> serve(
      transport::link::MessageHandler& handler) = 0;
};

}  // namespace league::tools::bench
