#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/core/clock.h"

namespace league::tools {

/// Tells a person what is waited for when it takes longer than usual, and again when that changes.
/// Not thread-safe.
class WaitingNotice {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Stays silent for `patience`. `clock` outlives this object.
  WaitingNotice(const core::Clock& clock, std::chrono::milliseconds patience, Say say)
      : clock_(clock), patience_(patience), say_(std::move(say)) {}

  /// What is missing now; empty: nothing. Says `end` when nothing is any more, if it has said that
  /// something was.
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
