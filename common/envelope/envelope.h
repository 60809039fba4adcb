#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/core/ids.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/envelope/sender.h"

namespace league::envelope {

/// What `protocol` says in every message that we send. Source: protocol §2.
inline constexpr std::string_view kProtocol = "league.v2";
/// What `protocol_version` says in our registrations.
inline constexpr std::string_view kProtocolVersion = "2.1.0";
/// The longest conversation id. Source: protocol §2.
inline constexpr std::size_t kMaxConversationIdLength = 100;

/// The header that every league message carries, flat beside its own fields. Source: protocol §2.
struct Envelope {
  MessageType type = MessageType::kLeagueError;
  Sender sender{};
  core::UtcTimestamp timestamp{};
  core::ConversationId conversation_id{};
  std::optional<core::AuthToken> auth_token = std::nullopt;
  std::optional<core::LeagueId> league_id = std::nullopt;
  std::optional<int> round_id = std::nullopt;
  std::optional<core::MatchId> match_id = std::nullopt;
};

/// The parts that differ between the envelopes of one agent.
struct EnvelopeOptions {
  core::ConversationId conversation_id{};
  std::optional<core::AuthToken> auth_token = std::nullopt;
  std::optional<int> round_id = std::nullopt;
  std::optional<core::MatchId> match_id = std::nullopt;
};

/// Whether a message may carry `text` as its conversation id: 1 to 100 characters.
[[nodiscard]] bool is_conversation_id(std::string_view text);
/// The conversation id of a message that need not be valid; it can have any length, and is empty if
/// the field is missing or not a string.
[[nodiscard]] std::string conversation_id_in(const nlohmann::json& message);

/// Creates the envelopes of one agent. `clock` must outlive it. Const methods are thread-safe; the
/// setters may be called only before the agent serves (during registration).
class EnvelopeBuilder {
 public:
  EnvelopeBuilder(Sender sender, std::optional<core::LeagueId> league_id, const core::Clock& clock)
      : sender_(std::move(sender)), league_id_(std::move(league_id)), clock_(clock) {}

  /// An envelope from this agent, now. `league_id` is added once it is known, to every type.
  [[nodiscard]] Envelope make(MessageType type, EnvelopeOptions options) const;

  [[nodiscard]] const Sender& sender() const { return sender_; }
  [[nodiscard]] const std::optional<core::LeagueId>& league_id() const { return league_id_; }
  /// Registration gives an agent its name and its league.
  void set_identity(Sender sender, core::LeagueId league_id);

 private:
  Sender sender_;
  std::optional<core::LeagueId> league_id_;
  const core::Clock& clock_;
};

/// `convplayerp01reg001`: one per registration of an agent. `id` is the temporary name before it
/// has one.
[[nodiscard]] core::ConversationId registration_conversation(Role role, std::string_view id,
                                                             int sequence);
/// `convr1m1001`: one per attempt at a match.
[[nodiscard]] core::ConversationId match_conversation(const core::MatchId& match, int attempt);
/// `convround1round_announcement`: one per round and kind of message.
[[nodiscard]] core::ConversationId round_conversation(int round_id, MessageType type);
/// `convleaguecompleted…` for messages of a whole league: `convleague{type}`.
[[nodiscard]] core::ConversationId league_conversation(MessageType type);
/// `convplayerp01query001`: queries have conversations of their own.
[[nodiscard]] core::ConversationId query_conversation(Role role, std::string_view id, int sequence);

}  // namespace league::envelope
