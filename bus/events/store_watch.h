#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/task.h"

namespace league::league_manager::bus {

/// A stream of the broker, with the text for the operator.
struct WatchedStore {
  std::function<std::string()> stream;  ///< its name now, empty if there is none
  std::string when_full;  ///< what happens then, and what to do
  std::int64_t wanted_bytes = -1;  ///< that the broker should reserve; -1: none
};

/// Says soon after the start which reservations the broker has not made. Checks every 30 seconds
/// how full the streams are, and warns when one has reached 70 % of its limit; again only after it
/// was below 60 %. Ignores missing streams.
class StoreWatch {
 public:
  /// References outlive it. `say` runs on a thread of the bus.
  StoreWatch(transport::bus::JetStream& streams, const core::Clock& clock, core::Timer& timer,
             std::vector<WatchedStore> stores, std::function<void(std::string)> say);

 private:
  struct Watched {
    WatchedStore store;
    bool is_said = false;
    bool is_room_said = false;
  };

  task::Task<void> watch();
  void check(Watched& watched, const transport::bus::StreamState& state);
  void check_room(Watched& watched, const transport::bus::StreamState& state);

  transport::bus::JetStream& streams_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const std::function<void(std::string)> say_;
  std::vector<Watched> stores_;
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::bus
