// The rules of JSON-RPC 2.0, and the basics of the Model Context Protocol for bots that claim it by
// answering `initialize`.
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// Sends an invitation in a frame with these changes.
BotReply invite_in_frame(PlayerBench& bench, const json& changes) {
  const rpc::Id own(bench.next_id());
  json frame = json::parse(bench.frame(kInvite, bench.invitation(bench.new_match()), own));
  change(frame, changes, {});
  return bench.send(frame.dump(), rpc::Id::from_json(frame["id"]).value_or(rpc::Id()));
}

/// Sends an invitation with this request id, and expects the same id in the answer.
Verdict expect_id_echoed(const Talk& talk, const json& id) {
  const BotReply reply = invite_in_frame(talk.bench, {{"id", id}});
  const json& got = value_at(reply.document, "id");
  return expect(
      got.is_string() == id.is_string() && got == id && !got.is_number_float(), reply.exchange,
      "/id", id.dump(),
      reply.document.is_object() ? shown_value(reply.document, "id") : shown_answer(reply));
}

/// Sends these bytes, which have this id.
BotReply send(const Talk& talk, const char* bytes, int id) {
  return talk.bench.send(bytes, rpc::Id(id));
}

constexpr const char* kNoSuchMethod = "league_check_no_such_method";

const Conversation kRpc[] = {
    {"P-1/large-id", kRobust, "A response repeats an integer id of 53 bits unchanged.",
     "Keep the id as an integer. Do not convert it to a floating-point number.", "",
     [](const Talk& talk) { return expect_id_echoed(talk, 9007199254740991); }},
    {"P-1/id-zero", kRobust, "A request with the id 0 is answered like any other.",
     "Check whether the id is missing (in Python: `is None`), not whether it is false.", "",
     [](const Talk& talk) { return expect_id_echoed(talk, 0); }},
    {"P-1/string-id", kShould, "A response repeats a string id unchanged.",
     "Copy the id from the request, whatever its type.", "",
     [](const Talk& talk) { return expect_id_echoed(talk, "call-7"); }},
    {"P-5/unknown-method", kRobust,
     "A call of an unknown method is answered with the error -32601.",
     "Answer {\"jsonrpc\": \"2.0\", \"id\": ID, \"error\": {\"code\": -32601, \"message\": "
     "\"Method not found\"}}.",
     kNoSuchMethod, fails_with<-32601>},
    {"P-5/unknown-method-id", kRobust, "An error response repeats the request's id.",
     "Copy the id into error responses, too.", kNoSuchMethod,
     [](const Talk& talk) {
       const BotReply& reply = talk.last();
       const json sent = json::parse(reply.exchange.sent)["id"];
       return expect(value_at(reply.document, "id") == sent, reply.exchange, "/id", sent.dump(),
                     shown_value(reply.document, "id"));
     }},
    {"P-5/error-message", kShould, "An error has a `message`, which is a string.",
     "Add error.message, and say in it what is wrong.", kNoSuchMethod,
     [](const Talk& talk) {
       const json& error = talk.last().error;
       return expect(value_at(error, "message").is_string(), talk.last().exchange, "/error/message",
                     "a string", shown_value(error, "message"));
     }},
    {"P-5/parse-error", kRobust, "A body that is not JSON is answered with the error -32700.",
     "Catch the JSON parser's exception, and answer {\"jsonrpc\": \"2.0\", \"id\": null, "
     "\"error\": {\"code\": -32700, \"message\": \"Parse error\"}}.",
     "",
     [](const Talk& talk) {
       if (!talk.bench.is_http()) return skip(kOnlyHttpHasNoIds);
       return expect_code(send(talk, "{\"jsonrpc\": \"2.0\", \"id\": 1, ", 1), -32700);
     }},
    {"P-5/invalid-request", kRobust,
     "A request without `method` is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.", "",
     [](const Talk& talk) {
       return expect_code(send(talk, R"({"jsonrpc":"2.0","id":7711})", 7711), -32600);
     }},
    {"P-5/method-no-text", kShould,
     "A request whose `method` is a number is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.", "",
     [](const Talk& talk) {
       return expect_code(send(talk, R"({"jsonrpc":"2.0","id":7712,"method":5,"params":{}})", 7712),
                          -32600);
     }},
    {"P-5/params-array", kShould,
     "A call whose `params` are an array is answered with the error -32602.",
     "Answer with the error -32602 if params is not an object.", "handle_game_invitation [1, 2]",
     fails_with<-32602>},
    {"P-5/params-missing", kRobust,
     "A call of the game without `params` is answered with an error.",
     "Answer with the error -32602 if params is missing.", "",
     [](const Talk& talk) {
       return expect_refused(
           send(talk, R"({"jsonrpc":"2.0","id":7713,"method":"handle_game_invitation"})", 7713),
           "params is missing");
     }},
    {"P-5/no-own-codes", kShould,
     "An error about a message has the code -32602, not one from -32099 to -32000.",
     "Set error.code to -32602 if a message is wrong, and put the league's code (E003) into "
     "error.data.error_code.",
     R"(invite {"match_id": "$gone"})",
     [](const Talk& talk) {
       const int code = talk.last().code();
       return expect(code < -32099 || code > -32000, talk.last().exchange, "/error/code", "-32602",
                     std::to_string(code));
     }},
    {"P-1/notification", kRobust,
     "The bot keeps working after a notification (a call without an id).",
     "Treat a missing id as null; do not read request[\"id\"] without checking that it is there.",
     "",
     [](const Talk& talk) {
       return survive_bytes(
           talk.bench, R"({"jsonrpc":"2.0","method":"notifications/league_check","params":{}})",
           rpc::Id());
     }},
    {"P-1/batch", kRobust, "The bot keeps working after a batch (an array of requests).",
     "Answer an array with the error -32600, or with an array of responses.", "",
     [](const Talk& talk) {
       return survive_bytes(
           talk.bench,
           R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])");
     }},
    {"P-1/extra-members", kRobust, "The bot ignores unknown members of a JSON-RPC request.",
     "Read the members that you know, and ignore all others.", "",
     [](const Talk& talk) {
       return expect_accepted(invite_in_frame(talk.bench, {{"trace", {{"span", 1}}}}),
                              "the request has an unknown member");
     }},
    {"P-1/escaped-text", kRobust,
     "The bot reads JSON that contains escapes (\\u005f) and white space.",
     "Use a JSON parser; do not search the text.", "",
     [](const Talk& talk) {
       const rpc::Id id(talk.bench.next_id());
       const json frame =
           json::parse(talk.bench.frame(kInvite, talk.bench.invitation(talk.match), id));
       std::string bytes = frame.dump(talk.bench.is_http() ? 2 : -1);
       const std::size_t at = bytes.find("GAME_INVITATION");
       if (at != std::string::npos) bytes.replace(at, 5, "GAME\\u005f");
       return expect_accepted(talk.bench.send(bytes, id), "it contains escapes");
     }},
};

constexpr const char* kInitialize =
    R"(initialize {"protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "league-check", "version": "1"}})";

const json& rpc_result(const Talk& talk) { return value_at(talk.last().document, "result"); }

std::string only_with_mcp(PlayerBench& bench) {
  if (!value_at(rpc_result(hold(bench, kInitialize)), "protocolVersion").is_null()) return {};
  return "the bot does not answer `initialize`, so it does not claim to be an MCP server";
}

const Conversation kMcp[] = {
    {"M-1/initialize", kRobust,
     "The result of `initialize` has protocolVersion, capabilities and serverInfo.",
     "Add the missing member to the result of initialize.", kInitialize,
     [](const Talk& talk) {
       for (const char* member : {"protocolVersion", "capabilities", "serverInfo"}) {
         if (!rpc_result(talk).contains(member))
           return fail(talk.last().exchange, std::string("/result/") + member, "this field",
                       "nothing");
       }
       return pass();
     }},
    {"M-2/unknown-tool", kShould, "`tools/call` of an unknown tool is answered with an error.",
     "Answer with the error -32602, or with a result that has isError: true.",
     R"(tools/call {"name": "league_check_no_such_tool", "arguments": {}})",
     [](const Talk& talk) {
       const BotReply& reply = talk.last();
       return expect(!reply.error.is_null() || value_at(rpc_result(talk), "isError") == true,
                     reply.exchange, "", "an error", shown_answer(reply));
     }},
    {"M-3/ping", kShould, "MCP's `ping`, which has no params, is answered with a result.",
     "Answer ping with the result {}, whether it has params or not.", "",
     [](const Talk& talk) {
       const rpc::Id id(talk.bench.next_id());
       const json frame = {{"jsonrpc", "2.0"}, {"id", *id.number()}, {"method", "ping"}};
       const BotReply reply = talk.bench.send(frame.dump(), id);
       return expect(value_at(reply.document, "result").is_object(), reply.exchange, "/result",
                     "{}", shown_answer(reply));
     }},
};

}  // namespace

void add_rpc_cases(PlayerBench& bench, Checks& out) { add_conversations(bench, kRpc, out); }

void add_mcp_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kMcp, out, &only_with_mcp);
}

}  // namespace league::tools::check
