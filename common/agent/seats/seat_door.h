#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/agent/dialects/request_dialect.h"
#include "common/agent/seats/seats.h"
#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/seat_address.h"
#include "common/transport/link/message_handler.h"

namespace league::agent::seats {

/// A call of a referee at a seat, as far as the door reads it.
struct SeatClaim {
  std::string player;
  envelope::MessageType type{};
  std::string match_id;
  int play = 0;  ///< as the call says
  core::AuthToken shown;
};

/// The refusal at a seat: the same for everybody, so that nobody learns who sits there.
[[nodiscard]] core::Error no_entry();

/// Who is admitted to a seat.
struct SeatVisitor {
  std::string referee;  ///< `referee:REF01`, which has the match
  /// Only that referee can have shown this. False for a match credential, which the player itself
  /// can make.
  bool is_proven = false;
};

/// How a caller waits for an answer.
struct Patience {
  std::chrono::milliseconds limit;
  bool waits_for_absent = false;  ///< also while the player has been away for long
};

/// What the door asks the program that it belongs to. Thread-safe.
struct SeatRules {
  /// Who makes this call; or why nobody may make it: kAuthTokenInvalid, and nothing that tells the
  /// caller more.
  std::function<core::Result<SeatVisitor>(const SeatClaim&)> admit;
  /// How its caller waits for the player's answer to a message of this type.
  std::function<Patience(const std::string& player, envelope::MessageType)> patience;
  /// Somebody was refused at the seat `player`; may be empty.
  std::function<void(const std::string& player, const core::Error& why)> on_refused = {};
};

/// Takes the messages for `/seats/ID` out of those that a program receives: admits invitations,
/// calls for a choice, results and errors from the referee of an open match, passes them on to the
/// player at the seat, unchanged, and answers with what it says. Everybody else is refused before
/// the player. A `ping` is answered by the seat itself: 503 while the player is away. The log gets
/// both messages, with `via`. Thread-safe. Source: protocol §10.
class SeatDoor final : public transport::link::HandlerDecorator {
 public:
  /// All references outlive it.
  SeatDoor(transport::link::MessageHandler& handler, Seats& seats, SeatRules rules,
           const core::Clock& clock);

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;

 private:
  void on_call(std::string player, const transport::link::Inbound& message,
               transport::link::ReplySlot reply);
  void on_ping(const std::string& player, const rpc::Id& id,
               const std::shared_ptr<rpc::MessageNotes>& notes, transport::link::ReplySlot reply);

  Seats& seats_;
  const SeatRules rules_;
  const core::Clock& clock_;
  dialects::RequestReader reader_;
};

/// Takes the answers that seated players send over their connections, before budgets and log:
/// each is logged as the answer to the call that it belongs to. Thread-safe.
class SeatAnswers final : public transport::link::HandlerDecorator {
 public:
  /// Both references outlive it.
  SeatAnswers(transport::link::MessageHandler& handler, Seats& seats)
      : HandlerDecorator(handler), seats_(seats) {}

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  void on_channel_closed(const transport::link::PeerChannel& channel) override;

 private:
  Seats& seats_;
};

}  // namespace league::agent::seats
