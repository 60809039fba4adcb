#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "common/envelope/sender.h"

namespace league::envelope {

/// The messages of league.v2, numbered as in the protocol.
enum class MessageType {
  kRefereeRegisterRequest = 1,
  kRefereeRegisterResponse,
  kLeagueRegisterRequest,
  kLeagueRegisterResponse,
  kRoundAnnouncement,
  kGameInvitation,
  kGameJoinAck,
  kChooseParityCall,
  kChooseParityResponse,
  kGameOver,
  kMatchResultReport,
  kLeagueStandingsUpdate,
  kRoundCompleted,
  kLeagueCompleted,
  kLeagueQuery,
  kLeagueQueryResponse,
  kLeagueError,
  kGameError,
};

/// How a message is read and written (codec.h). Each message struct has one, `codec()`, where its
/// fields are described.
struct MessageCodec;

template <typename... Messages>
struct MessageList {};
/// All messages, in the order of MessageType.
using AllMessages =
    MessageList<struct RefereeRegisterRequest, struct RefereeRegisterResponse,
                struct LeagueRegisterRequest, struct LeagueRegisterResponse,
                struct RoundAnnouncement, struct GameInvitation, struct GameJoinAck,
                struct ChooseParityCall, struct ChooseParityResponse, struct GameOver,
                struct MatchResultReport, struct LeagueStandingsUpdate, struct RoundCompleted,
                struct LeagueCompleted, struct LeagueQuery, struct LeagueQueryResponse,
                struct LeagueError, struct GameError>;

/// Several roles.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(Role role)
      : bits_(static_cast<unsigned>(role)) {}  // NOLINT: one role is a set of roles
  [[nodiscard]] constexpr bool contains(Role role) const {
    return (bits_ & static_cast<unsigned>(role)) != 0;
  }
  friend constexpr Roles operator|(Roles a, Roles b) {
    Roles both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }

 private:
  unsigned bits_ = 0;
};

/// One row of the protocol table: everything about a message type that is not its fields.
struct MessageSpec {
  MessageType type;
  std::string_view wire_name;  ///< `GAME_INVITATION`
  std::string_view
      method;  ///< JSON-RPC method that carries it; empty for a message that is only a reply
  std::span<const std::string_view>
      aliases;  ///< other methods under which bots in the wild send or serve it (protocol §9)
  Roles senders;
  Roles receivers;
  bool token_required;
  std::optional<MessageType> reply;  ///< the message that answers it; nothing: any acknowledgement
  std::chrono::milliseconds time_limit{0};  ///< default per attempt; 0 for replies
  bool best_effort;  ///< not confirmed: delivery is not waited for
};

/// The protocol, as one table in the order of the protocol. Immutable. Source: protocol §4 and §9.
[[nodiscard]] std::span<const MessageSpec> all_messages();
[[nodiscard]] const MessageSpec& spec(MessageType type);
[[nodiscard]] std::string_view wire_name(MessageType type);
/// The type written `name` (exactly, upper case); nothing for an unknown one.
[[nodiscard]] std::optional<MessageType> message_type_from_wire(std::string_view name);

/// How a JSON-RPC method names a message.
struct MethodMatch {
  MessageType type;
  bool is_alias;  ///< true when it is not the method of the table, which is a leniency
};
/// The request message that `method` carries for a receiver of `role`: by its tool name, else by an
/// alias, else by the message type in upper or lower case. Generic methods (`mcp_message`,
/// `handle_message`, `tools/call`) name none.
[[nodiscard]] std::optional<MethodMatch> message_type_from_method(std::string_view method,
                                                                  Role receiver);

}  // namespace league::envelope
