#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/agent/host/seat_tools.h"
#include "common/agent/seats/seat_caller.h"
#include "common/agent/seats/seats.h"
#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"

namespace league::tools::check {

/// The seats of bots that come to the checker, as a league manager has them; and what may happen to
/// a manager. Thread-safe.
class CheckerSeats {
 public:
  /// `others` makes calls that do not go to a seat, and outlives it.
  explicit CheckerSeats(transport::link::Caller& others);
  ~CheckerSeats();
  CheckerSeats(const CheckerSeats&) = delete;
  CheckerSeats& operator=(const CheckerSeats&) = delete;

  /// Calls bots at their seats, and everybody else by `others`.
  [[nodiscard]] transport::link::Caller& caller() { return caller_; }
  /// `player` has registered to come, and has this token.
  void expect(const std::string& player, core::AuthToken token);

  /// Takes a message to the checker that is about a seat; false: it is about something else, and
  /// both are as before.
  bool take(transport::link::Inbound& message, transport::link::ReplySlot& reply);
  void on_channel_closed(const transport::link::PeerChannel& channel);

  /// How many sessions were opened so far.
  [[nodiscard]] std::size_t sessions() const;
  /// Waits until there were more than `count`; false: there were not within `limit`.
  [[nodiscard]] bool wait_for_session(std::size_t count, std::chrono::milliseconds limit) const;

  /// Forgets all sessions, as a manager that was started again.
  void forget_sessions();
  /// From now on the next answer is lost, with its session, as if the network had failed.
  void lose_next_answer();
  /// The answer that was lost; nothing: none was yet.
  [[nodiscard]] std::optional<std::string> lost_answer() const;
  /// Another program takes the seat.
  void take_over(const std::string& player);

 private:
  [[nodiscard]] std::optional<core::AuthToken> token_of(const std::string& player) const;
  void note_session();
  void serve_tool(const std::string& method, nlohmann::json arguments,
                  transport::link::Inbound& message, transport::link::ReplySlot& reply);
  /// True if the answer is lost; then the session is forgotten.
  bool loses(const std::string& answer);
  [[nodiscard]] nlohmann::json league_error(const core::Error& error,
                                            const core::ConversationId& conversation) const;

  core::SystemClock clock_;
  core::CryptoRandom random_;
  core::ThreadTimer timer_;
  const agent::peers::LeagueErrorBuilder refusal_;

  mutable std::mutex mutex_;  // guards what follows, up to the empty line
  mutable std::condition_variable changed_;
  std::map<std::string, core::AuthToken> tokens_;
  std::size_t opened_ = 0;
  std::set<std::string> known_;  ///< sessions that have polled
  std::set<std::string> forgotten_;
  std::shared_ptr<transport::link::PeerChannel> connection_;  ///< of the last session; may be null
  bool is_losing_ = false;
  std::optional<std::string> lost_;

  // Last, since their tasks use the rest.
  agent::seats::Seats seats_;
  agent::seats::SeatCaller caller_;
  agent::host::SeatTools tools_;
};

/// Where a player is called that has given `contact_endpoint`: at its seat, if that is `outward`.
/// Fails as parse_endpoint.
[[nodiscard]] core::Result<transport::link::Endpoint> place_of(const std::string& contact_endpoint,
                                                               const std::string& player);
[[nodiscard]] inline bool is_seat(const transport::link::Endpoint& endpoint) {
  return endpoint.scheme == agent::seats::kSeatScheme;
}

}  // namespace league::tools::check
