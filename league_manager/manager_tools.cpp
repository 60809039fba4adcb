#include "league_manager/manager_tools.h"

#include "common/agent/shown_tools.h"

namespace league::league_manager {
namespace {

constexpr const char* kGetStandingsInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "offset": {"type": "integer", "minimum": 0, "description": "Rows to skip; 0 if missing."},
    "limit": {"type": "integer", "minimum": 0, "description": "Rows to return, at most 200."}
  }
})json";

constexpr const char* kGetStandingsOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["league_id", "standings", "total_players"],
  "properties": {
    "league_id": {"type": "string"},
    "total_players": {"type": "integer", "minimum": 0},
    "standings": {
      "type": "array",
      "description": "The table by rank; before the start who has registered.",
      "items": {
        "type": "object",
        "required": ["rank", "player_id", "points"],
        "properties": {
          "rank": {"type": "integer"},
          "player_id": {"type": "string"},
          "display_name": {"type": "string"},
          "played": {"type": "integer"},
          "wins": {"type": "integer"},
          "draws": {"type": "integer"},
          "losses": {"type": "integer"},
          "points": {"type": "integer"}
        }
      }
    }
  }
})json";

constexpr const char* kNoInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object"
})json";

constexpr const char* kStatusOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["league_id", "state", "players", "referees", "total_matches", "matches_completed"],
  "properties": {
    "league_id": {"type": "string"},
    "state": {"type": "string", "description": "Such as REGISTERING, ACTIVE, COMPLETED."},
    "players": {"type": "integer"},
    "players_expected": {"type": "integer"},
    "referees": {"type": "integer"},
    "referees_expected": {"type": "integer"},
    "current_round": {"type": "integer", "description": "0 before the first."},
    "total_rounds": {"type": "integer"},
    "total_matches": {"type": "integer"},
    "matches_completed": {"type": "integer"},
    "wins": {"type": "integer"},
    "draws": {"type": "integer"},
    "technical_losses": {"type": "integer"},
    "started_at": {"type": ["string", "null"]},
    "completed_at": {"type": ["string", "null"]},
    "league_key": {"type": "string", "description": "Ed25519 public key of the league: its identity."},
    "broadcast_key": {"type": "string", "description": "Ed25519 key of what is published on the bus; missing on none."},
    "champion": {
      "type": ["object", "null"],
      "description": "Null while the league goes on.",
      "properties": {
        "player_id": {"type": "string"},
        "display_name": {"type": "string"},
        "points": {"type": "integer"}
      }
    }
  }
})json";

constexpr const char* kStartInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "operator_key": {"type": "string", "description": "The key of the file behind --operator-key."}
  }
})json";

constexpr const char* kNewTokenInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "operator_key": {"type": "string", "description": "The key of the file behind --operator-key."},
    "agent_id": {"type": "string", "description": "Whose token is replaced, such as P07 or REF01."}
  }
})json";

constexpr const char* kNewTokenOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["status"],
  "properties": {
    "status": {"type": "string"},
    "agent_id": {"type": "string"},
    "league_id": {"type": "string"},
    "auth_token": {"type": "string", "description": "The new token; the old one is void."}
  }
})json";

constexpr const char* kPageInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "offset": {"type": "integer", "minimum": 0, "description": "Rows to skip; 0 if missing."},
    "limit": {"type": "integer", "minimum": 0, "description": "Rows to return, at most 200."}
  }
})json";

constexpr const char* kAgentsOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["total_agents", "agents"],
  "properties": {
    "total_agents": {"type": "integer", "minimum": 0},
    "agents": {
      "type": "array",
      "description": "Referees, then players, by id.",
      "items": {
        "type": "object",
        "required": ["agent_id", "kind", "state", "since"],
        "properties": {
          "agent_id": {"type": "string"},
          "kind": {"enum": ["player", "referee"]},
          "display_name": {"type": "string"},
          "state": {"enum": ["INIT", "REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"]},
          "since": {"type": "string"},
          "reason": {"type": "string", "description": "Why it has this state, such as FAILED_MATCHES."},
          "detail": {"type": "string", "description": "The same for people."},
          "failed_matches": {"type": "integer", "description": "Matches that failed through its own fault."},
          "failed_in_a_row": {"type": "integer"}
        }
      }
    }
  }
})json";

constexpr const char* kOperatorAgentInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["agent_id"],
  "properties": {
    "operator_key": {"type": "string", "description": "The key of the file behind --operator-key."},
    "agent_id": {"type": "string", "description": "Such as P01 or REF01."},
    "reason": {"type": "string", "description": "For people; the agent is told."}
  }
})json";

constexpr const char* kWithdrawInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["sender", "auth_token"],
  "properties": {
    "sender": {"type": "string", "description": "Such as player:P01."},
    "auth_token": {"type": "string", "description": "The player's own."},
    "reason": {"type": "string", "description": "For people."}
  }
})json";

constexpr const char* kClaimInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["sender", "auth_token"],
  "properties": {
    "sender": {"type": "string", "description": "Such as referee:REF01."},
    "auth_token": {"type": "string", "description": "The referee's own."},
    "claims": {
      "type": "array",
      "maxItems": 1000,
      "description": "Matches that have come from the queue.",
      "items": {
        "type": "object",
        "required": ["match_id"],
        "properties": {
          "match_id": {"type": "string"},
          "attempt": {"type": "integer", "minimum": 1, "description": "As the queue said."}
        }
      }
    },
    "refused": {
      "type": "array",
      "description": "Matches of an earlier claim that this referee may not play.",
      "items": {"type": "string"}
    },
    "reasons": {"type": "object", "description": "By match: error_code and error_description."}
  }
})json";

constexpr const char* kClaimOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["status", "verdicts"],
  "properties": {
    "status": {"type": "string"},
    "verdicts": {
      "type": "object",
      "description": "By match: YOURS (play it), HELD (by another referee; claim it again later), NOT_NOW (let others have it), OVER (forget it).",
      "additionalProperties": {"enum": ["YOURS", "HELD", "NOT_NOW", "OVER"]}
    },
    "round_id": {"type": "integer"},
    "matches": {"type": "array", "description": "What is needed to play, as in ROUND_ANNOUNCEMENT.", "items": {"type": "object"}}
  }
})json";

constexpr const char* kEventsInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "types": {
      "type": "array",
      "items": {"type": "string"},
      "maxItems": 16,
      "description": "Such as round_completed; all if missing."
    },
    "after": {
      "type": "integer",
      "minimum": 0,
      "description": "First the events behind this number that the broker still has; 0: all. Only what happens from now on if missing."
    }
  }
})json";

constexpr const char* kEventsOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["status", "league_id", "subject", "is_kept"],
  "properties": {
    "status": {"type": "string", "description": "`ok`: events follow."},
    "league_id": {"type": "string"},
    "subject": {"type": "string", "description": "Where they come."},
    "is_kept": {"type": "boolean", "description": "False if the broker keeps none, so that only new ones come."}
  }
})json";

}  // namespace

agent::ToolDescription get_standings_tool() {
  return {.name = "get_standings",
          .description = "The league's table as it is now, by rank, in pages.",
          .input_schema = kGetStandingsInput,
          .output_schema = kGetStandingsOutput};
}

agent::ToolDescription get_league_status_tool() {
  return {.name = "get_league_status",
          .description = "How far the league is: its state, rounds, matches and champion.",
          .input_schema = kNoInput,
          .output_schema = kStatusOutput};
}

agent::ToolDescription start_league_tool() {
  return {.name = "start_league",
          .description =
              "Starts the league with the agents that have registered, before all that "
              "are expected are there. Only for the operator.",
          .input_schema = kStartInput,
          .output_schema = std::string(agent::kAcknowledgement),
          .is_read_only = false};
}

agent::ToolDescription new_agent_token_tool() {
  return {
      .name = "new_agent_token",
      .description =
          "Gives an agent that has lost its token another one, also after the start; the old one "
          "is void. Only for the operator.",
      .input_schema = kNewTokenInput,
      .output_schema = kNewTokenOutput,
      .is_read_only = false};
}

agent::ToolDescription get_agents_tool() {
  return {.name = "get_agents",
          .description =
              "The states of all referees and players, why they have them, and how many "
              "matches failed through them, in pages.",
          .input_schema = kPageInput,
          .output_schema = kAgentsOutput};
}

agent::ToolDescription shut_down_agent_tool() {
  return {.name = "shut_down_agent",
          .description =
              "Shuts a player or referee down: a player loses what is not being played "
              "yet, a referee's matches go to others. Only for the operator.",
          .input_schema = kOperatorAgentInput,
          .output_schema = std::string(agent::kAcknowledgement),
          .is_read_only = false};
}

agent::ToolDescription restore_agent_tool() {
  return {.name = "restore_agent",
          .description =
              "Makes a player or referee that is shut down or suspended ACTIVE again. "
              "Only for the operator.",
          .input_schema = kOperatorAgentInput,
          .output_schema = std::string(agent::kAcknowledgement),
          .is_read_only = false};
}

agent::ToolDescription withdraw_tool() {
  return {.name = "withdraw",
          .description =
              "Takes a player out of the league, by its own wish; the operator can undo "
              "it. Only for players.",
          .input_schema = kWithdrawInput,
          .output_schema = std::string(agent::kAcknowledgement),
          .is_read_only = false};
}

agent::ToolDescription claim_match_tool() {
  return {.name = "claim_match",
          .description =
              "Gives matches that a referee has got from the queue on the bus to that "
              "referee. Only for referees.",
          .input_schema = kClaimInput,
          .output_schema = kClaimOutput,
          .is_read_only = false};
}

agent::ToolDescription events_subscribe_tool() {
  return {.name = "events_subscribe",
          .description =
              "Pushes the league's events (rounds, tables, the end) to the session on the message "
              "bus that calls it, as server-sent events at its .out. Call it again after the "
              "manager was away. Only on a bus.",
          .input_schema = kEventsInput,
          .output_schema = kEventsOutput,
          .is_read_only = false};
}

mcp::ServerOptions manager_presentation() {
  mcp::ServerOptions options;
  options.name = "league-manager";
  options.title = "League manager";
  options.instructions =
      "Runs a league of the game even/odd. To follow it, call get_standings and get_league_status, "
      "or read league://standings and league://schedule; a subscription to league://standings says "
      "when the table changes. The tools that take league.v2 messages are for the players and "
      "referees that have registered.";
  return options;
}

}  // namespace league::league_manager
