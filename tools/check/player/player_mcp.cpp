// The basics of the Model Context Protocol, for bots that claim it by answering `initialize`.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

json initialize_params() {
  return {{"protocolVersion", "2025-06-18"},
          {"capabilities", json::object()},
          {"clientInfo", {{"name", "league-check"}, {"version", "1"}}}};
}

json result_of(const BotReply& reply) {
  return reply.document.is_object() ? reply.document.value("result", json()) : json();
}

void add_of_mcp(PlayerBench& bench, Checks& out, const char* id, Level level, const char* text,
                const char* fix, std::function<Verdict()> run) {
  out.push_back(
      {{.id = id, .level = level, .text = text, .fix = fix}, [&bench, run = std::move(run)] {
         const BotReply hello = bench.call("initialize", initialize_params());
         const json result = result_of(hello);
         const bool claims_mcp = result.is_object() && result.contains("protocolVersion");
         return claims_mcp ? run()
                           : skip(
                                 "the bot does not answer `initialize`, so it does not claim to be "
                                 "an MCP server");
       }});
}

}  // namespace

void add_mcp_checks(PlayerBench& bench, Checks& out) {
  add_of_mcp(bench, out, "M-1/initialize", Level::kMust,
             "The result of `initialize` has protocolVersion, capabilities and serverInfo.",
             "Add the missing member to the result of initialize.", [&bench] {
               const BotReply reply = bench.call("initialize", initialize_params());
               const json result = result_of(reply);
               for (const char* member : {"protocolVersion", "capabilities", "serverInfo"}) {
                 if (!result.contains(member))
                   return fail(reply.exchange, std::string("/result/") + member, "this field",
                               "nothing");
               }
               return pass();
             });
  add_of_mcp(bench, out, "M-2/unknown-tool", Level::kShould,
             "`tools/call` of an unknown tool is answered with an error.",
             "Answer with the error -32602, or with a result that has isError: true.", [&bench] {
               const BotReply reply = bench.call(
                   "tools/call",
                   {{"name", "league_check_no_such_tool"}, {"arguments", json::object()}});
               const json result = result_of(reply);
               if (!reply.error.is_null() ||
                   (result.is_object() && result.value("isError", json()) == true))
                 return pass();
               return fail(reply.exchange, "", "an error", shown_answer(reply));
             });
  add_of_mcp(bench, out, "M-3/ping", Level::kShould,
             "MCP's `ping`, which has no params, is answered with a result.",
             "Answer ping with the result {}, whether it has params or not.", [&bench] {
               const std::int64_t id = bench.next_id();
               const BotReply reply = bench.send(
                   json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}}.dump(), rpc::Id(id));
               if (result_of(reply).is_object()) return pass();
               return fail(reply.exchange, "/result", "{}", shown_answer(reply));
             });
}

}  // namespace league::tools::check
