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

json result_of(const BotReply& reply) { return field_at(reply.document, "result"); }

std::string only_with_mcp(PlayerBench& bench) {
  const json result = result_of(bench.call("initialize", initialize_params()));
  if (result.is_object() && result.contains("protocolVersion")) return {};
  return "the bot does not answer `initialize`, so it does not claim to be an MCP server";
}

const Probe<PlayerBench> kMcpProbes[] = {
    {"M-1/initialize", Level::kRobust,
     "The result of `initialize` has protocolVersion, capabilities and serverInfo.",
     "Add the missing member to the result of initialize.",
     [](PlayerBench& bench) {
       const BotReply reply = bench.call("initialize", initialize_params());
       const json result = result_of(reply);
       for (const char* member : {"protocolVersion", "capabilities", "serverInfo"}) {
         if (!result.contains(member))
           return fail(reply.exchange, std::string("/result/") + member, "this field", "nothing");
       }
       return pass();
     }},
    {"M-2/unknown-tool", Level::kShould,
     "`tools/call` of an unknown tool is answered with an error.",
     "Answer with the error -32602, or with a result that has isError: true.",
     [](PlayerBench& bench) {
       const BotReply reply = bench.call(
           "tools/call", {{"name", "league_check_no_such_tool"}, {"arguments", json::object()}});
       return expect(!reply.error.is_null() || field_at(result_of(reply), "isError") == true,
                     reply.exchange, "", "an error", shown_answer(reply));
     }},
    {"M-3/ping", Level::kShould, "MCP's `ping`, which has no params, is answered with a result.",
     "Answer ping with the result {}, whether it has params or not.",
     [](PlayerBench& bench) {
       const std::int64_t id = bench.next_id();
       const BotReply reply =
           bench.send(json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}}.dump(), rpc::Id(id));
       return expect(result_of(reply).is_object(), reply.exchange, "/result", "{}",
                     shown_answer(reply));
     }},
};

}  // namespace

void add_mcp_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kMcpProbes, out, &only_with_mcp);
}

}  // namespace league::tools::check
