#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/subject.h"

namespace league::tools {

/// What readers of a league's events share; all references outlive them.
struct EventReading {
  transport::Bus& bus;
  const transport::BusSession& session;
  const core::Clock& clock;
  core::Timer& timer;
  core::RandomSource& random;
  std::optional<std::uint64_t> after = std::nullopt;  ///< begin behind this number
  /// One event, with its number in the stream, 0 for none; one at a time and in order, on a thread
  /// of the bus, which waits for it. False: it was not taken, and nobody wants more.
  std::function<bool(std::uint64_t sequence, const std::string& payload)> on_event;
  std::function<void(const std::string&)> on_trouble;  ///< for people; reading goes on
};

/// Has the league's manager push events to our session (events_subscribe), and asks again, behind
/// what it has seen, when the manager was silent: so nothing is missed or seen twice as long as the
/// broker keeps events. Thread-safe.
class FeedReader {
 public:
  FeedReader(EventReading reading, std::string league_id, std::set<std::string> types);
  /// Afterwards nothing of `reading` is used, unless it is what calls.
  ~FeedReader();
  FeedReader(const FeedReader&) = delete;
  FeedReader& operator=(const FeedReader&) = delete;

  /// Begins. Fails as Bus::subscribe.
  [[nodiscard]] core::Result<void> start();

 private:
  class State;
  const std::shared_ptr<State> state_;
};

/// Reads the league's stream through a durable consumer: the broker remembers under its name what
/// was acknowledged, and so a reader goes on where the last one stopped. An event is acknowledged
/// after `on_event`: who is killed in between is told of that one again, with the same number.
/// Needs the rights of an operator. Thread-safe.
class DurableReader {
 public:
  /// `streams` outlives it.
  DurableReader(EventReading reading, transport::JetStream& streams, const std::string& league_id,
                std::string name);
  ~DurableReader();
  DurableReader(const DurableReader&) = delete;
  DurableReader& operator=(const DurableReader&) = delete;

  void start();
  /// Reads nothing more, and waits until the broker knows what was read, at most for `patience`.
  void stop(std::chrono::milliseconds patience);

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::tools
