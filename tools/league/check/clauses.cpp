#include "tools/league/check/clauses.h"

#include <algorithm>
#include <array>

namespace league::tools::check {
namespace {

struct Clause {
  std::string_view id;
  std::string_view text;
};

// `P-` is the protocol document, then its section and, where it is numbered, the item; `M-` is the
// Model Context Protocol.
constexpr auto kClauses = std::to_array<Clause>({
    {"P-1", "JSON-RPC 2.0 over POST /mcp; the message lies flat in params or result."},
    {"P-2",
     "Every message has the envelope: protocol, message_type, sender, timestamp, "
     "conversation_id; unknown fields are ignored, null counts as missing."},
    {"P-3", "Timestamps are ISO 8601 in UTC, in three forms, with Z or +00:00."},
    {"P-4", "Each message has one method; calls that expect no message back get a plain result."},
    {"P-4.1", "REFEREE_REGISTER_REQUEST has a complete referee_meta."},
    {"P-4.2",
     "REFEREE_REGISTER_RESPONSE says ACCEPTED with id and token, or REJECTED with a "
     "reason."},
    {"P-4.3", "LEAGUE_REGISTER_REQUEST has a complete player_meta."},
    {"P-4.4",
     "LEAGUE_REGISTER_RESPONSE says ACCEPTED with id and token, or REJECTED with a "
     "reason."},
    {"P-4.5", "ROUND_ANNOUNCEMENT names the matches of a round."},
    {"P-4.6", "GAME_INVITATION names match, game, role and opponent."},
    {"P-4.7", "GAME_JOIN_ACK has match_id, player_id, arrival_timestamp and accept."},
    {"P-4.8",
     "CHOOSE_PARITY_CALL has match_id, player_id, game_type and deadline; context is "
     "optional."},
    {"P-4.9",
     "CHOOSE_PARITY_RESPONSE has match_id, player_id and parity_choice, exactly \"even\" "
     "or \"odd\"."},
    {"P-4.10", "GAME_OVER sends both players the result."},
    {"P-4.11", "MATCH_RESULT_REPORT sends the manager winner, score and details."},
    {"P-4.12", "LEAGUE_STANDINGS_UPDATE has the table by rank."},
    {"P-4.13", "ROUND_COMPLETED has the sums of a round."},
    {"P-4.14", "LEAGUE_COMPLETED has champion and final standings."},
    {"P-4.15", "LEAGUE_QUERY has league_id and query_type."},
    {"P-4.16", "LEAGUE_QUERY_RESPONSE has query_type, success, and data or error."},
    {"P-4.17",
     "LEAGUE_ERROR has code, name, description and the type of the message; no token is "
     "ever echoed beyond its first 8 characters."},
    {"P-4.18", "GAME_ERROR tells a player what failed and what follows."},
    {"P-5",
     "Bad JSON-RPC gets a JSON-RPC error of the standard; a bad message gets -32602 with "
     "error_code and field in data."},
    {"P-6",
     "Limits hold per attempt; calls are repeated, and each repetition is answered like "
     "the first."},
    {"P-7", "Both choices are blind, the number follows from the promised seed."},
    {"P-7.22", "GAME_JOIN_ACK may carry choice_commitment, made with a fresh nonce."},
    {"P-7.25",
     "The answer opens the commitment with choice and choice_nonce; calls leave when "
     "both GAME_JOIN_ACKs are in."},
    {"P-7.27", "Only opened nonces of counting commitments enter the draw."},
    {"P-7.28", "A commitment holds for the match; a second invitation resets nothing."},
    {"P-7.40",
     "The player verifies GAME_OVER, refuses a false result, and disputes it at the manager."},
    {"P-8",
     "Manager messages carry the agent's own token, referees' calls the match credential; "
     "one that fails is refused before any state changes."},
    {"P-9",
     "What bots in the wild send is accepted and noted; a deadline that is past on arrival "
     "is no reason to refuse."},
    {"M-1", "An MCP server answers initialize with protocolVersion, capabilities and serverInfo."},
    {"M-2", "An MCP server refuses unknown tools."},
    {"M-3", "An MCP server answers ping with an empty result."},
});

}  // namespace

std::string_view clause_text(std::string_view clause) {
  const auto* found = std::ranges::find(kClauses, clause, &Clause::id);
  return found == kClauses.end() ? std::string_view() : found->text;
}

}  // namespace league::tools::check
