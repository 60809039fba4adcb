#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/core/clock.h"

namespace league::tools {

/// Tells the user what the program is waiting for if that takes longer than usual, and again
/// whenever it changes. Not thread-safe.
class WaitingNotice {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Stays silent for `patience`. `clock` outlives this object.
  WaitingNotice(const core::Clock& clock, std::chrono::milliseconds patience, Say say)
      : clock_(clock), patience_(patience), say_(std::move(say)) {}

  /// Sets what is missing now (empty: nothing). Says `end` once nothing is missing any more, if a
  /// notice was given before.
  void note(const std::string& missing, const std::string& end);

 private:
  const core::Clock& clock_;
  const std::chrono::milliseconds patience_;
  const Say say_;
  std::optional<core::Clock::Steady> since_;
  core::Clock::Steady last_said_{};
  std::string said_;
};

}  // namespace league::tools
