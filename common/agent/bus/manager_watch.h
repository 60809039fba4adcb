#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/core/timer.h"

namespace league::agent {

/// Tells the operator of an agent when the league manager does not answer the registration, and
/// when it finally does. Thread-safe.
class ManagerWatch {
 public:
  /// Reports to the operator: `is_warning` is the level, `text` the message.
  using Say = std::function<void(bool is_warning, const std::string& text)>;
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// `agent` is registering at `manager`; waits until `ended` is called. `timer` must outlive this
  /// object.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager, Say say);
  /// As above, but reports to the operations log.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager);
  /// The registration is over: the manager has answered it, or (`has_answered` is false) the agent
  /// has given up waiting.
  void ended(bool has_answered) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace league::agent
