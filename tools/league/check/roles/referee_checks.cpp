#include "tools/league/check/roles/referee_checks.h"

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
                     return fail(trace.assignment.exchange, "", wanted.type, "no such call");
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
      const std::string fix = std::string("Set ") + field + " as docs/protocol.md says.";
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
    add("sender", "sender", "`sender` is `referee:` and the given id.",
        [&bench](const json& v, const RefereeTrace&) {
          return v == "referee:" + bench.rpc().bot().id;
        });
    add("timestamp", "timestamp", "`timestamp` is UTC in a form of the protocol.",
        [](const json& v, const RefereeTrace&) {
          return v.is_string() && core::UtcTimestamp::parse(v.get<std::string>()).has_value();
        });
    add("conversation", "conversation_id", "all messages of a match share its conversation.",
        [](const json& v, const RefereeTrace& trace) { return v == trace.conversation; });
    add("match-id", "match_id", "`match_id` is the assigned one.",
        [](const json& v, const RefereeTrace& trace) { return v == trace.match_id; });
    out.push_back({{.id = prefix + "-method",
                    .level = Level::kMust,
                    .text = type + " calls the method `" + kind.method + "`.",
                    .fix = std::string("Call the JSON-RPC method ") + kind.method + "."},
                   [&bench, kind] {
                     const InboundCall* call = call_of(bench.sample(), kind.type);
                     if (call != nullptr && call->method == kind.method) return pass();
                     return fail(seen_call(call), "/method", kind.method,
                                 call == nullptr ? "no such call" : call->method);
                   }});
  }
}

void add_player_fields(RefereeBench& bench, Checks& out) {
  add_field(bench, out,
            {"P-4.6/role", Level::kMust, "Player A gets the role PLAYER_A.", "Set role_in_match.",
             "GAME_INVITATION", "role_in_match",
             [](const json& v, const RefereeTrace&) { return v == "PLAYER_A"; }});
  add_field(bench, out,
            {"P-4.6/opponent", Level::kMust, "`opponent_id` is the other player's id.",
             "Set opponent_id.", "GAME_INVITATION", "opponent_id",
             [&bench](const json& v, const RefereeTrace&) { return v == bench.player_id(1); }});
  add_field(bench, out,
            {"P-4.6/game-type", Level::kMust, "`game_type` is the assigned one.", "Set game_type.",
             "GAME_INVITATION", "game_type",
             [](const json& v, const RefereeTrace&) { return v == "even_odd"; }});
  add_field(
      bench, out,
      {"P-4.6/draw-commitment", Level::kShould, "`draw_commitment` is the one of the assignment.",
       "Hand draw_commitment on.", "GAME_INVITATION", "draw_commitment",
       [](const json& v, const RefereeTrace& t) { return v == t.draw_commitment; }});
  add_field(bench, out,
            {"P-4.8/player-id", Level::kMust, "`player_id` is the id of the player that is called.",
             "Set player_id.", "CHOOSE_PARITY_CALL", "player_id",
             [&bench](const json& v, const RefereeTrace&) { return v == bench.player_id(0); }});
  add_field(bench, out,
            {"P-4.8/deadline", Level::kMust, "`deadline` is a time in UTC, and not past.",
             "Set deadline to the present time and the limit.", "CHOOSE_PARITY_CALL", "deadline",
             [](const json& v, const RefereeTrace&) {
               if (!v.is_string()) return false;
               auto time = core::UtcTimestamp::parse(v.get<std::string>());
               return time && *time > core::UtcTimestamp(core::SystemClock().utc_now().instant() -
                                                         std::chrono::minutes(1));
             }});
}

void add_token_fields(RefereeBench& bench, Checks& out) {
  add_field(bench, out,
            {"P-8/credential", Level::kShould,
             "`auth_token` towards a player is the match credential of the assignment.",
             "Show player_A_credential and player_B_credential, each to its player.",
             "GAME_INVITATION", "auth_token", [&bench](const json& v, const RefereeTrace& t) {
               return v ==
                      agent::match_credential(bench.player_token(0), core::MatchId(t.match_id), 1)
                          .reveal();
             }});
  add_field(
      bench, out,
      {"P-8/own-token-not-shown", Level::kRobust, "Players never see the referee's manager token.",
       "Send the match credential to players; with your token anybody could report for you.",
       "GAME_INVITATION", "auth_token", [&bench](const json& v, const RefereeTrace&) {
         return v != json(bench.rpc().bot().token.reveal());
       }});
  add_field(bench, out,
            {"P-4.11/token", Level::kMust, "The report carries the referee's own token.",
             "Put auth_token of REFEREE_REGISTER_RESPONSE into the report.", "MATCH_RESULT_REPORT",
             "auth_token", [&bench](const json& v, const RefereeTrace&) {
               return v == json(bench.rpc().bot().token.reveal());
             }});
  add_field(bench, out,
            {"P-4.11/round", Level::kMust, "The report names the round as an integer.",
             "Set round_id.", "MATCH_RESULT_REPORT", "round_id",
             [](const json& v, const RefereeTrace&) { return v == 1; }});
  add_field(bench, out,
            {"P-4.11/league", Level::kMust, "The report names the league.", "Set league_id.",
             "MATCH_RESULT_REPORT", "league_id", [&bench](const json& v, const RefereeTrace&) {
               return v == bench.rpc().bot().league_id;
             }});
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
      "Send referee_meta.display_name.", [](const json& v) {
        return v.is_string() && !v.get<std::string>().empty() && v.get<std::string>().size() <= 200;
      });
  add_meta(bench, out, "P-4.1/version", "version", "`version` is a semantic version.",
           "Send referee_meta.version such as \"1.0.0\".", [](const json& v) {
             return v.is_string() && std::ranges::count(v.get<std::string>(), '.') >= 2;
           });
  add_meta(bench, out, "P-4.1/game-types", "game_types",
           "`game_types` is an array with `even_odd`.",
           "Send referee_meta.game_types: [\"even_odd\"].", [](const json& v) {
             return v.is_array() && std::find(v.begin(), v.end(), json("even_odd")) != v.end();
           });
  add_meta(bench, out, "P-4.1/contact-endpoint", "contact_endpoint", "`contact_endpoint` is a URL.",
           "Send referee_meta.contact_endpoint.", [](const json& v) {
             return v.is_string() && transport::parse_endpoint(v.get<std::string>()).has_value();
           });
  add_meta(bench, out, "P-4.1/capacity", "max_concurrent_matches",
           "`max_concurrent_matches` is an integer of at least 1.",
           "Send referee_meta.max_concurrent_matches.",
           [](const json& v) { return v.is_number_integer() && v.get<int>() >= 1; });
  const auto add_top = [&](const char* id, const char* field, const char* text,
                           std::function<bool(const json&)> right) {
    CheckInfo info{.id = id,
                   .level = Level::kMust,
                   .text = text,
                   .fix = std::string("Set ") + field + " as docs/protocol.md says.",
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
  add_top("P-4.1/timestamp", "timestamp", "`timestamp` is UTC in a form of the protocol.",
          [](const json& v) {
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
