#include "referee/referee_tools.h"

#include "common/agent/shown_tools.h"

namespace league::referee {
namespace {

constexpr const char* kStartInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "auth_token": {"type": "string", "description": "The referee's own token."},
    "match": {
      "type": "object",
      "description": "An assignment, as in the matches of ROUND_ANNOUNCEMENT."
    },
    "round_id": {"type": "integer", "minimum": 1, "description": "Number of the round; 1 if missing."}
  }
})json";

constexpr const char* kStateInput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["match_id"],
  "properties": {
    "match_id": {"type": "string", "description": "The match.", "examples": ["R1M1"]}
  }
})json";

constexpr const char* kStateOutput = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "required": ["match_id", "game_type", "state", "players"],
  "properties": {
    "match_id": {"type": "string"},
    "game_type": {"type": "string"},
    "state": {"type": "string", "description": "Where the match stands."},
    "players": {
      "type": "object",
      "description": "By player id.",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "role": {"type": "string"},
          "state": {"type": "string"},
          "choice": {"type": ["string", "null"], "description": "Only when the match is over."},
          "score": {"type": "integer"}
        }
      }
    },
    "status": {"type": "string", "description": "How it ended."},
    "reason": {"type": "string"},
    "drawn_number": {"type": ["integer", "null"]}
  }
})json";

}  // namespace

agent::ToolDescription start_match_tool() {
  return {.name = "start_match",
          .description = "Has the referee play one match. Only for its league manager.",
          .input_schema = kStartInput,
          .output_schema = std::string(agent::kAcknowledgement),
          .is_read_only = false};
}

agent::ToolDescription get_match_state_tool() {
  return {.name = "get_match_state",
          .description =
              "Where a match of this referee stands, or how it ended. Choices are shown "
              "only when the match is over.",
          .input_schema = kStateInput,
          .output_schema = kStateOutput};
}

mcp::ServerOptions referee_presentation() {
  mcp::ServerOptions options;
  options.name = "league-referee";
  options.title = "League referee";
  options.instructions =
      "Plays the matches that a league manager assigns. get_match_state shows a match; the other "
      "tools take league.v2 messages of the manager.";
  return options;
}

}  // namespace league::referee
