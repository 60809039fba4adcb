#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/schema/json_fields.h"
#include "league_manager/admission/operator_key.h"
#include "league_manager/service/manager_service.h"

// The commands of ManagerService that only the operator may give.
namespace league::league_manager::service {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

namespace {

Result<OperatorCommand> command_of(const json& arguments) {
  const auto act = events::parse_operator_act(schema::text_at(arguments, "act"));
  if (!act) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "act must be PAUSE, RESUME, EXTEND_ROUND, ANNOUNCE, VOID_MATCH or END_LEAGUE",
                 "/act"};
  }
  OperatorCommand command{.act = *act,
                          .by = schema::text_at(arguments, "by"),
                          .reason = schema::text_at(arguments, "reason")};
  if (const std::string id = schema::text_at(arguments, "match_id"); !id.empty()) {
    command.match = events::MatchKey::parse(id);
    if (!command.match) {
      return Error{ErrorCode::kMatchNotFound,
                   "match_id \"" + core::excerpt(id) + "\" is not of the form R1M1", "/match_id"};
    }
  }
  auto replay = arguments.find("replay");
  command.replays = replay != arguments.end() && replay->is_boolean() && replay->get<bool>();
  auto seconds = arguments.find("seconds");
  if (seconds != arguments.end() && seconds->is_number_unsigned())
    command.seconds = static_cast<int>(
        std::min<std::uint64_t>(seconds->get<std::uint64_t>(), std::numeric_limits<int>::max()));
  return command;
}

}  // namespace

void ManagerService::on_start_league(agent::host::ToolCall call) {
  if (auto refused =
          admission::refusal_of_operator(call.arguments, options_.operator_key, "start_league"))
    return call.reply.refuse(*refused);
  answer_command(
      deps_.ledger, deps_.league_runner, std::move(call.reply),
      [](const League& league, core::UtcTimestamp now) { return league.decide_start(now); });
}

void ManagerService::on_operate_league(agent::host::ToolCall call) {
  const json& arguments = call.arguments;
  if (auto refused =
          admission::refusal_of_operator(arguments, options_.operator_key, "operate_league"))
    return call.reply.refuse(*refused);
  auto command = command_of(arguments);
  if (!command) return call.reply.refuse(command.error());
  answer_command(deps_.ledger, deps_.league_runner, std::move(call.reply),
                 [command = std::move(*command)](const League& league, core::UtcTimestamp now) {
                   return league.decide_act(command, now);
                 });
}

void ManagerService::on_new_token(agent::host::ToolCall call) {
  if (auto refused =
          admission::refusal_of_operator(call.arguments, options_.operator_key, "new_agent_token"))
    return call.reply.refuse(*refused);
  const std::string& id = schema::text_at(call.arguments, "agent_id");
  auto agent = deps_.ledger.read([&id](const League& league) { return league.roster().find(id); });
  if (!agent) {
    return call.reply.refuse(
        {id.empty() ? ErrorCode::kMissingRequiredField : ErrorCode::kPlayerNotRegistered,
         "agent_id \"" + core::excerpt(id) +
             "\" is not an agent of this league: send an id such as P07 or REF01",
         "/agent_id"});
  }
  std::string nonce = core::to_hex(deps_.random.bytes<16>());
  auto token = deps_.token_issuer.token(id, nonce);
  auto more = std::make_shared<json>(json{
      {"agent_id", id}, {"league_id", options_.league_id.str()}, {"auth_token", token.reveal()}});
  auto decide = [agent = *agent, nonce = std::move(nonce), token = std::move(token)](
                    const League& league, core::UtcTimestamp now) {
    auto hash = [&token](const std::string&, const std::string&) { return token.hash(); };
    return Result<events::Events>(decide_new_token(league.roster(), agent, {now, nonce, hash}));
  };
  answer_command(deps_.ledger, deps_.league_runner, std::move(call.reply), std::move(decide),
                 std::move(more));
}

}  // namespace league::league_manager::service
