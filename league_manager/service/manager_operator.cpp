#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "league_manager/admission/operator_key.h"
#include "league_manager/service/manager_service.h"

// What only the operator may have done.
namespace league::league_manager {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

void ManagerService::on_start_league(agent::ToolCall call) {
  if (auto refused = refusal_of_operator(call.arguments, options_.operator_key, "start_league"))
    return call.reply.refuse(*refused);
  auto reply = std::make_shared<agent::Reply>(std::move(call.reply));
  auto refusal = std::make_shared<std::optional<Error>>();
  deps_.ledger.commit(
      [refusal](const League& league, core::UtcTimestamp now) {
        auto events = league.decide_start(now);
        if (!events) *refusal = events.error();
        return events ? *events : Events{};
      },
      [this, reply, refusal](const Result<Events>& stored) {
        if (!stored) return reply->refuse(not_stored());
        if (*refusal) return reply->refuse(**refusal);
        reply->acknowledge([this, events = *stored] {
          deps_.conductor.on_events(events);
          deps_.conductor.advance();
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
             "\" is no agent of this league: send an id such as P07 or REF01",
         "/agent_id"});
  }
  auto reply = std::make_shared<agent::Reply>(std::move(call.reply));
  std::string nonce = core::to_hex(deps_.random.bytes<16>());
  auto token = deps_.vault.token(id, nonce);
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        auto hash = [&token](const std::string&, const std::string&) { return token.hash(); };
        return decide_new_token(league.roster(), *agent, {now, nonce, hash});
      },
      [this, reply, id, token](const Result<Events>& stored) {
        if (!stored) return reply->refuse(not_stored());
        json answer = {{"status", "ok"},
                       {"agent_id", id},
                       {"league_id", options_.league_id.str()},
                       {"auth_token", token.reveal()}};
        reply->send(std::move(answer), [this, events = *stored] {
          deps_.conductor.on_events(events);
          deps_.conductor.advance();
        });
      });
}

}  // namespace league::league_manager
