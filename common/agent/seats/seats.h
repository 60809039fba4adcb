#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/core/clock.h"
#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/rpc/id.h"
#include "common/rpc/shared_text.h"
#include "common/task/latch.h"
#include "common/task/task.h"
#include "common/transport/link/message_handler.h"

namespace league::agent::seats {

/// How a seated player gets its calls.
/// `kHost`: this program plays for a client that has nothing but tools.
enum class Line : std::uint8_t { kAway, kPoll, kWebSocket, kHost };
/// `away`, `poll`, `websocket`, `host`.
[[nodiscard]] std::string_view line_name(Line line);

/// A call to a seated player.
struct SeatCall {
  rpc::SharedText bytes;  ///< one JSON-RPC request
  rpc::Id id;  ///< that it has
  std::string caller;  ///< whose budget it uses: `league_manager`, `referee:REF01`
  core::Clock::Steady deadline;  ///< its answer is useless later
  bool waits = false;  ///< until then, also if the player has been away for long
};

/// How it ended: with an error (kTimeout, kConnectionError: the player has been away for long,
/// kOverloaded: the caller has too many open calls; kShuttingDown), or with the player's answer.
struct SeatAnswer {
  std::optional<core::Error> error = std::nullopt;
  rpc::SharedText bytes{};
  /// Where the player got the call under another id: the call as it got it, and its own answer.
  rpc::SharedText offered{};
  rpc::SharedText given{};
  std::optional<core::Clock::Steady> sent_at =
      std::nullopt;  ///< when the player was given the call
  /// How long the call was kept here although the player was waiting for one, and then its answer,
  /// or the word that there is none.
  std::chrono::nanoseconds own_delay{};
};

/// What a poll gets.
struct Polled {
  struct Call {
    rpc::SharedText request;
    std::chrono::milliseconds remaining;  ///< until its deadline
  };
  std::vector<Call> calls;
  bool is_taken_over = false;  ///< the session has ended, since a newer one took over
};

/// What may wait at a seat.
struct SeatLimits {
  std::size_t open_calls = 8;  ///< of one caller at one seat
  std::size_t open_bytes = 256 * 1024;  ///< ... and of their requests
  /// A session that polls ends when nobody has asked for this long.
  std::chrono::seconds silence{60};
  /// Calls to a player wait while it is away, but once it has been for this long they fail.
  std::chrono::seconds absence{30};
  /// Who polls is there for this long after a poll.
  std::chrono::seconds between_polls{5};
};

/// The seats of players that come to us: each has one session at a time, by which its player takes
/// calls and gives answers. A call is offered once per session, and again, with the same bytes, to
/// the next one while it is unanswered; the first answer counts. Thread-safe. Source: protocol §10.
class Seats {
 public:
  using OnException = task::Scope::OnException;
  using Answered = std::function<void(SeatAnswer)>;

  /// How a player is connected, and since when.
  struct Shown {
    Line line = Line::kAway;
    core::UtcTimestamp since;
  };

  /// `timer` and `clock` outlive it.
  Seats(core::Timer& timer, const core::Clock& clock, core::RandomSource& random,
        OnException on_exception, SeatLimits limits = {});
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  /// A secret name for a session of `player`.
  [[nodiscard]] std::string name_session(const std::string& player);
  /// Begins it: the player gets calls over `channel`, or, on the line kPoll, which has none, when
  /// it asks. An earlier session of the player ends.
  void open(std::string player, std::string session, Line line,
            std::shared_ptr<transport::link::PeerChannel> channel);
  /// Whose session that is, whether it still lasts or not; nothing for what is no session's name.
  [[nodiscard]] std::optional<std::string> player_of(std::string_view session) const;

  /// Calls the player. `answered` runs once, on any thread.
  void call(std::string player, SeatCall call, Answered answered);

  /// Takes `answers`, JSON-RPC responses, and waits up to `wait` for calls. Ends an earlier poll of
  /// the session, which gets none. Fails with kNotAuthorized if a newer session has taken over,
  /// and with kAuthTokenInvalid for every other session that does not last.
  void poll(std::string session, std::chrono::milliseconds wait, std::vector<std::string> answers,
            std::function<void(core::Result<Polled>)> polled);
  /// Ends it, if it lasts: its client leaves. What is unanswered is offered to the next one.
  void end(std::string session);
  /// Whether the player is there: it has a connection, a poll waits, or one has just returned.
  void look_for(std::string player, std::function<void(bool is_there)> found);
  /// Takes an answer that came over a session's connection. False if there is no session there.
  bool take_answer(const transport::link::PeerChannel& channel, const rpc::SharedText& bytes);
  /// Whether this connection has a session.
  [[nodiscard]] bool is_taken(const transport::link::PeerChannel& channel) const;
  /// Ends the session at this connection, if there is one.
  void on_channel_closed(const transport::link::PeerChannel& channel);

  /// How a player is connected; nothing if it never was since this program was started.
  [[nodiscard]] std::optional<Shown> shown(const std::string& player) const;
  /// Ends all calls, with kShuttingDown, and all polls, which get no calls.
  void stop() { scope_.stop(); }

 private:
  struct OpenCall;
  struct Seat;

  task::Task<void> converse(std::string player, SeatCall call, Answered answered);
  task::Task<void> wait_for_calls(std::string session, std::chrono::milliseconds wait,
                                  std::vector<std::string> answers,
                                  std::function<void(core::Result<Polled>)> polled);
  void begin(const std::string& player, std::string session, Line line,
             std::shared_ptr<transport::link::PeerChannel> channel);
  void leave(const std::string& player, Seat& seat);
  void hand_out(const std::string& player, Seat& seat);
  void take(Seat& seat, const rpc::SharedText& answer);
  [[nodiscard]] std::vector<Polled::Call> take_calls(Seat& seat);
  [[nodiscard]] core::Result<void> has_room(const Seat& seat, const SeatCall& call) const;
  void end_if_silent(const std::string& player, Seat& seat);
  [[nodiscard]] core::Result<std::string> owner_of(const std::string& session) const;
  void show(const std::string& player, Line line);

  core::Timer& timer_;
  const core::Clock& clock_;
  core::RandomSource& random_;
  const SeatLimits limits_;
  const core::Digest key_;  ///< with which the names of sessions are made
  std::unordered_map<std::string, std::shared_ptr<Seat>> seats_;  // on the executor only
  std::uint64_t next_id_ = 0;  // likewise

  mutable std::mutex mutex_;  // guards the two below
  std::map<std::string, Shown> shown_;
  std::unordered_map<std::string, std::string> by_channel_;  ///< the player at a connection
  task::Scope scope_;
};

}  // namespace league::agent::seats
