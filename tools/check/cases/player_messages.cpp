// Messages that a player only has to acknowledge, unusual ones that it has to accept, faulty ones
// that it has to refuse, and hostile ones that it has to survive.
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

// ---- What only has to be acknowledged.

Verdict acknowledges_technical_loss(PlayerBench& bench) {
  const TestMatch match = bench.new_match();
  const PlayedGame game = bench.play(match, true);
  const std::string& self = bench.bot().id;
  json message = bench.game_over(game);
  change(message,
         {{"game_result",
           {{"status", "TECHNICAL_LOSS"},
            {"winner_player_id", self},
            {"drawn_number", nullptr},
            {"number_parity", nullptr},
            {"choices", {{match.opponent, nullptr}, {self, PlayerBench::choice_in(game.choice)}}},
            {"reason", match.opponent + " did not answer"}}},
          {"choice_commitments", json::object()},
          {"choice_nonces", json::object()},
          {"draw_version", "$gone"}},
         {});
  if (const auto own = game.join.text("choice_commitment"); !own.empty()) {
    // The bot's own texts, which may begin with a dollar sign.
    message["choice_commitments"] = {{self, own},
                                     {match.opponent, bench.opponent_commitment(match)}};
    message["choice_nonces"] = {{self, game.choice.text("choice_nonce")}};
  }
  return expect_acknowledged(bench.ask(MessageType::kGameOver, message));
}

const Conversation kResults[] = {
    {"P-4.10/game-over-acknowledged", kRobust, "The bot acknowledges a correct GAME_OVER.",
     "Answer notify_match_result with {\"status\": \"ok\"}. If your bot refused this result, "
     "compare its calculation with docs/verify_draw.py. If a check of P-7.25 fails as well, fix "
     "that first.",
     "", [](const Talk& talk) { return expect_acknowledged(talk.bench.sample().over); }, "",
     kNeedsWord},
    {"P-4.10/technical-loss-acknowledged", kRobust,
     "The bot acknowledges GAME_OVER of a technical loss, in which `drawn_number` and "
     "`number_parity` are null.",
     "Read drawn_number and number_parity only if game_result.status is not \"TECHNICAL_LOSS\".",
     "", [](const Talk& talk) { return acknowledges_technical_loss(talk.bench); }},
};

struct News {
  const char* id;
  MessageType type;
};

const News kNews[] = {{"P-4.5/round-acknowledged", MessageType::kRoundAnnouncement},
                      {"P-4.12/standings-acknowledged", MessageType::kLeagueStandingsUpdate},
                      {"P-4.13/round-end-acknowledged", MessageType::kRoundCompleted},
                      {"P-4.17/league-error-acknowledged", MessageType::kLeagueError},
                      {"P-4.18/game-error-acknowledged", MessageType::kGameError}};

const Conversation kOtherCalls[] = {
    {"P-4/ping", kShould, "The bot answers `ping`.",
     "Answer the method ping with {\"status\": \"ok\"}.", "",
     [](const Talk& talk) {
       const json params = talk.bench.envelope(MessageType::kLeagueError, "convping001");
       return expect_acknowledged(talk.bench.call("ping", params));
     }},
    {"P-4/get-player-state", kShould,
     "The bot answers `get_player_state` if the call has the bot's own token.",
     "Answer get_player_state with an object, such as {\"player_id\": ID}, if auth_token is your "
     "own "
     "token.",
     "",
     [](const Talk& talk) {
       const json params = talk.bench.envelope(MessageType::kLeagueError, "convstate001");
       return expect_acknowledged(talk.bench.call("get_player_state", params));
     }},
    {"P-4.14/league-end-acknowledged", kShould,
     "The bot acknowledges LEAGUE_COMPLETED before it exits.",
     "Answer notify_league_completed first. If your bot exits at the end of the league, let it "
     "exit "
     "after that.",
     "",
     [](const Talk& talk) {
       const json news = talk.bench.news(MessageType::kLeagueCompleted);
       return expect_acknowledged(talk.bench.call("notify_league_completed", news));
     },
     "", kLast},
};

// ---- Unusual but correct messages, which have to be accepted.

constexpr const char* kAllowed = "the protocol allows this message";
constexpr const char* kReadTime =
    "Accept every format of the protocol (section 3), or do not read timestamps at all.";
constexpr const char* kIgnore = "Read the fields that you know, and ignore all others.";

const Conversation kVariants[] = {
    {"P-3/accepts-extended", kRobust, "The timestamp 2025-01-15T10:30:00Z is accepted.", kReadTime,
     R"(invite {"timestamp": "2025-01-15T10:30:00Z"})", accepts, kAllowed},
    {"P-3/accepts-half-compact", kRobust, "The timestamp 20250115T10:30:00Z is accepted.",
     kReadTime, R"(invite {"timestamp": "20250115T10:30:00Z"})", accepts, kAllowed},
    {"P-3/accepts-compact", kRobust, "The timestamp 20250115T103000Z is accepted.", kReadTime,
     R"(invite {"timestamp": "20250115T103000Z"})", accepts, kAllowed},
    {"P-3/accepts-zero-offset", kRobust, "The timestamp 2025-01-15T10:30:00+00:00 is accepted.",
     kReadTime, R"(invite {"timestamp": "2025-01-15T10:30:00+00:00"})", accepts, kAllowed},
    {"P-3/accepts-compact-zero-offset", kRobust, "The timestamp 20250115T103000+00:00 is accepted.",
     kReadTime, R"(invite {"timestamp": "20250115T103000+00:00"})", accepts, kAllowed},
    {"P-3/accepts-fraction", kRobust, "The timestamp 2025-01-15T10:30:00.5Z is accepted.",
     kReadTime, R"(invite {"timestamp": "2025-01-15T10:30:00.5Z"})", accepts, kAllowed},
    {"P-3/accepts-long-fraction", kRobust,
     "A timestamp with nine digits after the decimal point is accepted.", kReadTime,
     R"(invite {"timestamp": "2025-01-15T10:30:00.123456789Z"})", accepts, kAllowed},
    {"P-3/accepts-compact-deadline", kRobust,
     "A `deadline` in any format of a timestamp is accepted.", kReadTime,
     R"(invite call {"deadline": "20990115T103000.25Z"})", chooses, kAllowed},
    {"P-9/past-deadline", kRobust, "The bot answers even if `deadline` has already passed.",
     "Answer whatever the deadline says, because clocks differ.",
     R"(invite call {"deadline": "2020-01-15T10:30:00Z"})", chooses, kAllowed},
    {"P-2/protocol-minor", kRobust, "The protocol `league.v2.1` is accepted.",
     "Compare only the beginning, league.v2.", R"(invite {"protocol": "league.v2.1"})", accepts,
     kAllowed},
    {"P-2/extra-field", kRobust, "An unknown field is ignored.", kIgnore,
     R"(invite {"league_check_extra": "anything"})", accepts, kAllowed},
    {"P-2/extra-object", kRobust, "An unknown field whose value is an object is ignored.", kIgnore,
     R"(invite {"league_check_extra": {"nested": [1, 2, {"deep": null}]}})", accepts, kAllowed},
    {"P-2/extra-field-in-call", kRobust, "An unknown field in CHOOSE_PARITY_CALL is ignored.",
     kIgnore, R"(invite call {"league_check_extra": [1, 2, 3]})", chooses, kAllowed},
    {"P-2/extra-field-in-context", kRobust, "An unknown field in `context` is ignored.", kIgnore,
     R"(invite call {"context/league_check_extra": true})", chooses, kAllowed},
    {"P-2/long-conversation", kRobust, "A conversation_id of 100 characters is accepted.",
     "Accept any conversation_id of up to 100 characters.",
     R"(invite {"conversation_id": "$c*100"})", accepts, kAllowed},
    {"P-2/odd-conversation", kRobust,
     "A conversation_id with blanks, slashes and letters of any script is accepted.",
     "Accept any string as conversation_id; do not parse it.",
     R"(invite {"conversation_id": "conv /\u00e4\u65e5 #1"})", accepts, kAllowed},
    {"P-4.6/no-draw-commitment", kRobust, "An invitation without `draw_commitment` is accepted.",
     "If the invitation has no draw_commitment, play without a commitment.",
     R"(invite {"draw_commitment": "$gone"})", accepts, kAllowed},
    {"P-4.6/large-opponent-id", kRobust, "The opponent's id may have more than two digits.",
     "Treat ids as strings of any length.", R"(invite {"opponent_id": "P1234"})", accepts,
     kAllowed},
    {"P-4.6/large-round", kRobust, "A `round_id` of four digits is accepted.",
     "Treat round_id as an integer of any size.", R"(invite {"round_id": 1999})", accepts,
     kAllowed},
    {"P-4.8/no-context", kRobust, "A call for a choice without `context` is answered.",
     "Read context only if it is present. In Python: call.get(\"context\") or {}.",
     R"(invite call {"context": "$gone"})", chooses, kAllowed},
    {"P-4.8/empty-context", kRobust, "A call for a choice with an empty `context` is answered.",
     "Read a field of context only if it is present.", R"(invite call {"context": {}})", chooses,
     kAllowed},
    {"P-4.8/no-standings", kRobust, "A call for a choice without `your_standings` is answered.",
     "Read a field of context only if it is present.",
     R"(invite call {"context/your_standings": "$gone"})", chooses, kAllowed},
    {"P-4.8/uncommitted-opponent", kRobust,
     "A call for a choice without `opponent_commitment` is answered (the opponent has not "
     "committed).",
     "Reveal your choice even if the opponent has not committed.",
     R"(invite call {"context/opponent_commitment": "$gone"})", chooses, kAllowed},
};

// ---- Faulty messages, which the bot has to refuse with an error that names the fault.

/// An invitation with one fault.
struct Fault {
  const char* id;
  const char* what;  ///< the fault, as the end of "... because"
  const char* fix;
  Level level;
  const char* changes;
};

constexpr const char* kCheckTime =
    "Answer with the error -32602 (E021 in error.data.error_code) if the timestamp has none of the "
    "protocol's formats (section 3).";
constexpr const char* kCheckField =
    "Answer with the error -32602 (E003 in error.data.error_code) if a required field is missing.";

const Fault kFaults[] = {
    {"P-3/rejects-offset", "the timestamp has the offset +02:00", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T10:30:00+02:00"})"},
    {"P-3/rejects-minus-zero", "the timestamp has the offset -00:00", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T10:30:00-00:00"})"},
    {"P-3/rejects-short-offset", "the timestamp has the offset +0000", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T10:30:00+0000"})"},
    {"P-3/rejects-no-zone", "the timestamp has no time zone", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T10:30:00"})"},
    {"P-3/rejects-blank", "the timestamp has a blank in place of T", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15 10:30:00Z"})"},
    {"P-3/rejects-lower-case", "the timestamp is written in lower case", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15t10:30:00z"})"},
    {"P-3/rejects-impossible-date", "there is no 30 February", kCheckTime, kShould,
     R"({"timestamp": "2025-02-30T10:30:00Z"})"},
    {"P-3/rejects-hour-24", "there is no hour 24", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T24:00:00Z"})"},
    {"P-3/rejects-second-60", "there is no second 60", kCheckTime, kShould,
     R"({"timestamp": "2025-01-15T10:30:60Z"})"},
    {"P-3/rejects-number", "the timestamp is a number", kCheckTime, kShould,
     R"({"timestamp": 1736937000})"},
    {"P-2/missing-match-id", "`match_id` is missing", kCheckField, kRobust,
     R"({"match_id": "$gone"})"},
    {"P-2/missing-protocol", "`protocol` is missing", kCheckField, kShould,
     R"({"protocol": "$gone"})"},
    {"P-2/missing-sender", "`sender` is missing", kCheckField, kShould, R"({"sender": "$gone"})"},
    {"P-2/missing-conversation", "`conversation_id` is missing", kCheckField, kShould,
     R"({"conversation_id": "$gone"})"},
    {"P-2/missing-game-type", "`game_type` is missing", kCheckField, kShould,
     R"({"game_type": "$gone"})"},
    {"P-2/null-match-id", "`match_id` is null, which counts as missing", kCheckField, kShould,
     R"({"match_id": null})"},
    {"P-2/match-id-number", "`match_id` is a number",
     "Answer with the error -32602 if a field has the wrong type.", kShould, R"({"match_id": 17})"},
    {"P-2/empty-conversation", "`conversation_id` is empty",
     "Answer with the error -32602 if conversation_id does not have 1 to 100 characters.", kShould,
     R"({"conversation_id": ""})"},
    {"P-2/too-long-conversation", "`conversation_id` has 101 characters",
     "Answer with the error -32602 if conversation_id does not have 1 to 100 characters.", kShould,
     R"({"conversation_id": "$c*101"})"},
    {"P-2/other-major", "`protocol` is league.v3",
     "Answer with the error -32602 (E018 in error.data.error_code) if protocol does not begin with "
     "league.v2.",
     kShould, R"({"protocol": "league.v3"})"},
    {"P-4.6/unknown-game", "`game_type` is chess",
     "Answer with the error -32602 if you do not play game_type.", kShould,
     R"({"game_type": "chess"})"},
    {"P-4.6/unknown-role", "`role_in_match` is neither PLAYER_A nor PLAYER_B",
     "Answer with the error -32602 if the field has a value that the protocol does not allow.",
     kShould, R"({"role_in_match": "REFEREE"})"},
};

const char* const kNoMatch = R"(invite {"match_id": "$gone"})";

/// Expects `is_right` of a field of `error.data`.
Verdict expect_data(const Talk& talk, const std::string& field, const std::string& expected,
                    bool (*is_right)(const std::string&)) {
  const json& data = value_at(talk.last().error, "data");
  return expect(is_right(text_at(data, field)), talk.last().exchange, "/error/data/" + field,
                expected, shown_value(data, field));
}

const Conversation kForms[] = {
    {"P-5/bad-message-code", kShould, "An invalid message is answered with the error -32602.",
     "Set error.code to -32602 if a field of the message is missing or wrong.", kNoMatch,
     [](const Talk& talk) {
       const BotReply& reply = talk.last();
       return expect(reply.code() == -32602, reply.exchange, "/error/code", "-32602",
                     shown_answer(reply));
     }},
    {"P-5/bad-message-error-code", kShould,
     "`error.data.error_code` is E003 if a field is missing.",
     "Add error.data: {\"error_code\": \"E003\", \"error_name\": \"MISSING_REQUIRED_FIELD\", "
     "\"field\": \"/match_id\"}.",
     kNoMatch,
     [](const Talk& talk) {
       return expect_data(talk, "error_code", "\"E003\"",
                          [](const std::string& code) { return code == "E003"; });
     }},
    {"P-5/bad-message-field", kShould, "`error.data.field` names the missing field.",
     "Add error.data.field: a slash and the field's name, such as \"/match_id\".", kNoMatch,
     [](const Talk& talk) {
       return expect_data(talk, "field", "\"/match_id\"", [](const std::string& field) {
         return field.find("match_id") != std::string::npos;
       });
     }},
    {"P-5/fault-does-no-harm", kRobust, "The bot keeps working after an invalid message.",
     "Catch every exception while you handle a message, and answer with an error.", kNoMatch,
     plays_on},
};

// ---- Hostile messages, which the bot only has to survive.

constexpr const char* kCatch =
    "Catch every exception while you handle a request, answer with an error, and continue with the "
    "next request.";

const Conversation kHostile[] = {
    {"P-5/huge-text", kRobust, "The bot keeps working after a string of 100,000 characters.",
     kCatch, R"(invite {"opponent_id": "$x*100000"})", plays_on},
    {"P-5/object-for-text", kRobust, "The bot keeps working after an object in place of a string.",
     kCatch, R"(invite {"match_id": {"$ne": null}})", plays_on},
    {"P-5/array-for-text", kRobust, "The bot keeps working after an array in place of a string.",
     kCatch, R"(invite {"conversation_id": [1, 2, 3]})", plays_on},
    {"P-5/object-for-number", kRobust,
     "The bot keeps working after an object in place of a number.", kCatch,
     R"(invite {"round_id": {}})", plays_on},
    {"P-5/boolean-for-text", kRobust, "The bot keeps working after a boolean in place of a string.",
     kCatch, R"(invite {"sender": true})", plays_on},
    {"P-5/control-characters", kRobust,
     "The bot keeps working after an id with control characters and a NUL.", kCatch,
     R"(invite {"opponent_id": "P\u0000\u0001\u001b[31m02"})", plays_on},
    {"P-5/path-in-id", kRobust, "The bot keeps working after an id that looks like a file path.",
     kCatch, R"(invite {"match_id": "../../../../tmp/league_check"})", plays_on},
    {"P-5/many-fields", kRobust, "The bot keeps working after a message with 5,000 unknown fields.",
     kCatch, R"(invite {"x#": 5000})", plays_on},
    {"P-5/nested-50", kRobust, "The bot keeps working after a value nested 50 levels deep.", kCatch,
     R"(invite {"league_check_extra": "$nested*50"})", plays_on},
    {"P-5/wrong-context", kRobust, "The bot keeps working after a `context` that is a string.",
     kCatch, R"(unbound call {"context": "none"})", plays_on},
    {"P-5/wrong-game-over", kRobust,
     "The bot keeps working after a GAME_OVER without `game_result`.", kCatch,
     R"(invite call over {"game_result": "$gone"})", plays_on},
    {"P-5/wrong-standings", kRobust,
     "The bot keeps working after `standings` that are not an array.", kCatch,
     R"(standings {"standings": {"rank": "first"}})", plays_on},
    {"P-5/wrong-announcement", kRobust,
     "The bot keeps working after an announcement whose `matches` are not objects with the right "
     "fields.",
     kCatch, R"(round {"matches": [null, 7, {}, "R1M1"]})", plays_on},
    {"P-5/empty-body", kRobust, "The bot keeps working after a request with an empty body.", kCatch,
     "", [](const Talk& talk) { return survive_bytes(talk.bench, ""); }},
    {"P-5/no-utf8", kRobust, "The bot keeps working after a body that is not UTF-8.", kCatch, "",
     [](const Talk& talk) {
       return survive_bytes(talk.bench,
                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\xc0\"}");
     }},
    {"P-5/deep-json", kRobust, "The bot keeps working after JSON nested 20,000 levels deep.",
     "Limit the depth, or catch the parser's error (in Python: RecursionError).", "",
     [](const Talk& talk) {
       return survive_bytes(talk.bench, std::string(20'000, '[') + std::string(20'000, ']'));
     }},
    {"P-5/huge-number", kRobust,
     "The bot keeps working after a number too large for any type (1e999).", kCatch, "",
     [](const Talk& talk) {
       return survive_bytes(talk.bench,
                            R"({"jsonrpc":"2.0","id":1e999,"method":"ping","params":{}})");
     }},
    {"P-5/json-scalar", kRobust,
     "The bot keeps working after a body that is JSON but not an object (null, 42, \"text\").",
     kCatch, "",
     [](const Talk& talk) {
       if (auto verdict = survive_bytes(talk.bench, "null"); !verdict.passed()) return verdict;
       if (auto verdict = survive_bytes(talk.bench, "42"); !verdict.passed()) return verdict;
       return survive_bytes(talk.bench, "\"text\"");
     }},
    {"P-5/large-body", kRobust, "The bot answers or refuses a body of 2 MiB, and keeps working.",
     "Refuse bodies above a limit that you choose, for example with HTTP status 413.",
     R"(invite {"league_check_extra": "$x*2097152"})", plays_on},
};

}  // namespace

void add_news_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kResults, out);
  for (const News& news : kNews) {
    const std::string method(envelope::spec(news.type).method);
    out.push_back({case_info(news.id, kShould,
                             "The bot acknowledges " + std::string(envelope::wire_name(news.type)) +
                                 " (method `" + method + "`).",
                             "Answer " + method + " with {\"status\": \"ok\"}."),
                   [&bench, type = news.type, method] {
                     const json message = type == MessageType::kGameError
                                              ? bench.game_error(bench.sample().match)
                                              : bench.news(type);
                     return expect_acknowledged(bench.call(method, message));
                   }});
  }
  add_conversations(bench, kOtherCalls, out);
}

void add_tolerance_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kVariants, out);
}

void add_refusal_cases(PlayerBench& bench, Checks& out) {
  for (const Fault& fault : kFaults) {
    out.push_back(
        {case_info(fault.id, fault.level,
                   std::string("The bot refuses an invitation if ") + fault.what + ".", fault.fix),
         [&bench, &fault] {
           const Talk talk = hold(bench, std::string("invite ") + fault.changes);
           return expect_refused(talk.last(), fault.what);
         }});
  }
  add_conversations(bench, kForms, out);
}

void add_hostile_cases(PlayerBench& bench, Checks& out) { add_conversations(bench, kHostile, out); }

}  // namespace league::tools::check
