#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/core/timer.h"

namespace league::agent::bus {

/// Tells the operator of an agent when the league manager does not answer the registration, or the
/// bus between them cannot be reached, and when the manager finally answers. Thread-safe.
class ManagerWatch {
 public:
  /// Reports to the operator: `is_warning` is the level, `text` the message.
  using Say = std::function<void(bool is_warning, const std::string& text)>;
  using LostBus = std::function<std::string()>;
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// `agent` is registering at `manager`; waits until `ended` is called. `lost_bus` returns
  /// the URL of a bus that cannot be reached, otherwise an empty text; it may be called as long as
  /// `timer` exists, which must outlive this object.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager,
               LostBus lost_bus, Say say);
  /// As above, but reports to the operations log.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager,
               LostBus lost_bus);
  /// Nobody waits any more.
  ~ManagerWatch() { ended(false); }
  ManagerWatch(const ManagerWatch&) = delete;
  ManagerWatch& operator=(const ManagerWatch&) = delete;
  /// The registration is over: the manager has answered it, or (`has_answered` is false) the agent
  /// has given up waiting.
  void ended(bool has_answered) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace league::agent::bus
