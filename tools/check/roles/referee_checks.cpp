#include "tools/check/roles/role_checks.h"

#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/timestamp.h"
#include "common/transport/link/endpoint.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using nlohmann::json;

namespace {

/// Whether the value of a field is right in the sample match.
using IsRight = bool (*)(const json& value, const RefereeTrace& trace, RefereeBench& bench);

/// A check of one field of a call that the referee made in the sample match.
struct CallField {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  const char* type;  ///< `GAME_INVITATION`; `MATCH_RESULT_REPORT` is taken from the mock manager
  const char* field;
  IsRight is_right;
};

const InboundCall* call_of(const RefereeTrace& trace, const std::string& type) {
  if (type != "MATCH_RESULT_REPORT") return trace.first(0, type);
  return trace.reports.empty() ? nullptr : &trace.reports.front();
}

void add_field(RefereeBench& bench, Checks& out, CheckInfo info, const std::string& type,
               const std::string& field, IsRight is_right) {
  out.push_back({info, [&bench, text = info.text, type, field, is_right] {
                   const RefereeTrace& trace = bench.sample();
                   const InboundCall* call = call_of(trace, type);
                   if (call == nullptr)
                     return fail(trace.assignment.exchange, "", type, bench.missing_call());
                   return expect(is_right(call->message.value(field, json()), trace, bench),
                                 seen_call(call), "/params/" + field, text,
                                 shown_value(call->message, field));
                 }});
}

bool is_time(const json& v) {
  return v.is_string() && core::UtcTimestamp::parse(v.get<std::string>()).has_value();
}

/// A field of every call.
struct EnvelopeField {
  const char* name;
  const char* field;
  const char* text;
  IsRight is_right;
};

const EnvelopeField kEnvelopeFields[] = {
    {"protocol", "protocol", "`protocol` is \"league.v2\".",
     [](const json& v, const RefereeTrace&, RefereeBench&) { return v == "league.v2"; }},
    {"sender", "sender", "`sender` is \"referee:\" followed by the referee's id.",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v == "referee:" + bench.rpc().bot().id;
     }},
    {"timestamp", "timestamp", "`timestamp` is a UTC time in one of the protocol's formats.",
     [](const json& v, const RefereeTrace&, RefereeBench&) { return is_time(v); }},
    {"conversation", "conversation_id", "`conversation_id` is the same in all messages of a match.",
     [](const json& v, const RefereeTrace& t, RefereeBench&) { return v == t.conversation; }},
    {"match-id", "match_id", "`match_id` is that of the assignment.",
     [](const json& v, const RefereeTrace& t, RefereeBench&) { return v == t.match_id; }},
};

void add_envelope_fields(RefereeBench& bench, Checks& out) {
  struct Kind {
    const char* type;
    const char* name;
    const char* method;
  };
  for (const Kind& kind : {Kind{"GAME_INVITATION", "invitation", "handle_game_invitation"},
                           Kind{"CHOOSE_PARITY_CALL", "call", "choose_parity"},
                           Kind{"GAME_OVER", "game-over", "notify_match_result"},
                           Kind{"MATCH_RESULT_REPORT", "report", "report_match_result"}}) {
    const std::string type = kind.type;
    const std::string prefix = std::string("P-2/") + kind.name + "-";
    for (const EnvelopeField& one : kEnvelopeFields) {
      add_field(bench, out,
                {.id = prefix + one.name,
                 .level = Level::kMust,
                 .text = type + ": " + one.text,
                 .fix = std::string("Send ") + one.field + " as this rule says."},
                type, one.field, one.is_right);
    }
    out.push_back({{.id = prefix + "method",
                    .level = Level::kMust,
                    .text = type + " calls the method `" + kind.method + "`.",
                    .fix = std::string("Call the JSON-RPC method ") + kind.method + "."},
                   [&bench, kind] {
                     const InboundCall* call = call_of(bench.sample(), kind.type);
                     return expect(call != nullptr && call->method == kind.method, seen_call(call),
                                   "/method", kind.method,
                                   call == nullptr ? "no such call came" : call->method);
                   }});
  }
}

const CallField kCallFields[] = {
    {"P-4.6/role", Level::kMust, "`role_in_match` is \"PLAYER_A\" for player A.",
     "Set role_in_match to \"PLAYER_A\" for player_A_id, and to \"PLAYER_B\" for player_B_id.",
     "GAME_INVITATION", "role_in_match",
     [](const json& v, const RefereeTrace&, RefereeBench&) { return v == "PLAYER_A"; }},
    {"P-4.6/opponent", Level::kMust, "`opponent_id` is the other player's id.",
     "Set opponent_id to the id of the other player of the assignment.", "GAME_INVITATION",
     "opponent_id",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v == bench.player_id(1);
     }},
    {"P-4.6/game-type", Level::kMust, "`game_type` is that of the assignment.",
     "Copy game_type from the assignment.", "GAME_INVITATION", "game_type",
     [](const json& v, const RefereeTrace&, RefereeBench&) {
       return v == tested_game()->game_type();
     }},
    {"P-4.6/draw-commitment", Level::kShould, "`draw_commitment` is that of the assignment.",
     "Copy draw_commitment from the assignment into the invitation.", "GAME_INVITATION",
     "draw_commitment",
     [](const json& v, const RefereeTrace& t, RefereeBench&) { return v == t.draw_commitment; }},
    {"P-4.8/player-id", Level::kMust, "`player_id` is the id of the player that is called.",
     "Set player_id to the id of the player that you call.", "CHOOSE_PARITY_CALL", "player_id",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v == bench.player_id(0);
     }},
    {"P-4.8/deadline", Level::kMust, "`deadline` is a UTC time that has not passed.",
     "Set deadline to the current time plus the time limit.", "CHOOSE_PARITY_CALL", "deadline",
     [](const json& v, const RefereeTrace&, RefereeBench&) {
       if (!v.is_string()) return false;
       auto time = core::UtcTimestamp::parse(v.get<std::string>());
       return time && *time > core::UtcTimestamp(core::SystemClock().utc_now().instant() -
                                                 std::chrono::minutes(1));
     }},
    {"P-8/credential", Level::kShould,
     "`auth_token` in calls to a player is the player's match credential.",
     "Send player_A_credential of the assignment to player A, and player_B_credential to player B.",
     "GAME_INVITATION", "auth_token",
     [](const json& v, const RefereeTrace& t, RefereeBench& bench) {
       return v ==
              agent::identity::match_credential(bench.player_token(0), core::MatchId(t.match_id), 1)
                  .reveal();
     }},
    {"P-8/own-token-not-shown", Level::kRobust,
     "Players do not see the token that the manager gave to the referee.",
     "Send the match credential to players. With your token anybody could report results in your "
     "name.",
     "GAME_INVITATION", "auth_token",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v != bench.rpc().bot().token.reveal();
     }},
    {"P-4.11/token", Level::kMust, "The report has the referee's own token.",
     "Send the auth_token from REFEREE_REGISTER_RESPONSE in the report.", "MATCH_RESULT_REPORT",
     "auth_token",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v == bench.rpc().bot().token.reveal();
     }},
    {"P-4.11/round", Level::kMust, "The report has `round_id`, an integer.",
     "Copy round_id from the assignment's ROUND_ANNOUNCEMENT, as an integer.",
     "MATCH_RESULT_REPORT", "round_id",
     [](const json& v, const RefereeTrace&, RefereeBench&) { return v == 1; }},
    {"P-4.11/league", Level::kMust, "The report has `league_id`.",
     "Send the league_id from REFEREE_REGISTER_RESPONSE.", "MATCH_RESULT_REPORT", "league_id",
     [](const json& v, const RefereeTrace&, RefereeBench& bench) {
       return v == bench.rpc().bot().league_id;
     }},
};

/// A field of the registration.
struct RegistrationField {
  const char* id;
  const char* field;
  const char* text;
  const char* fix;  ///< null: the field is one of the message, not of its `referee_meta`
  bool (*is_right)(const json&);
};

const RegistrationField kRegistrationFields[] = {
    {"P-4.1/display-name", "display_name", "`display_name` has 1 to 50 characters.",
     "Send referee_meta.display_name, 1 to 50 characters.",
     [](const json& v) {
       return v.is_string() && !v.get<std::string>().empty() && v.get<std::string>().size() <= 200;
     }},
    {"P-4.1/version", "version", "`version` is a semantic version (MAJOR.MINOR.PATCH).",
     "Send referee_meta.version, such as \"1.0.0\".",
     [](const json& v) {
       return v.is_string() && std::ranges::count(v.get<std::string>(), '.') >= 2;
     }},
    {"P-4.1/game-types", "game_types", "`game_types` is an array that contains the game.",
     "Send referee_meta.game_types, in an Even/Odd league [\"even_odd\"].",
     [](const json& v) {
       return v.is_array() &&
              std::find(v.begin(), v.end(), json(tested_game()->game_type())) != v.end();
     }},
    {"P-4.1/contact-endpoint", "contact_endpoint", "`contact_endpoint` is a URL.",
     "Send the URL at which your referee listens as referee_meta.contact_endpoint.",
     [](const json& v) {
       return v.is_string() && transport::link::parse_endpoint(v.get<std::string>()).has_value();
     }},
    {"P-4.1/capacity", "max_concurrent_matches",
     "`max_concurrent_matches` is an integer of at least 1.",
     "Send referee_meta.max_concurrent_matches, an integer of at least 1.",
     [](const json& v) { return v.is_number_integer() && v.get<int>() >= 1; }},
    {"P-4.1/message-type", "message_type", "The registration is a REFEREE_REGISTER_REQUEST.",
     nullptr, [](const json& v) { return v == "REFEREE_REGISTER_REQUEST"; }},
    {"P-4.1/sender", "sender", "`sender` begins with `referee:`.", nullptr,
     [](const json& v) { return v.is_string() && v.get<std::string>().starts_with("referee:"); }},
    {"P-4.1/timestamp", "timestamp", "`timestamp` is a UTC time in one of the protocol's formats.",
     nullptr, &is_time},
};

void add_registration_field(RefereeBench& bench, Checks& out, const RegistrationField& one) {
  const bool is_meta = one.fix != nullptr;
  CheckInfo info{
      .id = one.id,
      .level = Level::kMust,
      .text = one.text,
      .fix = is_meta ? one.fix : std::string("Send ") + one.field + " as this rule says.",
      .needs_play = false};
  out.push_back(
      {std::move(info), [&bench, &one, is_meta] {
         const InboundCall& call = bench.registration();
         const json& object = is_meta ? field_at(call.message, "referee_meta") : call.message;
         const bool takes_any_game = std::string_view(one.field) == "game_types" &&
                                     field_at(object, "game_definitions") == json(true);
         return expect(takes_any_game || one.is_right(field_at(object, one.field)),
                       seen_call(&call),
                       (is_meta ? "/params/referee_meta/" : "/params/") + std::string(one.field),
                       one.text, shown_value(object, one.field));
       }});
}

}  // namespace

Checks referee_checks(RefereeBench& bench) {
  Checks out;
  for (const RegistrationField& one : kRegistrationFields) add_registration_field(bench, out, one);
  add_referee_match_checks(bench, out);
  add_envelope_fields(bench, out);
  for (const CallField& one : kCallFields) {
    add_field(bench, out, {.id = one.id, .level = one.level, .text = one.text, .fix = one.fix},
              one.type, one.field, one.is_right);
  }
  add_referee_fault_checks(bench, out);
  return out;
}

}  // namespace league::tools::check
