// Checks of the bot's registration; only if it has registered with the checker.
#include <algorithm>
#include <charconv>

#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/transport/link/endpoint.h"
#include "tools/check/game_truth.h"
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// The registration that is checked: the request as received, and its `player_meta`.
struct Seen {
  const InboundCall& call;
  json meta;
  Exchange exchange;
};
using LookAtRequest = std::function<Verdict(const Seen&)>;

bool is_semver(const std::string& text) {
  const char* at = text.data();
  const char* end = at + text.size();
  for (int part = 0; part < 3; ++part) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return false;
    at = stop;
    if (part < 2 && (at == end || *at++ != '.')) return false;
  }
  return at == end || *at == '-' || *at == '+';
}

class RegistrationChecks {
 public:
  RegistrationChecks(PlayerBench& bench, Checks& out) : bench_(bench), out_(out) {}

  CheckInfo& add(const std::string& id, Level level, const std::string& text,
                 const std::string& fix, LookAtRequest look) {
    out_.push_back(
        {{.id = id, .level = level, .text = text, .fix = fix, .needs_play = false},
         [&bench = bench_, look = std::move(look)] {
           if (!bench.registration)
             return skip("the bot has not registered with this checker; use --listen or --start");
           Seen seen{.call = *bench.registration,
                     .meta = json::object(),
                     .exchange = seen_call(&*bench.registration)};
           if (seen.call.message.contains("player_meta"))
             seen.meta = seen.call.message["player_meta"];
           return look(seen);
         }});
    return out_.back().info;
  }

 private:
  PlayerBench& bench_;
  Checks& out_;
};

/// A field of the registration, and whether it is right.
struct RegisteredField {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  const char* pointer;
  const char* expected;
  bool (*is_right)(const Seen&);
};

const RegisteredField kRegisteredFields[] = {
    {"P-4.3/method", Level::kMust, "The registration calls `register_player`.",
     "Call the JSON-RPC method register_player.", "/method", "register_player",
     [](const Seen& seen) {
       return seen.call.method == "register_player" && seen.call.style == "tool_name";
     }},
    {"P-2/register-message-type", Level::kMust, "The registration is a LEAGUE_REGISTER_REQUEST.",
     "Set message_type to \"LEAGUE_REGISTER_REQUEST\".", "/params/message_type",
     "\"LEAGUE_REGISTER_REQUEST\"",
     [](const Seen& seen) {
       return text_at(seen.call.message, "message_type") == "LEAGUE_REGISTER_REQUEST";
     }},
    {"P-2/register-protocol", Level::kMust, "The registration's `protocol` is `league.v2`.",
     "Set protocol to \"league.v2\".", "/params/protocol", "\"league.v2\"",
     [](const Seen& seen) {
       return text_at(seen.call.message, "protocol").starts_with("league.v2");
     }},
    {"P-2/register-sender", Level::kMust,
     "`sender` is `player:` plus a temporary name of up to 64 letters, digits and underscores.",
     "Set sender to \"player:\" plus a name of letters, digits and underscores, at most 64.",
     "/params/sender", "\"player:name\"",
     [](const Seen& seen) {
       const std::string sender = text_at(seen.call.message, "sender");
       return sender.starts_with("player:") && sender.size() > 7 && sender.size() <= 71 &&
              sender.find_first_not_of(
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                  "XYZ0123456789_",
                  7) == std::string::npos;
     }},
    {"P-3/register-timestamp", Level::kMust,
     "`timestamp` is a UTC time in one of the protocol's formats.",
     "Send the current time in UTC, ending in Z: 2025-01-15T10:30:00Z.", "/params/timestamp",
     "2025-01-15T10:30:00Z",
     [](const Seen& seen) {
       return core::UtcTimestamp::parse(text_at(seen.call.message, "timestamp")).has_value();
     }},
    {"P-2/register-conversation", Level::kMust, "`conversation_id` has 1 to 100 characters.",
     "Add a conversation_id of 1 to 100 characters.", "/params/conversation_id",
     "1 to 100 characters",
     [](const Seen& seen) {
       const auto id = text_at(seen.call.message, "conversation_id");
       return !id.empty() && id.size() <= 400;
     }},
    {"P-1/register-integer-id", Level::kShould, "The JSON-RPC id is an integer or a string.",
     "Give each request a number as its id.", "/id", "an integer",
     [](const Seen& seen) { return seen.call.id.is_number_integer() || seen.call.id.is_string(); }},
    {"P-1/register-jsonrpc", Level::kMust, "The JSON-RPC request has `\"jsonrpc\": \"2.0\"`.",
     "Add \"jsonrpc\": \"2.0\" to the request.", "/jsonrpc", "\"2.0\"",
     [](const Seen& seen) {
       return seen.call.document.is_object() && text_at(seen.call.document, "jsonrpc") == "2.0";
     }},
    {"P-4.3/display-name", Level::kMust, "`display_name` has 1 to 50 characters.",
     "Choose a display_name of 1 to 50 characters.", "/params/player_meta/display_name",
     "1 to 50 characters",
     [](const Seen& seen) {
       const auto name = text_at(seen.meta, "display_name");
       return !name.empty() && name.size() <= 200;
     }},
    {"P-4.3/version", Level::kMust, "`version` is a semantic version (MAJOR.MINOR.PATCH).",
     "Send player_meta.version, such as \"1.0.0\".", "/params/player_meta/version",
     "MAJOR.MINOR.PATCH",
     [](const Seen& seen) { return is_semver(text_at(seen.meta, "version")); }},
    {"P-4.3/game-types", Level::kMust, "`game_types` is an array that contains the game.",
     "Send player_meta.game_types, in an Even/Odd league [\"even_odd\"].",
     "/params/player_meta/game_types", "a list with the game",
     [](const Seen& seen) {
       if (!seen.meta.is_object() || !seen.meta.contains("game_types")) return false;
       if (schema::field_at(seen.meta, "game_definitions") == json(true)) return true;
       const json& types = seen.meta["game_types"];
       return types.is_array() && std::find(types.begin(), types.end(),
                                            json(tested_game()->game_type())) != types.end();
     }},
};

/// What came at `pointer`; of the method also the shape of the call.
std::string shown_part(const Seen& seen, const std::string& pointer, bool is_meta) {
  if (pointer == "/method") {
    if (seen.call.style == "bare") return "a bare message, without a method";
    const std::string method = text_at(seen.call.document, "method");
    return method == seen.call.method ? method : method + " with the tool " + seen.call.method;
  }
  const bool is_frame = pointer.find("/params") == std::string::npos;
  return shown_value(is_meta    ? seen.meta
                     : is_frame ? seen.call.document
                                : seen.call.message,
                     pointer.substr(pointer.rfind('/') + 1));
}

void add_other_checks(PlayerBench& bench, RegistrationChecks& checks) {
  auto& endpoint = checks.add(
      "P-4.3/contact-endpoint", Level::kMust, "`contact_endpoint` is a URL, or `outward`.",
      "Send the URL at which your bot listens as player_meta.contact_endpoint, such as "
      "\"http://127.0.0.1:8101/mcp\".",
      [](const Seen& seen) {
        auto parsed = place_of(text_at(seen.meta, "contact_endpoint"), "P01");
        if (parsed) return pass();
        return fail(seen.exchange, "/params/player_meta/contact_endpoint", "a URL",
                    parsed.error().message);
      });
  endpoint.is_basic = true;
  auto& accepted = checks.add("P-4.3/accepted", Level::kMust, "A league accepts the registration.",
                              "Correct the field that is named.", [&bench](const Seen& seen) {
                                const auto& refusal = bench.registered.refusal;
                                if (!refusal) return pass();
                                Verdict verdict = fail(seen.exchange, "/params" + refusal->field,
                                                       "a registration that a "
                                                       "league accepts",
                                                       core::shown(refusal->message, 300));
                                for (const RegisteredField& field : kRegisteredFields) {
                                  if (field.pointer != verdict.pointer || field.is_right(seen))
                                    continue;
                                  verdict.fix = field.fix;
                                  verdict.cause = field.id;
                                }
                                return verdict;
                              });
  accepted.is_basic = true;
  auto& answers = checks.add(
      "P-4.3/endpoint-answers", Level::kMust, "The bot answers at its `contact_endpoint`.",
      "Start to listen before you register, and register the address at which you listen.",
      [&bench](const Seen& seen) {
        const BotReply& reply = bench.sample().join;
        return expect(!reply.exchange.is_refused, seen.exchange,
                      "/params/player_meta/contact_endpoint", "a server that listens there",
                      reply.exchange.trouble);
      });
  answers.is_basic = true;
  checks.add("P-6/protocol-version", Level::kMust,
             "`protocol_version`, if present, is a version 2.",
             "Send player_meta.protocol_version \"2.1.0\", or leave it out.", [](const Seen& seen) {
               if (!seen.meta.contains("protocol_version")) return pass();
               const auto version = text_at(seen.meta, "protocol_version");
               return expect(is_semver(version) && version.starts_with("2."), seen.exchange,
                             "/params/player_meta/protocol_version", "from 2.0.0 to below 3.0.0",
                             shown_value(seen.meta, "protocol_version"));
             });
  checks.add("P-8/registration-repeatable", Level::kShould,
             "The registration has a nonce or an earlier token, so that it can be repeated if the "
             "answer is lost.",
             "Send a random registration_nonce. If you repeat the request because no answer came, "
             "send the same nonce.",
             [](const Seen& seen) {
               for (const char* field : {"registration_nonce", "auth_token"}) {
                 if (!text_at(seen.call.message, field).empty()) return pass();
               }
               return fail(seen.exchange, "/params/registration_nonce", "a random string",
                           "neither registration_nonce nor auth_token");
             });
}

}  // namespace

void add_registration_checks(PlayerBench& bench, Checks& out) {
  RegistrationChecks checks(bench, out);
  for (const RegisteredField& one : kRegisteredFields) {
    auto& info = checks.add(one.id, one.level, one.text, one.fix, [&one](const Seen& seen) {
      const std::string pointer = one.pointer;
      const bool is_meta = pointer.find("player_meta/") != std::string::npos;
      return expect(one.is_right(seen), seen.exchange, pointer, one.expected,
                    shown_part(seen, pointer, is_meta));
    });
    info.is_basic = info.id == "P-4.3/game-types";
  }
  add_other_checks(bench, checks);
}

}  // namespace league::tools::check
