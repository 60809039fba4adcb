#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/agent/peer_client.h"
#include "common/agent/registration.h"
#include "common/core/timer.h"
#include "common/envelope/round_messages.h"
#include "common/transport/bus/jet_stream.h"

namespace league::referee {

/// What an intake brings its matches to. Thread-safe.
class MatchPlayer {
 public:
  struct Refused {
    std::string match_id;
    core::Error why;
  };

  virtual ~MatchPlayer() = default;
  /// Places in which a match could start now.
  [[nodiscard]] virtual int free_places() const = 0;
  /// Plays the matches, but for those that it names. One that it knows already is neither.
  [[nodiscard]] virtual std::vector<Refused> play(std::vector<envelope::MatchAssignment> matches,
                                                  int round_id) = 0;
  [[nodiscard]] virtual bool is_playing(const std::string& match_id) const = 0;
};

/// Takes matches from the league's queue on the bus whenever the referee has a free place: asks the
/// stream for as many, claims them at the manager, plays what it gets, and acknowledges a match
/// when its report is accepted. What is in hand is kept from being handed out again. Thread-safe.
/// Source: docs/distributed.md.
class MatchIntake {
 public:
  struct Context {
    transport::JetStream& streams;
    agent::PeerClient& peers;
    core::Timer& timer;
    const core::Clock& clock;
    MatchPlayer& player;
  };
  struct Options {
    agent::Identity identity;
    transport::Endpoint manager;
    /// Of the queue: a match of which nothing is said for so long is handed out again.
    std::chrono::milliseconds wait{10'000};
  };

  /// Begins to take. All of the context outlives it and its last call.
  MatchIntake(const Context& context, Options options);
  /// As stop.
  ~MatchIntake();
  MatchIntake(const MatchIntake&) = delete;
  MatchIntake& operator=(const MatchIntake&) = delete;

  /// A match is played and takes no place any more. The manager hears of its result before it hears
  /// what is claimed for that place.
  void on_played();
  /// A match is over; `is_accepted`: the manager has taken the report.
  void on_over(const std::string& match_id, bool is_accepted);
  /// Takes nothing more; what is in hand is left to the queue.
  void stop();

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::referee
