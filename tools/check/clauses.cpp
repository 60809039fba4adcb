#include "tools/check/report.h"

#include <algorithm>
#include <array>

namespace league::tools::check {
namespace {

struct Clause {
  std::string_view id;
  std::string_view text;
};

// `P-` stands for the protocol document, followed by the section and, if it is numbered, the item;
// `M-` stands for the Model Context Protocol.
constexpr auto kClauses = std::to_array<Clause>({
    {"P-1",
     "JSON-RPC 2.0 over POST /mcp. The message itself is params or result, without anything around "
     "it."},
    {"P-2",
     "Every message has protocol, message_type, sender, timestamp and conversation_id. Unknown "
     "fields are ignored; null counts as missing."},
    {"P-3",
     "Timestamps are ISO 8601 times in UTC, in one of three formats, ending in Z or +00:00."},
    {"P-4",
     "Each message has its own method. Calls that expect no message in return are answered with "
     "any result."},
    {"P-4.1", "REFEREE_REGISTER_REQUEST has a complete referee_meta."},
    {"P-4.2",
     "REFEREE_REGISTER_RESPONSE has the status ACCEPTED with an id and a token, or REJECTED with a "
     "reason."},
    {"P-4.3", "LEAGUE_REGISTER_REQUEST has a complete player_meta."},
    {"P-4.4",
     "LEAGUE_REGISTER_RESPONSE has the status ACCEPTED with an id and a token, or REJECTED with a "
     "reason."},
    {"P-4.5", "ROUND_ANNOUNCEMENT lists the matches of a round."},
    {"P-4.6", "GAME_INVITATION has match_id, game_type, role_in_match and opponent_id."},
    {"P-4.7", "GAME_JOIN_ACK has match_id, player_id, arrival_timestamp and accept."},
    {"P-4.8",
     "CHOOSE_PARITY_CALL has match_id, player_id, game_type and deadline; context is "
     "optional."},
    {"P-4.9",
     "CHOOSE_PARITY_RESPONSE has match_id, player_id and parity_choice, exactly \"even\" "
     "or \"odd\"."},
    {"P-4.10", "GAME_OVER tells both players the result."},
    {"P-4.11", "MATCH_RESULT_REPORT tells the manager the winner, the score and details."},
    {"P-4.12", "LEAGUE_STANDINGS_UPDATE has the standings, ordered by rank."},
    {"P-4.13", "ROUND_COMPLETED has the totals of a round."},
    {"P-4.14", "LEAGUE_COMPLETED has the champion and the final standings."},
    {"P-4.15", "LEAGUE_QUERY has league_id and query_type."},
    {"P-4.16", "LEAGUE_QUERY_RESPONSE has query_type, success, and data or error."},
    {"P-4.17",
     "LEAGUE_ERROR has code, name, description and the type of the message. A token is never "
     "repeated beyond its first 8 characters."},
    {"P-4.18", "GAME_ERROR tells a player what failed and what happens next."},
    {"P-5",
     "Invalid JSON-RPC is answered with the standard's error codes, an invalid message with "
     "-32602, and with error_code and field in data."},
    {"P-6",
     "Time limits apply to each attempt. Calls may be repeated, and each repetition is answered "
     "like the first."},
    {"P-7",
     "Neither player learns the other's choice before both have chosen, and the number follows "
     "from the promised seed."},
    {"P-7.22", "GAME_JOIN_ACK may contain a choice_commitment, made with a new nonce."},
    {"P-7.25",
     "Choices are asked for after both players have joined. The choice and choice_nonce must match "
     "the commitment."},
    {"P-7.27", "Only the nonces of commitments that count are used in the draw."},
    {"P-7.28", "A commitment is valid for the whole match. A repeated invitation changes nothing."},
    {"P-7.40",
     "The player verifies GAME_OVER, refuses a false result, and disputes it at the manager."},
    {"P-7.60",
     "A player that declares receipts commits in every match that has a draw_commitment, and puts "
     "a receipt into both answers."},
    {"P-7.61",
     "A receipt is the HMAC-SHA-256, with receipt_key as text, of what is answered: "
     "JOIN|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|ACCEPT|CHOICE_COMMITMENT or "
     "CHOICE|LEAGUE_KEY|MATCH|ATTEMPT|PLAY|DRAW_COMMITMENT|CHOICE|NONCE|OPPONENT_COMMITMENT."},
    {"P-7.62", "ATTEMPT and PLAY of a receipt are context.attempt and context.play of the call."},
    {"P-7.63",
     "A player that gives receipts refuses calls of another attempt than the credential proves, "
     "another seed than the announced one, calls of an earlier attempt, and a second "
     "opponent_commitment."},
    {"P-7.66",
     "get_match_record lists, for the holder of the player's token only, the calls of a match and "
     "what the player answered."},
    {"P-8",
     "A reply has the agent's own token. A call of the manager has the called agent's token, and a "
     "call of a referee the match credential; any other call is refused before it changes "
     "anything."},
    {"P-8.15", "receipt_key comes with the registration_nonce, and only the player knows it."},
    {"P-8.16",
     "A player that gives receipts shows referees the answer credential in place of its token."},
    {"P-9",
     "Known deviations are accepted and recorded. A deadline that has passed is no reason to "
     "refuse a call."},
    {"P-13.3",
     "open_seat begins a session with a proof of the token, a fresh timestamp and a nonce that "
     "counts once."},
    {"P-13.5",
     "Only the newest await_calls of a session waits, so that an answer is handed in as soon as it "
     "is ready."},
    {"P-13.7", "A player has one session. A newer one takes over, and an unknown one gets E012."},
    {"P-13.8",
     "A call is offered again in the next session while it is unanswered, and gets the same answer "
     "again."},
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
