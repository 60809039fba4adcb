// The rules of JSON-RPC 2.0.
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

Verdict expect_code(const BotReply& reply, int code) {
  if (reply.code() == code) return pass();
  return fail(reply.exchange, "/error/code", std::to_string(code),
              reply.code() == 0 ? shown_answer(reply) : std::to_string(reply.code()));
}

/// The invitation with another id of the request.
Verdict expect_id_echoed(PlayerBench& bench, const json& id) {
  const TestMatch match = bench.new_match();
  json frame =
      json::parse(bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(1)));
  frame["id"] = id;
  const auto wanted = rpc::Id::from_json(id).value_or(rpc::Id());
  const BotReply reply = bench.send(frame.dump(), wanted);
  if (reply.document.is_object() && reply.document.contains("id") &&
      reply.document["id"].is_string() == id.is_string() && reply.document["id"] == id &&
      !reply.document["id"].is_number_float())
    return pass();
  return fail(reply.exchange, "/id", id.dump(),
              reply.document.is_object() ? shown_value(reply.document, "id") : shown_answer(reply));
}

void add_rpc(Checks& out, const char* id, Level level, const char* text, const char* fix,
             std::function<Verdict()> run) {
  out.push_back({{.id = id, .level = level, .text = text, .fix = fix}, std::move(run)});
}

void add_id_checks(PlayerBench& bench, Checks& out) {
  add_rpc(out, "P-1/large-id", Level::kMust, "An integer id of 53 bits comes back unchanged.",
          "Keep the id as the integer that it is, not as a float.",
          [&bench] { return expect_id_echoed(bench, 9007199254740991); });
  add_rpc(out, "P-1/id-zero", Level::kMust, "The id 0 is an id like any other.",
          "Test for a missing id with `is None`, not for truth.",
          [&bench] { return expect_id_echoed(bench, 0); });
  add_rpc(out, "P-1/string-id", Level::kShould, "A string id comes back as the same string.",
          "Copy the id whatever its type is.",
          [&bench] { return expect_id_echoed(bench, "call-7"); });
}

void add_error_checks(PlayerBench& bench, Checks& out) {
  add_rpc(out, "P-5/unknown-method", Level::kMust, "An unknown method gets -32601.",
          "Answer {\"error\": {\"code\": -32601, \"message\": \"Method not found\"}}.", [&bench] {
            return expect_code(bench.call("league_check_no_such_method", json::object()), -32601);
          });
  add_rpc(out, "P-5/unknown-method-id", Level::kMust, "An error has the id of the request.",
          "Copy id into answers with an error, too.", [&bench] {
            const BotReply reply = bench.call("league_check_no_such_method", json::object());
            const json sent = json::parse(reply.exchange.sent);
            if (reply.document.is_object() && reply.document.value("id", json()) == sent["id"])
              return pass();
            return fail(reply.exchange, "/id", sent["id"].dump(),
                        shown_value(reply.document, "id"));
          });
  add_rpc(out, "P-5/error-message", Level::kShould, "An error has a `message` that is a text.",
          "Add error.message: what is wrong, in words.", [&bench] {
            const BotReply reply = bench.call("league_check_no_such_method", json::object());
            if (reply.error.is_object() && reply.error.contains("message") &&
                reply.error["message"].is_string())
              return pass();
            return fail(reply.exchange, "/error/message", "a text",
                        shown_value(reply.error, "message"));
          });
  add_rpc(out, "P-5/parse-error", Level::kMust, "Bytes that are no JSON get -32700.",
          "Catch the parser's exception and answer -32700 with id null.", [&bench] {
            if (!bench.is_http())
              return skip("only over http: elsewhere an answer is found by its id");
            return expect_code(bench.send("{\"jsonrpc\": \"2.0\", \"id\": 1, ", rpc::Id(1)),
                               -32700);
          });
  add_rpc(out, "P-5/invalid-request", Level::kMust, "A request without `method` gets -32600.",
          "Answer -32600 where method is missing or no text.", [&bench] {
            return expect_code(bench.send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711)), -32600);
          });
  add_rpc(out, "P-5/method-no-text", Level::kShould,
          "A request whose `method` is a number gets -32600.",
          "Answer -32600 where method is missing or no text.", [&bench] {
            return expect_code(
                bench.send(R"({"jsonrpc":"2.0","id":7712,"method":5,"params":{}})", rpc::Id(7712)),
                -32600);
          });
}

void add_params_checks(PlayerBench& bench, Checks& out) {
  add_rpc(out, "P-5/params-array", Level::kShould, "Params that are an array get -32602.",
          "Answer -32602 where params is no object.", [&bench] {
            return expect_code(bench.call("handle_game_invitation", json::array({1, 2})), -32602);
          });
  add_rpc(out, "P-5/params-missing", Level::kMust, "A game call without params gets an error.",
          "Answer -32602 where params is missing.", [&bench] {
            return expect_refused(
                bench.send(R"({"jsonrpc":"2.0","id":7713,"method":"handle_game_invitation"})",
                           rpc::Id(7713)),
                "there are no params");
          });
  add_rpc(out, "P-5/no-own-codes", Level::kShould,
          "Errors about messages have a standard code, never one of -32000 to -32099.",
          "Use -32602 for a message that is wrong; the league's code belongs into error.data.",
          [&bench] {
            json message = bench.invitation(bench.new_match());
            message.erase("match_id");
            const BotReply reply = bench.ask(MessageType::kGameInvitation, message);
            const int code = reply.code();
            if (code < -32099 || code > -32000) return pass();
            return fail(reply.exchange, "/error/code", "-32602", std::to_string(code));
          });
}

void add_frame_forms(PlayerBench& bench, Checks& out) {
  add_rpc(out, "P-1/notification", Level::kRobust,
          "A notification (a call without id) does no harm, whatever comes back.",
          "Take a missing id for null and go on.", [&bench] {
            if (!bench.is_http())
              return skip("only over http: elsewhere an answer is found by its id");
            const BotReply reply =
                bench.send(R"({"jsonrpc":"2.0","method":"notifications/league_check","params":{}})",
                           rpc::Id());
            return expect_alive(bench, reply);
          });
  add_rpc(
      out, "P-1/batch", Level::kRobust, "An array of requests does no harm.",
      "Answer an array with -32600, or with an array of answers.", [&bench] {
        if (!bench.is_http()) return skip("only over http: elsewhere an answer is found by its id");
        const BotReply reply = bench.send(
            R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])",
            rpc::Id(1));
        return expect_alive(bench, reply);
      });
  add_rpc(out, "P-1/extra-members", Level::kMust,
          "Unknown members of the JSON-RPC frame are ignored.",
          "Read the members that you know, and leave the rest.", [&bench] {
            const TestMatch match = bench.new_match();
            const std::int64_t id = bench.next_id();
            json frame = json::parse(
                bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id)));
            frame["trace"] = {{"span", 1}};
            return expect_accepted(bench.send(frame.dump(), rpc::Id(id)),
                                   "the frame has an unknown member");
          });
  add_rpc(out, "P-1/escaped-text", Level::kMust, "JSON with escapes and white space is JSON.",
          "Use a JSON parser, not a search in the text.", [&bench] {
            const TestMatch match = bench.new_match();
            const std::int64_t id = bench.next_id();
            const json frame = json::parse(
                bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id)));
            std::string bytes = frame.dump(bench.is_http() ? 2 : -1);
            const std::size_t at = bytes.find("even_odd");
            if (at != std::string::npos) bytes.replace(at, 8, "even\\u005fodd");
            return expect_accepted(bench.send(bytes, rpc::Id(id)), "it is written with escapes");
          });
}

}  // namespace

void add_rpc_checks(PlayerBench& bench, Checks& out) {
  add_id_checks(bench, out);
  add_error_checks(bench, out);
  add_params_checks(bench, out);
  add_frame_forms(bench, out);
}

}  // namespace league::tools::check
