// Faulty messages, which the bot has to refuse with an error that names the fault.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// An invitation with one fault.
struct Fault {
  const char* id;
  const char* what;  ///< the fault, as the end of "... because"
  const char* fix;
  Level level;
  void (*change)(json&);
};

constexpr const char* kCheckTime =
    "Answer with the error -32602 (E021 in error.data.error_code) if the timestamp has none of the "
    "protocol's formats (section 3).";
constexpr const char* kCheckField =
    "Answer with the error -32602 (E003 in error.data.error_code) if a required field is missing.";

const Fault kFaults[] = {
    {"P-3/rejects-offset", "the timestamp has the offset +02:00", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00+02:00"; }},
    {"P-3/rejects-minus-zero", "the timestamp has the offset -00:00", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00-00:00"; }},
    {"P-3/rejects-short-offset", "the timestamp has the offset +0000", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00+0000"; }},
    {"P-3/rejects-no-zone", "the timestamp has no time zone", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00"; }},
    {"P-3/rejects-blank", "the timestamp has a blank in place of T", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15 10:30:00Z"; }},
    {"P-3/rejects-lower-case", "the timestamp is written in lower case", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15t10:30:00z"; }},
    {"P-3/rejects-impossible-date", "there is no 30 February", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-02-30T10:30:00Z"; }},
    {"P-3/rejects-hour-24", "there is no hour 24", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T24:00:00Z"; }},
    {"P-3/rejects-second-60", "there is no second 60", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:60Z"; }},
    {"P-3/rejects-number", "the timestamp is a number", kCheckTime, Level::kShould,
     [](json& m) { m["timestamp"] = 1736937000; }},
    {"P-2/missing-match-id", "`match_id` is missing", kCheckField, Level::kRobust,
     [](json& m) { m.erase("match_id"); }},
    {"P-2/missing-protocol", "`protocol` is missing", kCheckField, Level::kShould,
     [](json& m) { m.erase("protocol"); }},
    {"P-2/missing-sender", "`sender` is missing", kCheckField, Level::kShould,
     [](json& m) { m.erase("sender"); }},
    {"P-2/missing-conversation", "`conversation_id` is missing", kCheckField, Level::kShould,
     [](json& m) { m.erase("conversation_id"); }},
    {"P-2/missing-game-type", "`game_type` is missing", kCheckField, Level::kShould,
     [](json& m) { m.erase("game_type"); }},
    {"P-2/null-match-id", "`match_id` is null, which counts as missing", kCheckField,
     Level::kShould, [](json& m) { m["match_id"] = nullptr; }},
    {"P-2/match-id-number", "`match_id` is a number",
     "Answer with the error -32602 if a field has the wrong type.", Level::kShould,
     [](json& m) { m["match_id"] = 17; }},
    {"P-2/empty-conversation", "`conversation_id` is empty",
     "Answer with the error -32602 if conversation_id does not have 1 to 100 characters.",
     Level::kShould, [](json& m) { m["conversation_id"] = ""; }},
    {"P-2/too-long-conversation", "`conversation_id` has 101 characters",
     "Answer with the error -32602 if conversation_id does not have 1 to 100 characters.",
     Level::kShould, [](json& m) { m["conversation_id"] = std::string(101, 'c'); }},
    {"P-2/other-major", "`protocol` is league.v3",
     "Answer with the error -32602 (E018 in error.data.error_code) if protocol does not begin with "
     "league.v2.",
     Level::kShould, [](json& m) { m["protocol"] = "league.v3"; }},
    {"P-4.6/unknown-game", "`game_type` is chess",
     "Answer with the error -32602 if you do not play game_type.", Level::kShould,
     [](json& m) { m["game_type"] = "chess"; }},
    {"P-4.6/unknown-role", "`role_in_match` is neither PLAYER_A nor PLAYER_B",
     "Answer with the error -32602 if the field has a value that the protocol does not allow.",
     Level::kShould, [](json& m) { m["role_in_match"] = "REFEREE"; }},
};

BotReply send_fault(PlayerBench& bench, const Fault& fault) {
  json message = bench.invitation(bench.new_match());
  fault.change(message);
  return bench.ask(MessageType::kGameInvitation, message);
}

BotReply without_match(PlayerBench& bench) {
  json message = bench.invitation(bench.new_match());
  message.erase("match_id");
  return bench.ask(MessageType::kGameInvitation, message);
}

const Probe<PlayerBench> kForms[] = {
    {"P-5/bad-message-code", Level::kShould,
     "An invalid message is answered with the error -32602.",
     "Set error.code to -32602 if a field of the message is missing or wrong.",
     [](PlayerBench& bench) {
       const BotReply reply = without_match(bench);
       return expect(field_at(reply.error, "code") == -32602, reply.exchange, "/error/code",
                     "-32602", shown_answer(reply));
     }},
    {"P-5/bad-message-error-code", Level::kShould,
     "`error.data.error_code` is E003 if a field is missing.",
     "Add error.data: {\"error_code\": \"E003\", \"error_name\": \"MISSING_REQUIRED_FIELD\", "
     "\"field\": \"/match_id\"}.",
     [](PlayerBench& bench) {
       const BotReply reply = without_match(bench);
       const json& data = field_at(reply.error, "data");
       return expect(text_at(data, "error_code") == "E003", reply.exchange,
                     "/error/data/error_code", "\"E003\"", shown_value(data, "error_code"));
     }},
    {"P-5/bad-message-field", Level::kShould, "`error.data.field` names the missing field.",
     "Add error.data.field: a slash and the field's name, such as \"/match_id\".",
     [](PlayerBench& bench) {
       const BotReply reply = without_match(bench);
       const json& data = field_at(reply.error, "data");
       return expect(text_at(data, "field").find("match_id") != std::string::npos, reply.exchange,
                     "/error/data/field", "\"/match_id\"", shown_value(data, "field"));
     }},
    {"P-5/fault-does-no-harm", Level::kRobust, "The bot keeps working after an invalid message.",
     "Catch every exception while you handle a message, and answer with an error.",
     [](PlayerBench& bench) { return expect_alive(bench, without_match(bench)); }},
};

}  // namespace

void add_refusal_checks(PlayerBench& bench, Checks& out) {
  for (const Fault& fault : kFaults) {
    out.push_back(
        {{.id = fault.id,
          .level = fault.level,
          .text = std::string("The bot refuses an invitation if ") + fault.what + ".",
          .fix = fault.fix},
         [&bench, &fault] { return expect_refused(send_fault(bench, fault), fault.what); }});
  }
  add_probes(bench, kForms, out);
}

}  // namespace league::tools::check
