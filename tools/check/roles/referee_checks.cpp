#include "tools/check/roles/referee_checks.h"

#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/timestamp.h"
#include "common/transport/link/endpoint.h"

namespace league::tools::check {

using nlohmann::json;

namespace {

/// Adds a check of one field of a call that the referee made in the sample match.
struct CallField {
  std::string id;
  Level level;
  std::string text;
  std::string fix;
  std::string type;  ///< `GAME_INVITATION`; `MATCH_RESULT_REPORT` is taken from the mock manager
  std::string field;
  std::function<bool(const json&, const RefereeTrace&)> is_right;
};

const InboundCall* call_of(const RefereeTrace& trace, const std::string& type) {
  if (type != "MATCH_RESULT_REPORT") return trace.first(0, type);
  return trace.reports.empty() ? nullptr : &trace.reports.front();
}

void add_field(RefereeBench& bench, Checks& out, CallField wanted) {
  CheckInfo info{.id = wanted.id, .level = wanted.level, .text = wanted.text, .fix = wanted.fix};
  out.push_back({std::move(info), [&bench, wanted = std::move(wanted)] {
                   const RefereeTrace& trace = bench.sample();
                   const InboundCall* call = call_of(trace, wanted.type);
                   if (call == nullptr)
                     return fail(trace.assignment.exchange, "", wanted.type, "no such call came");
                   if (wanted.is_right(call->message.value(wanted.field, json()), trace))
                     return pass();
                   return fail(seen_call(call), "/params/" + wanted.field, wanted.text,
                               shown_value(call->message, wanted.field));
                 }});
}

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
    const std::string prefix = std::string("P-2/") + kind.name;
    const auto add = [&](const std::string& name, const char* field, const char* text,
                         std::function<bool(const json&, const RefereeTrace&)> right) {
      const std::string id = prefix + "-" + name;
      const std::string what = type + ": " + text;
      const std::string fix = std::string("Send ") + field + " as this rule says.";
      add_field(bench, out,
                {.id = id,
                 .level = Level::kMust,
                 .text = what,
                 .fix = fix,
                 .type = kind.type,
                 .field = field,
                 .is_right = std::move(right)});
    };
    add("protocol", "protocol", "`protocol` is \"league.v2\".",
        [](const json& v, const RefereeTrace&) { return v == "league.v2"; });
    add("sender", "sender", "`sender` is \"referee:\" followed by the referee's id.",
        [&bench](const json& v, const RefereeTrace&) {
          return v == "referee:" + bench.rpc().bot().id;
        });
    add("timestamp", "timestamp", "`timestamp` is a UTC time in one of the protocol's formats.",
        [](const json& v, const RefereeTrace&) {
          return v.is_string() && core::UtcTimestamp::parse(v.get<std::string>()).has_value();
        });
    add("conversation", "conversation_id",
        "`conversation_id` is the same in all messages of a match.",
        [](const json& v, const RefereeTrace& trace) { return v == trace.conversation; });
    add("match-id", "match_id", "`match_id` is that of the assignment.",
        [](const json& v, const RefereeTrace& trace) { return v == trace.match_id; });
    out.push_back({{.id = prefix + "-method",
                    .level = Level::kMust,
                    .text = type + " calls the method `" + kind.method + "`.",
                    .fix = std::string("Call the JSON-RPC method ") + kind.method + "."},
                   [&bench, kind] {
                     const InboundCall* call = call_of(bench.sample(), kind.type);
                     if (call != nullptr && call->method == kind.method) return pass();
                     return fail(seen_call(call), "/method", kind.method,
                                 call == nullptr ? "no such call came" : call->method);
                   }});
  }
}

void add_player_fields(RefereeBench& bench, Checks& out) {
  add_field(
      bench, out,
      {"P-4.6/role", Level::kMust, "`role_in_match` is \"PLAYER_A\" for player A.",
       "Set role_in_match to \"PLAYER_A\" for player_A_id, and to \"PLAYER_B\" for player_B_id.",
       "GAME_INVITATION", "role_in_match",
       [](const json& v, const RefereeTrace&) { return v == "PLAYER_A"; }});
  add_field(bench, out,
            {"P-4.6/opponent", Level::kMust, "`opponent_id` is the other player's id.",
             "Set opponent_id to the id of the other player of the assignment.", "GAME_INVITATION",
             "opponent_id",
             [&bench](const json& v, const RefereeTrace&) { return v == bench.player_id(1); }});
  add_field(bench, out,
            {"P-4.6/game-type", Level::kMust, "`game_type` is that of the assignment.",
             "Copy game_type from the assignment.", "GAME_INVITATION", "game_type",
             [](const json& v, const RefereeTrace&) { return v == "even_odd"; }});
  add_field(
      bench, out,
      {"P-4.6/draw-commitment", Level::kShould, "`draw_commitment` is that of the assignment.",
       "Copy draw_commitment from the assignment into the invitation.", "GAME_INVITATION",
       "draw_commitment",
       [](const json& v, const RefereeTrace& t) { return v == t.draw_commitment; }});
  add_field(
      bench, out,
      {"P-4.8/player-id", Level::kMust, "`player_id` is the id of the player that is called.",
       "Set player_id to the id of the player that you call.", "CHOOSE_PARITY_CALL", "player_id",
       [&bench](const json& v, const RefereeTrace&) { return v == bench.player_id(0); }});
  add_field(bench, out,
            {"P-4.8/deadline", Level::kMust, "`deadline` is a UTC time that has not passed.",
             "Set deadline to the current time plus the time limit.", "CHOOSE_PARITY_CALL",
             "deadline", [](const json& v, const RefereeTrace&) {
               if (!v.is_string()) return false;
               auto time = core::UtcTimestamp::parse(v.get<std::string>());
               return time && *time > core::UtcTimestamp(core::SystemClock().utc_now().instant() -
                                                         std::chrono::minutes(1));
             }});
}

void add_token_fields(RefereeBench& bench, Checks& out) {
  add_field(bench, out,
            {"P-8/credential", Level::kShould,
             "`auth_token` in calls to a player is the player's match credential.",
             "Send player_A_credential of the assignment to player A, and player_B_credential to "
             "player B.",
             "GAME_INVITATION", "auth_token", [&bench](const json& v, const RefereeTrace& t) {
               return v ==
                      agent::match_credential(bench.player_token(0), core::MatchId(t.match_id), 1)
                          .reveal();
             }});
  add_field(bench, out,
            {"P-8/own-token-not-shown", Level::kRobust,
             "Players do not see the token that the manager gave to the referee.",
             "Send the match credential to players. With your token anybody could report results "
             "in your name.",
             "GAME_INVITATION", "auth_token", [&bench](const json& v, const RefereeTrace&) {
               return v != json(bench.rpc().bot().token.reveal());
             }});
  add_field(bench, out,
            {"P-4.11/token", Level::kMust, "The report has the referee's own token.",
             "Send the auth_token from REFEREE_REGISTER_RESPONSE in the report.",
             "MATCH_RESULT_REPORT", "auth_token", [&bench](const json& v, const RefereeTrace&) {
               return v == json(bench.rpc().bot().token.reveal());
             }});
  add_field(bench, out,
            {"P-4.11/round", Level::kMust, "The report has `round_id`, an integer.",
             "Copy round_id from the assignment's ROUND_ANNOUNCEMENT, as an integer.",
             "MATCH_RESULT_REPORT", "round_id",
             [](const json& v, const RefereeTrace&) { return v == 1; }});
  add_field(
      bench, out,
      {"P-4.11/league", Level::kMust, "The report has `league_id`.",
       "Send the league_id from REFEREE_REGISTER_RESPONSE.", "MATCH_RESULT_REPORT", "league_id",
       [&bench](const json& v, const RefereeTrace&) { return v == bench.rpc().bot().league_id; }});
}

void add_meta(RefereeBench& bench, Checks& out, const char* id, const char* field, const char* text,
              const char* fix, std::function<bool(const json&)> is_right) {
  CheckInfo info{.id = id, .level = Level::kMust, .text = text, .fix = fix, .needs_play = false};
  out.push_back({std::move(info), [&bench, field, text, is_right = std::move(is_right)] {
                   const InboundCall& call = bench.registration();
                   const json meta = call.message.value("referee_meta", json::object());
                   if (meta.is_object() && is_right(meta.value(field, json()))) return pass();
                   return fail(seen_call(&call), std::string("/params/referee_meta/") + field, text,
                               shown_value(meta, field));
                 }});
}

}  // namespace

Exchange seen_call(const InboundCall* call) {
  Exchange exchange;
  if (call != nullptr) exchange.received = call->bytes;
  return exchange;
}

void add_referee_registration_checks(RefereeBench& bench, Checks& out) {
  add_meta(
      bench, out, "P-4.1/display-name", "display_name", "`display_name` has 1 to 50 characters.",
      "Send referee_meta.display_name, 1 to 50 characters.", [](const json& v) {
        return v.is_string() && !v.get<std::string>().empty() && v.get<std::string>().size() <= 200;
      });
  add_meta(bench, out, "P-4.1/version", "version",
           "`version` is a semantic version (MAJOR.MINOR.PATCH).",
           "Send referee_meta.version, such as \"1.0.0\".", [](const json& v) {
             return v.is_string() && std::ranges::count(v.get<std::string>(), '.') >= 2;
           });
  add_meta(bench, out, "P-4.1/game-types", "game_types",
           "`game_types` is an array that contains \"even_odd\".",
           "Send referee_meta.game_types: [\"even_odd\"].", [](const json& v) {
             return v.is_array() && std::find(v.begin(), v.end(), json("even_odd")) != v.end();
           });
  add_meta(bench, out, "P-4.1/contact-endpoint", "contact_endpoint", "`contact_endpoint` is a URL.",
           "Send the URL at which your referee listens as referee_meta.contact_endpoint.",
           [](const json& v) {
             return v.is_string() && transport::parse_endpoint(v.get<std::string>()).has_value();
           });
  add_meta(bench, out, "P-4.1/capacity", "max_concurrent_matches",
           "`max_concurrent_matches` is an integer of at least 1.",
           "Send referee_meta.max_concurrent_matches, an integer of at least 1.",
           [](const json& v) { return v.is_number_integer() && v.get<int>() >= 1; });
  const auto add_top = [&](const char* id, const char* field, const char* text,
                           std::function<bool(const json&)> right) {
    CheckInfo info{.id = id,
                   .level = Level::kMust,
                   .text = text,
                   .fix = std::string("Send ") + field + " as this rule says.",
                   .needs_play = false};
    out.push_back({std::move(info), [&bench, field, text, right = std::move(right)] {
                     const InboundCall& call = bench.registration();
                     if (right(call.message.value(field, json()))) return pass();
                     return fail(seen_call(&call), std::string("/params/") + field, text,
                                 shown_value(call.message, field));
                   }});
  };
  add_top("P-4.1/message-type", "message_type", "The registration is a REFEREE_REGISTER_REQUEST.",
          [](const json& v) { return v == "REFEREE_REGISTER_REQUEST"; });
  add_top("P-4.1/sender", "sender", "`sender` begins with `referee:`.", [](const json& v) {
    return v.is_string() && v.get<std::string>().starts_with("referee:");
  });
  add_top("P-4.1/timestamp", "timestamp",
          "`timestamp` is a UTC time in one of the protocol's formats.", [](const json& v) {
            return v.is_string() && core::UtcTimestamp::parse(v.get<std::string>()).has_value();
          });
}

Checks referee_checks(RefereeBench& bench) {
  Checks out;
  add_referee_registration_checks(bench, out);
  add_referee_match_checks(bench, out);
  add_envelope_fields(bench, out);
  add_player_fields(bench, out);
  add_token_fields(bench, out);
  add_referee_fault_checks(bench, out);
  return out;
}

}  // namespace league::tools::check
