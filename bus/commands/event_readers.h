#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bus/transport/bus.h"
#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/link/subject.h"

namespace league::tools {

/// The dependencies of readers of a league's events; all references must outlive them.
struct EventReading : transport::bus::SessionOnBus {
  std::optional<std::uint64_t> after = std::nullopt;  ///< begin after this number
  /// Called for each event with its number in the stream (0: none), in order, one at a time, on a
  /// thread of the bus or the timer, which it blocks. Returns false if the event was not handled
  /// and no more are wanted.
  std::function<bool(std::uint64_t sequence, const std::string& payload)> on_event = nullptr;
  std::function<void(const std::string&)> on_trouble =
      nullptr;  ///< a text for people; reading continues
};

/// Subscribes our session to the events of the league's manager (events_subscribe). If the manager
/// is silent, subscribes again after the last event that was received, so that no event is missed
/// or repeated as long as the broker stores events. Fails like Bus::subscribe. Reads until the
/// handle is released, which waits until `reading` is not used any more, so not by one of its
/// callbacks.
[[nodiscard]] core::Result<std::shared_ptr<void>> read_feed(EventReading reading,
                                                            std::string league_id,
                                                            std::set<std::string> types);

/// Reads the league's stream through a durable consumer: the broker remembers under its name what
/// was acknowledged, so a reader continues where the last one stopped. An event is acknowledged
/// after `on_event`: a reader that is killed in between gets the same event again, with the same
/// number. Needs the permissions of an operator. Reads until the handle is released, as above;
/// `streams` outlives it.
[[nodiscard]] std::shared_ptr<void> read_durably(EventReading reading,
                                                 transport::bus::JetStream& streams,
                                                 const std::string& league_id, std::string name);

/// How one event of a league is shown.
struct EventLineOptions {
  std::string key;  ///< public key of the league's manager, 64 hexadecimal digits; empty:
                    ///< signatures are not verified
  bool is_json = false;  ///< one JSON object instead of a line for people
};

/// An event as one line without its end. `sequence` is its number in the stream, 0 for none. JSON
/// has `sequence` (null for none), `verified` (null without a key) and `event`, the JSON-RPC
/// notification as received; if it is not JSON, `text` instead. Thread-safe.
[[nodiscard]] std::string event_line(std::uint64_t sequence, std::string_view payload,
                                     const EventLineOptions& options);

}  // namespace league::tools
