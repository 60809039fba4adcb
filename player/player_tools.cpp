#include "player/player_tools.h"

namespace league::player {
namespace {

constexpr const char* kStateInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "auth_token": {
      "type": "string",
      "description": "The player's own token; not needed where it plays without a league."
    }
  }
})json";

constexpr const char* kStateOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["player_id", "display_name", "stats", "matches", "open_matches"],
  "properties": {
    "schema_version": {"type": "string"},
    "player_id": {"type": "string", "description": "Empty before registration."},
    "display_name": {"type": "string"},
    "open_matches": {"type": "integer", "description": "Matches that are being played."},
    "stats": {
      "type": "object",
      "properties": {
        "total_matches": {"type": "integer"},
        "wins": {"type": "integer"},
        "losses": {"type": "integer"},
        "draws": {"type": "integer"}
      }
    },
    "matches": {
      "type": "array",
      "description": "The last matches, oldest first.",
      "items": {"type": "object"}
    }
  }
})json";

}  // namespace

agent::ToolDescription get_player_state_tool() {
  return {.name = "get_player_state",
          .description = "What the player remembers: its matches and how many it won.",
          .input_schema = kStateInput,
          .output_schema = kStateOutput};
}

mcp::ServerOptions player_presentation() {
  mcp::ServerOptions options;
  options.name = "league-player";
  options.title = "Even/odd player";
  options.instructions =
      "Plays even/odd. A referee calls handle_game_invitation, choose_parity and "
      "notify_match_result with league.v2 messages; ping and get_player_state are for everybody "
      "who may know.";
  return options;
}

}  // namespace league::player
