#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/served_connection.h"
#include "tests/support/memory/memory_connection.h"

namespace league::testing {

/// A network of connections inside the process: connecting to a URL makes a pair of memory
/// connections, of which the far end is served to the handler that listens there. Nothing happens
/// but in run_one. For one thread.
class LinkNetwork final : public transport::link::Connector {
 public:
  /// Outlives the network.
  explicit LinkNetwork(const core::Clock& clock) : clock_(clock) {}
  ~LinkNetwork() override;

  /// New connections to `url` are served to `handler`, which outlives its listening.
  void listen(const std::string& url, transport::link::MessageHandler& handler);
  /// Nobody listens at `url` any more, and connections to it end.
  void close(const std::string& url);
  /// Ends every connection; who listens still does.
  void cut_all();
  /// The end: messages on their way reach nobody, every connection ends.
  void shut_down();

  void connect(const transport::link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;

  /// Takes the next step; false if none waits.
  bool run_one() { return steps_.run_one(); }
  /// How many connections were opened so far.
  [[nodiscard]] std::size_t opened() const { return opened_; }

 private:
  class Door;

  const core::Clock& clock_;
  transport::memory::MemorySteps steps_;
  std::map<std::string, std::shared_ptr<Door>> doors_;
  std::vector<std::shared_ptr<Door>> closed_;  // their connections may still be ending
  std::size_t opened_ = 0;
};

}  // namespace league::testing
