#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/transport/link/signals.h"
#include "tools/league/up/process.h"

namespace league::tools {

/// What `nats-server --version` prints, such as `nats-server: v2.9.10`, of the server that a
/// LocalBroker would be. Nothing if none is installed, or if it does not answer within five
/// seconds. Call it from the main thread.
[[nodiscard]] std::optional<std::string> installed_broker_version();

/// A message broker (nats-server) for one league, on loopback and any free port. The destructor
/// ends it. Start it from the main thread.
class LocalBroker {
 public:
  /// Starts it and waits until it listens. Keeps its store in `data`; its output goes to a file in
  /// `logs`; listens at `port`, 0 for any free one. Fails with a text for people if nats-server is
  /// not installed or does not start.
  [[nodiscard]] static core::Result<LocalBroker> start(const std::filesystem::path& data,
                                                       const std::filesystem::path& logs,
                                                       transport::link::StopSignal& stop,
                                                       int port = 0);
  /// `nats://127.0.0.1:PORT`.
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  LocalBroker(ChildProcess process, std::string url)
      : process_(std::move(process)), url_(std::move(url)) {}

  ChildProcess process_;
  std::string url_;
};

}  // namespace league::tools
