// The rules of JSON-RPC 2.0.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

Verdict expect_code(const BotReply& reply, int code) {
  return expect(reply.code() == code, reply.exchange, "/error/code", std::to_string(code),
                reply.code() == 0 ? shown_answer(reply) : std::to_string(reply.code()));
}

/// Sends an invitation with this request id, and expects the same id in the answer.
Verdict expect_id_echoed(PlayerBench& bench, const json& id) {
  const TestMatch match = bench.new_match();
  json frame =
      json::parse(bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(1)));
  frame["id"] = id;
  const auto wanted = rpc::Id::from_json(id).value_or(rpc::Id());
  const BotReply reply = bench.send(frame.dump(), wanted);
  const json& got = field_at(reply.document, "id");
  return expect(
      got.is_string() == id.is_string() && got == id && !got.is_number_float(), reply.exchange,
      "/id", id.dump(),
      reply.document.is_object() ? shown_value(reply.document, "id") : shown_answer(reply));
}

const Probe<PlayerBench> kRpcProbes[] = {
    {"P-1/large-id", Level::kRobust, "A response repeats an integer id of 53 bits unchanged.",
     "Keep the id as an integer. Do not convert it to a floating-point number.",
     [](PlayerBench& bench) { return expect_id_echoed(bench, 9007199254740991); }},
    {"P-1/id-zero", Level::kRobust, "A request with the id 0 is answered like any other.",
     "Check whether the id is missing (in Python: `is None`), not whether it is false.",
     [](PlayerBench& bench) { return expect_id_echoed(bench, 0); }},
    {"P-1/string-id", Level::kShould, "A response repeats a string id unchanged.",
     "Copy the id from the request, whatever its type.",
     [](PlayerBench& bench) { return expect_id_echoed(bench, "call-7"); }},
    {"P-5/unknown-method", Level::kRobust,
     "A call of an unknown method is answered with the error -32601.",
     "Answer {\"jsonrpc\": \"2.0\", \"id\": ID, \"error\": {\"code\": -32601, \"message\": "
     "\"Method not found\"}}.",
     [](PlayerBench& bench) {
       return expect_code(bench.call("league_check_no_such_method", json::object()), -32601);
     }},
    {"P-5/unknown-method-id", Level::kRobust, "An error response repeats the request's id.",
     "Copy the id into error responses, too.",
     [](PlayerBench& bench) {
       const BotReply reply = bench.call("league_check_no_such_method", json::object());
       const json sent = json::parse(reply.exchange.sent);
       return expect(field_at(reply.document, "id") == sent["id"], reply.exchange, "/id",
                     sent["id"].dump(), shown_value(reply.document, "id"));
     }},
    {"P-5/error-message", Level::kShould, "An error has a `message`, which is a string.",
     "Add error.message, and say in it what is wrong.",
     [](PlayerBench& bench) {
       const BotReply reply = bench.call("league_check_no_such_method", json::object());
       return expect(field_at(reply.error, "message").is_string(), reply.exchange, "/error/message",
                     "a string", shown_value(reply.error, "message"));
     }},
    {"P-5/parse-error", Level::kRobust,
     "A body that is not JSON is answered with the error -32700.",
     "Catch the JSON parser's exception, and answer {\"jsonrpc\": \"2.0\", \"id\": null, "
     "\"error\": {\"code\": -32700, \"message\": \"Parse error\"}}.",
     [](PlayerBench& bench) {
       if (!bench.is_http()) return skip(kOnlyHttpHasNoIds);
       return expect_code(bench.send("{\"jsonrpc\": \"2.0\", \"id\": 1, ", rpc::Id(1)), -32700);
     }},
    {"P-5/invalid-request", Level::kRobust,
     "A request without `method` is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.",
     [](PlayerBench& bench) {
       return expect_code(bench.send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711)), -32600);
     }},
    {"P-5/method-no-text", Level::kShould,
     "A request whose `method` is a number is answered with the error -32600.",
     "Answer with the error -32600 if method is missing or not a string.",
     [](PlayerBench& bench) {
       return expect_code(
           bench.send(R"({"jsonrpc":"2.0","id":7712,"method":5,"params":{}})", rpc::Id(7712)),
           -32600);
     }},
    {"P-5/params-array", Level::kShould,
     "A call whose `params` are an array is answered with the error -32602.",
     "Answer with the error -32602 if params is not an object.",
     [](PlayerBench& bench) {
       return expect_code(bench.call("handle_game_invitation", json::array({1, 2})), -32602);
     }},
    {"P-5/params-missing", Level::kRobust,
     "A call of the game without `params` is answered with an error.",
     "Answer with the error -32602 if params is missing.",
     [](PlayerBench& bench) {
       return expect_refused(
           bench.send(R"({"jsonrpc":"2.0","id":7713,"method":"handle_game_invitation"})",
                      rpc::Id(7713)),
           "params is missing");
     }},
    {"P-5/no-own-codes", Level::kShould,
     "An error about a message has the code -32602, not one from -32099 to -32000.",
     "Set error.code to -32602 if a message is wrong, and put the league's code (E003) into "
     "error.data.error_code.",
     [](PlayerBench& bench) {
       json message = bench.invitation(bench.new_match());
       message.erase("match_id");
       const BotReply reply = bench.ask(MessageType::kGameInvitation, message);
       const int code = reply.code();
       return expect(code < -32099 || code > -32000, reply.exchange, "/error/code", "-32602",
                     std::to_string(code));
     }},
    {"P-1/notification", Level::kRobust,
     "The bot keeps working after a notification (a call without an id).",
     "Treat a missing id as null; do not read request[\"id\"] without checking that it is there.",
     [](PlayerBench& bench) {
       return survive_bytes(
           bench, R"({"jsonrpc":"2.0","method":"notifications/league_check","params":{}})",
           rpc::Id());
     }},
    {"P-1/batch", Level::kRobust, "The bot keeps working after a batch (an array of requests).",
     "Answer an array with the error -32600, or with an array of responses.",
     [](PlayerBench& bench) {
       return survive_bytes(
           bench,
           R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])");
     }},
    {"P-1/extra-members", Level::kRobust, "The bot ignores unknown members of a JSON-RPC request.",
     "Read the members that you know, and ignore all others.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       const std::int64_t id = bench.next_id();
       json frame = json::parse(
           bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id)));
       frame["trace"] = {{"span", 1}};
       return expect_accepted(bench.send(frame.dump(), rpc::Id(id)),
                              "the request has an unknown member");
     }},
    {"P-1/escaped-text", Level::kRobust,
     "The bot reads JSON that contains escapes (\\u005f) and white space.",
     "Use a JSON parser; do not search the text.",
     [](PlayerBench& bench) {
       const TestMatch match = bench.new_match();
       const std::int64_t id = bench.next_id();
       const json frame = json::parse(
           bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id)));
       std::string bytes = frame.dump(bench.is_http() ? 2 : -1);
       const std::size_t at = bytes.find("GAME_INVITATION");
       if (at != std::string::npos) bytes.replace(at, 5, "GAME\\u005f");
       return expect_accepted(bench.send(bytes, rpc::Id(id)), "it contains escapes");
     }},
};

}  // namespace

void add_rpc_checks(PlayerBench& bench, Checks& out) { add_probes(bench, kRpcProbes, out); }

}  // namespace league::tools::check
