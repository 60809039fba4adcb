#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "league_manager/admission/operator_key.h"
#include "league_manager/service/manager_service.h"

// The commands of ManagerService that only the operator may give.
namespace league::league_manager {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

namespace {

std::string text_of(const json& arguments, const char* name) {
  auto found = arguments.find(name);
  return found != arguments.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<OperatorCommand> command_of(const json& arguments) {
  const auto act = parse_operator_act(text_of(arguments, "act"));
  if (!act) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "act must be PAUSE, RESUME, EXTEND_ROUND, ANNOUNCE, VOID_MATCH or END_LEAGUE",
                 "/act"};
  }
  OperatorCommand command{
      .act = *act, .by = text_of(arguments, "by"), .reason = text_of(arguments, "reason")};
  if (const std::string id = text_of(arguments, "match_id"); !id.empty()) {
    command.match = MatchKey::parse(id);
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

void ManagerService::on_start_league(agent::ToolCall call) {
  if (auto refused = refusal_of_operator(call.arguments, options_.operator_key, "start_league"))
    return call.reply.refuse(*refused);
  act(std::move(call.reply),
      [](const League& league, core::UtcTimestamp now) { return league.decide_start(now); });
}

void ManagerService::on_operate_league(agent::ToolCall call) {
  const json& arguments = call.arguments;
  if (auto refused = refusal_of_operator(arguments, options_.operator_key, "operate_league"))
    return call.reply.refuse(*refused);
  auto command = command_of(arguments);
  if (!command) return call.reply.refuse(command.error());
  act(std::move(call.reply),
      [command = std::move(*command)](const League& league, core::UtcTimestamp now) {
        return league.decide_act(command, now);
      });
}

void ManagerService::act(agent::Reply given,
                         std::function<Result<Events>(const League&, core::UtcTimestamp)> decide) {
  auto reply = std::make_shared<agent::Reply>(std::move(given));
  auto refusal = std::make_shared<std::optional<Error>>();
  deps_.ledger.commit(
      [refusal, decide = std::move(decide)](const League& league, core::UtcTimestamp now) {
        auto events = decide(league, now);
        if (!events) *refusal = events.error();
        return events ? *events : Events{};
      },
      [this, reply, refusal](const Result<Events>& stored) {
        if (!stored) return reply->refuse(not_stored());
        if (*refusal) return reply->refuse(**refusal);
        reply->acknowledge([this, events = *stored] {
          deps_.league_runner.on_events(events);
          deps_.league_runner.advance();
        });
      });
}

void ManagerService::on_new_token(agent::ToolCall call) {
  if (auto refused = refusal_of_operator(call.arguments, options_.operator_key, "new_agent_token"))
    return call.reply.refuse(*refused);
  auto given = call.arguments.find("agent_id");
  std::string id =
      given != call.arguments.end() && given->is_string() ? given->get<std::string>() : "";
  auto agent = deps_.ledger.read([&id](const League& league) { return league.roster().find(id); });
  if (!agent) {
    return call.reply.refuse(
        {id.empty() ? ErrorCode::kMissingRequiredField : ErrorCode::kPlayerNotRegistered,
         "agent_id \"" + core::excerpt(id) +
             "\" is not an agent of this league: send an id such as P07 or REF01",
         "/agent_id"});
  }
  auto reply = std::make_shared<agent::Reply>(std::move(call.reply));
  std::string nonce = core::to_hex(deps_.random.bytes<16>());
  auto token = deps_.token_issuer.token(id, nonce);
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        auto hash = [&token](const std::string&, const std::string&) { return token.hash(); };
        return decide_new_token(league.roster(), *agent, {now, nonce, hash});
      },
      [this, reply, id, token](const Result<Events>& stored) {
        if (!stored) return reply->refuse(not_stored());
        const json answer = {{"status", "ok"},
                             {"agent_id", id},
                             {"league_id", options_.league_id.str()},
                             {"auth_token", token.reveal()}};
        reply->send(answer, [this, events = *stored] {
          deps_.league_runner.on_events(events);
          deps_.league_runner.advance();
        });
      });
}

}  // namespace league::league_manager
