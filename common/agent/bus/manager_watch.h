#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/core/timer.h"

namespace league::agent {

/// Tells the operator of an agent that its league manager does not answer the registration, and
/// when it does at last. Thread-safe.
class ManagerWatch {
 public:
  /// Where it says so: whether it is a warning, and what.
  using Say = std::function<void(bool is_warning, const std::string& text)>;
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// Waits for `ended` of `agent`, which registers at `manager`. `timer` outlives this object.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager, Say say);
  /// As above, into the operations log.
  ManagerWatch(core::Timer& timer, const std::string& agent, const std::string& manager);
  /// The registration is over: the manager has answered it, or (`has_answered` is false) nobody
  /// waits for that any more.
  void ended(bool has_answered) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace league::agent
