// Cases of a referee's registration, and of the fields of its calls in the sample match.
#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/timestamp.h"
#include "common/transport/link/endpoint.h"
#include "tools/check/cases/case.h"
#include "tools/check/cases/cases.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

bool has_two_dots(const json& v) {
  return v.is_string() && std::ranges::count(v.get_ref<const std::string&>(), '.') >= 2;
}

bool is_url(const json& v) {
  return v.is_string() && transport::link::parse_endpoint(v.get<std::string>()).has_value();
}

bool is_capacity(const json& v) { return v.is_number_integer() && v.get<int>() >= 1; }

bool is_referee(const json& v) {
  return v.is_string() && v.get_ref<const std::string&>().starts_with("referee:");
}

bool is_in_time(const json& v) {
  if (!v.is_string()) return false;
  const auto time = core::UtcTimestamp::parse(v.get<std::string>());
  const auto now = core::SystemClock().utc_now().instant();
  return time && *time > core::UtcTimestamp(now - std::chrono::minutes(1));
}

const FieldCase kRegistration[] = {
    {"P-4.1/display-name", kMust, "`display_name` has 1 to 50 characters.",
     "Send referee_meta.display_name, 1 to 50 characters.", "params/referee_meta/display_name",
     is_short_name},
    {"P-4.1/version", kMust, "`version` is a semantic version (MAJOR.MINOR.PATCH).",
     "Send referee_meta.version, such as \"1.0.0\".", "params/referee_meta/version", has_two_dots},
    {"P-4.1/game-types", kMust, "`game_types` is an array that contains the game.",
     "Send referee_meta.game_types, in an Even/Odd league [\"even_odd\"].",
     "params/referee_meta/game_types", has_tested_game},
    {"P-4.1/contact-endpoint", kMust, "`contact_endpoint` is a URL.",
     "Send the URL at which your referee listens as referee_meta.contact_endpoint.",
     "params/referee_meta/contact_endpoint", is_url},
    {"P-4.1/capacity", kMust, "`max_concurrent_matches` is an integer of at least 1.",
     "Send referee_meta.max_concurrent_matches, an integer of at least 1.",
     "params/referee_meta/max_concurrent_matches", is_capacity},
    {"P-4.1/message-type", kMust, "The registration is a REFEREE_REGISTER_REQUEST.",
     "Send message_type as this rule says.", "params/message_type",
     R"("REFEREE_REGISTER_REQUEST")"},
    {"P-4.1/sender", kMust, "`sender` begins with `referee:`.", "Send sender as this rule says.",
     "params/sender", is_referee},
    {"P-4.1/timestamp", kMust, "`timestamp` is a UTC time in one of the protocol's formats.",
     "Send timestamp as this rule says.", "params/timestamp", is_time},
};

/// The fields of every call; `id` is the end of the id.
const FieldCase kCallEnvelope[] = {
    {"protocol", kMust, "`protocol` is \"league.v2\".", "Send protocol as this rule says.",
     "protocol", R"("league.v2")"},
    {"sender", kMust, "`sender` is \"referee:\" followed by the referee's id.",
     "Send sender as this rule says.", "sender", R"("$sender")"},
    {"timestamp", kMust, "`timestamp` is a UTC time in one of the protocol's formats.",
     "Send timestamp as this rule says.", "timestamp", is_time},
    {"conversation", kMust, "`conversation_id` is the same in all messages of a match.",
     "Send conversation_id as this rule says.", "conversation_id", R"("$conversation")"},
    {"match-id", kMust, "`match_id` is that of the assignment.", "Send match_id as this rule says.",
     "match_id", R"("$match")"},
};

struct CallKind {
  const char* type;  ///< MATCH_RESULT_REPORT is a call to the manager, the others are to player A
  const char* name;
  const char* method;
};

const CallKind kKinds[] = {{"GAME_INVITATION", "invitation", "handle_game_invitation"},
                           {"CHOOSE_PARITY_CALL", "call", "choose_parity"},
                           {"GAME_OVER", "game-over", "notify_match_result"},
                           {"MATCH_RESULT_REPORT", "report", "report_match_result"}};

const FieldCase kOfInvitations[] = {
    {"P-4.6/role", kMust, "`role_in_match` is \"PLAYER_A\" for player A.",
     "Set role_in_match to \"PLAYER_A\" for player_A_id, and to \"PLAYER_B\" for player_B_id.",
     "role_in_match", R"("PLAYER_A")"},
    {"P-4.6/opponent", kMust, "`opponent_id` is the other player's id.",
     "Set opponent_id to the id of the other player of the assignment.", "opponent_id", R"("$b")"},
    {"P-4.6/game-type", kMust, "`game_type` is that of the assignment.",
     "Copy game_type from the assignment.", "game_type", R"("$game")"},
    {"P-4.6/draw-commitment", kShould, "`draw_commitment` is that of the assignment.",
     "Copy draw_commitment from the assignment into the invitation.", "draw_commitment",
     R"("$draw_commitment")"},
};

const FieldCase kOfCalls[] = {
    {"P-4.8/player-id", kMust, "`player_id` is the id of the player that is called.",
     "Set player_id to the id of the player that you call.", "player_id", R"("$a")"},
    {"P-4.8/deadline", kMust, "`deadline` is a UTC time that has not passed.",
     "Set deadline to the current time plus the time limit.", "deadline", is_in_time},
};

const FieldCase kShownToken = {
    "P-8/credential",
    kShould,
    "`auth_token` in calls to a player is the player's match credential.",
    "Send player_A_credential of the assignment to player A, and player_B_credential to player B.",
    "auth_token",
    R"("$credential")"};

const FieldCase kHiddenToken = {
    "P-8/own-token-not-shown",
    kRobust,
    "Players do not see the token that the manager gave to the referee.",
    "Send the match credential to players. With your token anybody could report results in your "
    "name.",
    "auth_token",
    R"("$token")"};

const FieldCase kOfReports[] = {
    {"P-4.11/token", kMust, "The report has the referee's own token.",
     "Send the auth_token from REFEREE_REGISTER_RESPONSE in the report.", "auth_token",
     R"("$token")"},
    {"P-4.11/round", kMust, "The report has `round_id`, an integer.",
     "Copy round_id from the assignment's ROUND_ANNOUNCEMENT, as an integer.", "round_id", "1"},
    {"P-4.11/league", kMust, "The report has `league_id`.",
     "Send the league_id from REFEREE_REGISTER_RESPONSE.", "league_id", R"("$league")"},
};

const InboundCall* call_of(const RefereeTrace& trace, const std::string& type) {
  if (type != "MATCH_RESULT_REPORT") return trace.first(0, type);
  return trace.reports.empty() ? nullptr : &trace.reports.front();
}

Names match_names(RefereeBench& bench, const RefereeTrace& trace) {
  const BotIdentity& referee = bench.rpc().bot();
  return {{"sender", "referee:" + referee.id},
          {"token", referee.token.reveal()},
          {"league", referee.league_id},
          {"conversation", trace.conversation},
          {"match", trace.match_id},
          {"draw_commitment", trace.draw_commitment},
          {"game", tested_game()->game_type()},
          {"a", bench.player_id(0)},
          {"b", bench.player_id(1)},
          {"credential", agent::identity::match_credential(bench.player_token(0),
                                                           core::MatchId(trace.match_id), 1)
                             .reveal()}};
}

/// Adds the case of a field of the calls of this type. `text`: what is required, in the verdict as
/// well.
void add_field(RefereeBench& bench, Checks& out, const std::string& type, const FieldCase& row,
               std::string id, std::string text) {
  out.push_back({case_info(std::move(id), row.level, text, row.fix), [&bench, &row, type, text] {
                   const RefereeTrace& trace = bench.sample();
                   const InboundCall* call = call_of(trace, type);
                   if (call == nullptr)
                     return fail(trace.assignment.exchange, "", type, bench.missing_call());
                   const bool is_wanted = &row != &kHiddenToken;
                   const json& value = value_at(call->message, row.field);
                   return expect(row.wanted.takes(value, match_names(bench, trace)) == is_wanted,
                                 seen_call(call), "/params/" + std::string(row.field), text,
                                 shown_value(call->message, row.field));
                 }});
}

void add_fields(RefereeBench& bench, Checks& out, const char* type,
                std::span<const FieldCase> rows) {
  for (const FieldCase& row : rows) add_field(bench, out, type, row, row.id, row.text);
}

void add_envelope(RefereeBench& bench, Checks& out, const CallKind& kind) {
  const std::string type = kind.type;
  const std::string prefix = std::string("P-2/") + kind.name + "-";
  for (const FieldCase& row : kCallEnvelope)
    add_field(bench, out, type, row, prefix + row.id, type + ": " + row.text);
  out.push_back(
      {case_info(prefix + "method", kMust, type + " calls the method `" + kind.method + "`.",
                 std::string("Call the JSON-RPC method ") + kind.method + "."),
       [&bench, &kind] {
         const InboundCall* call = call_of(bench.sample(), kind.type);
         return expect(call != nullptr && call->method == kind.method, seen_call(call), "/method",
                       kind.method, call == nullptr ? "no such call came" : call->method);
       }});
}

}  // namespace

Checks referee_cases(RefereeBench& bench) {
  Checks out;
  add_cases(
      bench, std::span<const FieldCase>(kRegistration), out,
      [](RefereeBench& with, const FieldCase& row) {
        return judge_registered(row, with.registration());
      },
      nullptr, kAlways);
  add_referee_match_cases(bench, out);
  for (const CallKind& kind : kKinds) add_envelope(bench, out, kind);
  add_fields(bench, out, "GAME_INVITATION", kOfInvitations);
  add_fields(bench, out, "CHOOSE_PARITY_CALL", kOfCalls);
  add_fields(bench, out, "GAME_INVITATION", {&kShownToken, 1});
  add_fields(bench, out, "GAME_INVITATION", {&kHiddenToken, 1});
  add_fields(bench, out, "MATCH_RESULT_REPORT", kOfReports);
  add_referee_fault_cases(bench, out);
  return out;
}

}  // namespace league::tools::check
