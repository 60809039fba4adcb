#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/core/clock.h"
#include "common/rpc/shared_text.h"
#include "common/transport/bus/bus.h"

namespace league::transport::bus {

/// Recognises requests that a caller has sent again because it has no answer yet, so that nothing
/// is carried out twice: same reply subject, same bytes. A request whose answer took long is
/// remembered for a while afterwards, since its repetition may have crossed the answer.
/// Thread-safe.
class RepeatedRequests {
 public:
  /// `clock` outlives it.
  explicit RepeatedRequests(const core::Clock& clock) : clock_(clock) {}

  /// The request as `end` and `begin` know it; empty if it has no reply subject of its own.
  [[nodiscard]] static std::string key_of(const BusMessage& request);

  struct Known {
    rpc::SharedText answer;  ///< empty: it is still being worked at
  };
  /// Notes the request; a value if it is a repetition. An empty key is never one.
  [[nodiscard]] std::optional<Known> begin(const std::string& key);
  /// The request is answered.
  void end(const std::string& key, const rpc::SharedText& answer);

 private:
  struct Request {
    core::Clock::Steady begun;
    rpc::SharedText answer = {};
  };
  const core::Clock& clock_;
  std::mutex mutex_;  // guards the rest
  std::map<std::string, Request> requests_;
  std::deque<std::pair<core::Clock::Steady, std::string>> answered_;  ///< the oldest first
};

}  // namespace league::transport::bus
