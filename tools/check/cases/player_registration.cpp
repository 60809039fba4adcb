// Cases of the bot's registration; only if it has registered with the checker.
#include <algorithm>

#include "common/core/text.h"
#include "common/transport/link/endpoint.h"
#include "tools/check/cases/case.h"
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

bool is_sender(const json& value) {
  if (!value.is_string()) return false;
  const auto& sender = value.get_ref<const std::string&>();
  return sender.starts_with("player:") && sender.size() > 7 && sender.size() <= 71 &&
         std::ranges::all_of(sender.substr(7), [](unsigned char c) {
           return (c < 0x80 && std::isalnum(c) != 0) || c == '_';
         });
}

bool is_our_protocol(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("league.v2");
}

bool is_conversation(const json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty() &&
         value.get_ref<const std::string&>().size() <= 400;
}

bool is_id(const json& value) { return value.is_number_integer() || value.is_string(); }

bool is_version_two(const json& value) {
  return is_semver(value) && value.get_ref<const std::string&>().starts_with("2.");
}

const FieldCase kRegisteredFields[] = {
    {"P-4.3/method", kMust, "The registration calls `register_player`.",
     "Call the JSON-RPC method register_player.", "method", R"("register_player")",
     "register_player"},
    {"P-2/register-message-type", kMust, "The registration is a LEAGUE_REGISTER_REQUEST.",
     "Set message_type to \"LEAGUE_REGISTER_REQUEST\".", "params/message_type",
     R"("LEAGUE_REGISTER_REQUEST")", "\"LEAGUE_REGISTER_REQUEST\""},
    {"P-2/register-protocol", kMust, "The registration's `protocol` is `league.v2`.",
     "Set protocol to \"league.v2\".", "params/protocol", is_our_protocol, "\"league.v2\""},
    {"P-2/register-sender", kMust,
     "`sender` is `player:` plus a temporary name of up to 64 letters, digits and underscores.",
     "Set sender to \"player:\" plus a name of letters, digits and underscores, at most 64.",
     "params/sender", is_sender, "\"player:name\""},
    {"P-3/register-timestamp", kMust, "`timestamp` is a UTC time in one of the protocol's formats.",
     "Send the current time in UTC, ending in Z: 2025-01-15T10:30:00Z.", "params/timestamp",
     is_time, "2025-01-15T10:30:00Z"},
    {"P-2/register-conversation", kMust, "`conversation_id` has 1 to 100 characters.",
     "Add a conversation_id of 1 to 100 characters.", "params/conversation_id", is_conversation,
     "1 to 100 characters"},
    {"P-1/register-integer-id", kShould, "The JSON-RPC id is an integer or a string.",
     "Give each request a number as its id.", "id", is_id, "an integer"},
    {"P-1/register-jsonrpc", kMust, "The JSON-RPC request has `\"jsonrpc\": \"2.0\"`.",
     "Add \"jsonrpc\": \"2.0\" to the request.", "jsonrpc", R"("2.0")", "\"2.0\""},
    {"P-4.3/display-name", kMust, "`display_name` has 1 to 50 characters.",
     "Choose a display_name of 1 to 50 characters.", "params/player_meta/display_name",
     is_short_name, "1 to 50 characters"},
    {"P-4.3/version", kMust, "`version` is a semantic version (MAJOR.MINOR.PATCH).",
     "Send player_meta.version, such as \"1.0.0\".", "params/player_meta/version", is_semver,
     "MAJOR.MINOR.PATCH"},
    {"P-4.3/game-types", kMust, "`game_types` is an array that contains the game.",
     "Send player_meta.game_types, in an Even/Odd league [\"even_odd\"].",
     "params/player_meta/game_types", has_tested_game, "a list with the game", kBasic},
};

Verdict has_endpoint(const Talk& talk) {
  const InboundCall& call = *talk.bench.registration;
  const auto parsed = place_of(call.meta_text("contact_endpoint"), "P01");
  if (parsed) return pass();
  return fail(seen_call(&call), "/params/player_meta/contact_endpoint", "a URL",
              parsed.error().message);
}

Verdict is_accepted(const Talk& talk) {
  const auto& refusal = talk.bench.registered.refusal;
  if (!refusal) return pass();
  const InboundCall& call = *talk.bench.registration;
  Verdict verdict =
      fail(seen_call(&call), "/params" + refusal->field, "a registration that a league accepts",
           core::shown(refusal->message, 300));
  for (const FieldCase& row : kRegisteredFields) {
    if ("/" + std::string(row.field) != verdict.pointer || judge_registered(row, call).passed())
      continue;
    verdict.fix = row.fix;
    verdict.cause = row.id;
  }
  return verdict;
}

Verdict answers_there(const Talk& talk) {
  const Exchange& answer = talk.bench.sample().join.exchange;
  return expect(!answer.is_refused, seen_call(&*talk.bench.registration),
                "/params/player_meta/contact_endpoint", "a server that listens there",
                answer.trouble);
}

Verdict is_repeatable(const Talk& talk) {
  const InboundCall& call = *talk.bench.registration;
  return expect(!call.text("registration_nonce").empty() || !call.text("auth_token").empty(),
                seen_call(&call), "/params/registration_nonce", "a random string",
                "neither registration_nonce nor auth_token");
}

const Conversation kOthers[] = {
    {"P-4.3/contact-endpoint", kMust, "`contact_endpoint` is a URL, or `outward`.",
     "Send the URL at which your bot listens as player_meta.contact_endpoint, such as "
     "\"http://127.0.0.1:8101/mcp\".",
     "", has_endpoint, "", kBasic | kAlways},
    {"P-4.3/accepted", kMust, "A league accepts the registration.",
     "Correct the field that is named.", "", is_accepted, "", kBasic | kAlways},
    {"P-4.3/endpoint-answers", kMust, "The bot answers at its `contact_endpoint`.",
     "Start to listen before you register, and register the address at which you listen.", "",
     answers_there, "", kBasic | kAlways},
    {"P-6/protocol-version", kMust, "`protocol_version`, if present, is a version 2.",
     "Send player_meta.protocol_version \"2.1.0\", or leave it out.", "",
     [](const Talk& talk) {
       if (!talk.bench.registration->meta().contains("protocol_version")) return pass();
       static constexpr FieldCase kVersion = {"",
                                              kMust,
                                              "",
                                              "",
                                              "params/player_meta/protocol_version",
                                              is_version_two,
                                              "from 2.0.0 to below 3.0.0"};
       return judge_registered(kVersion, *talk.bench.registration);
     },
     "", kAlways},
    {"P-8/registration-repeatable", kShould,
     "The registration has a nonce or an earlier token, so that it can be repeated if the answer "
     "is "
     "lost.",
     "Send a random registration_nonce. If you repeat the request because no answer came, send the "
     "same nonce.",
     "", is_repeatable, "", kAlways},
};

std::string only_registered(PlayerBench& bench) {
  if (bench.registration) return {};
  return "the bot has not registered with this checker; use --listen or --start";
}

}  // namespace

void add_registration_cases(PlayerBench& bench, Checks& out) {
  const std::span<const FieldCase> fields(kRegisteredFields);
  add_cases(
      bench, fields, out,
      [](PlayerBench& with, const FieldCase& row) {
        return judge_registered(row, *with.registration);
      },
      &only_registered, kAlways);
  add_conversations(bench, kOthers, out, &only_registered);
}

}  // namespace league::tools::check
