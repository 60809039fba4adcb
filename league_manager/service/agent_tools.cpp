#include "league_manager/service/agent_tools.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/schema/fields.h"
#include "common/schema/json_fields.h"
#include "league_manager/admission/operator_key.h"

namespace league::league_manager::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

/// `shown`: its seat, if it has one.
json agent_row(events::AgentRef ref, const events::Agent& agent,
               const std::optional<agent::seats::Seats::Shown>& shown = {}) {
  const events::AgentLifecycle& lifecycle = agent.lifecycle;
  return schema::object_to_json([&](schema::Fields& a) {
    a.required("agent_id", ref.id());
    a.required("kind", events::agent_kind_name(ref.kind));
    a.required("display_name", agent.profile.display_name);
    a.required("state", events::agent_state_name(lifecycle.state()));
    a.required("since", lifecycle.state_since().to_log());
    a.required("failed_matches", lifecycle.failed_matches());
    a.required("failed_in_a_row", lifecycle.failed_in_a_row());
    a.filled("reason", lifecycle.reason());
    a.filled("detail", lifecycle.detail());
    a.filled("played_by", agent.profile.played_by);
    if (!shown) return;
    a.required("connection", agent::seats::line_name(shown->line));
    a.required("connected_since", shown->since.to_log());
  });
}

Result<events::AgentRef> find_agent(const League& league, const std::string& id) {
  if (auto agent = league.roster().find(id)) return *agent;
  return Error{ErrorCode::kInvalidFieldValue,
               "agent_id \"" + core::shown(id, 64) +
                   "\" is not an agent of this league; send an id such as P01 or REF01",
               "/agent_id"};
}

/// The constant for the reason of a shut-down; an empty `text` is the ordinary reason. Nothing for
/// an unknown one.
std::optional<std::string_view> recorded_as(std::string_view text) {
  for (auto reason :
       {events::kReasonShutDownByOperator, events::kReasonDisqualified, events::kReasonWithdrawn}) {
    if (text.empty() || text == reason) return reason;
  }
  return std::nullopt;
}

/// The credentials with which an agent acts for itself.
struct Credentials {
  std::string id;
  std::string token_hash;

  static Result<Credentials> read(const json& arguments, const char* missing) {
    std::string id = schema::text_at(arguments, "sender");
    // `player:P01`; the id alone is accepted, too, since the token proves the rest.
    id.erase(0, id.find(':') + 1);
    const core::AuthToken token(schema::text_at(arguments, "auth_token"));
    if (token.empty()) return Error{ErrorCode::kAuthTokenMissing, missing, "/auth_token"};
    return Credentials{std::move(id), token.hash()};
  }
  /// The same error for an unknown agent and for a wrong token, so that it reveals neither.
  static Error foreign() {
    return {ErrorCode::kAuthTokenInvalid,
            "sender must be player:ID (or referee:ID for tools that referees may call), and "
            "auth_token the token of its registration",
            "/auth_token"};
  }
  /// The agent; notes that it said this.
  [[nodiscard]] Result<events::AgentRef> owner(const League& league,
                                               rpc::MessageNotes* notes) const {
    const auto agent = league.roster().find(id);
    if (!agent ||
        !core::constant_time_equal(league.roster().agent(*agent).credential.token_hash, token_hash))
      return foreign();
    if (notes != nullptr)
      notes->said_by = std::string(events::agent_kind_name(agent->kind)) + ":" + agent->id();
    return *agent;
  }
};

}  // namespace

Error not_stored() {
  return {ErrorCode::kOverloaded,
          "the league manager cannot write its journal and is stopping: retry when it is back", ""};
}

std::size_t number_argument(const json& arguments, const char* name, int fallback) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(
      schema::number_at(arguments, name).value_or(fallback), 0, std::numeric_limits<int>::max()));
}

void answer_when_durable(files::Ledger& ledger, agent::peers::Reply given, Result<json> answer) {
  auto reply = std::make_shared<agent::peers::Reply>(std::move(given));
  ledger.commit([](const League&, core::UtcTimestamp) { return events::Events{}; },
                [reply, answer = std::move(answer)](const Result<events::Events>& stored) {
                  if (!stored) return reply->refuse(not_stored());
                  if (!answer) return reply->refuse(answer.error());
                  reply->send(*answer);
                });
}

void answer_command(files::Ledger& ledger, rounds::LeagueRunner& league_runner,
                    agent::peers::Reply given, Decision decide, std::shared_ptr<json> more) {
  auto reply = std::make_shared<agent::peers::Reply>(std::move(given));
  auto refusal = std::make_shared<std::optional<Error>>();
  ledger.commit(
      [refusal, decide = std::move(decide)](const League& league, core::UtcTimestamp now) {
        auto events = decide(league, now);
        if (!events) *refusal = events.error();
        return events ? *events : events::Events{};
      },
      [&league_runner, reply, refusal,
       more = std::move(more)](const Result<events::Events>& stored) {
        if (!stored) return reply->refuse(not_stored());
        if (*refusal) return reply->refuse(**refusal);
        json answer = {{"status", "ok"}};
        if (more) answer.update(*more);
        reply->send(answer, [&league_runner, events = *stored] {
          league_runner.on_events(events);
          league_runner.advance();
        });
      });
}

AgentTools::AgentTools(agent::host::AgentServer& server, files::Ledger& ledger,
                       rounds::LeagueRunner& league_runner, const core::AuthToken& operator_key,
                       const AgentRecords* records, const agent::seats::Seats* seats)
    : ledger_(ledger),
      league_runner_(league_runner),
      operator_key_(operator_key),
      records_(records),
      seats_(seats) {
  server.bind_tool("get_agents",
                   [this](agent::host::ToolCall call) { on_get_agents(std::move(call)); });
  server.bind_tool("shut_down_agent",
                   [this](agent::host::ToolCall call) { on_operator(std::move(call), true); });
  server.bind_tool("restore_agent",
                   [this](agent::host::ToolCall call) { on_operator(std::move(call), false); });
  server.bind_tool("withdraw",
                   [this](agent::host::ToolCall call) { on_withdraw(std::move(call)); });
  server.bind_tool("drain_referee",
                   [this](agent::host::ToolCall call) { on_drain_referee(std::move(call)); });
  if (records_ != nullptr)
    server.bind_tool("get_my_report",
                     [this](agent::host::ToolCall call) { on_get_my_report(std::move(call)); });
}

void AgentTools::on_get_agents(agent::host::ToolCall call) const {
  const std::size_t offset = number_argument(call.arguments, "offset", 0);
  const std::size_t limit =
      std::min<std::size_t>(number_argument(call.arguments, "limit", kPage), kPage);
  json answer = ledger_.read([this, offset, limit](const League& league) {
    const Roster& roster = league.roster();
    std::vector<events::AgentRef> agents;
    for (auto kind : {events::AgentKind::kReferee, events::AgentKind::kPlayer}) {
      for (int i = 0; i < roster.count(kind); ++i)
        if (!roster.agent({kind, i}).is_free) agents.push_back({kind, i});
    }
    json page = json::array();
    for (std::size_t i = offset; i < agents.size() && i - offset < limit; ++i) {
      const auto shown = seats_ != nullptr ? seats_->shown(agents[i].id()) : std::nullopt;
      page.push_back(agent_row(agents[i], roster.agent(agents[i]), shown));
    }
    return json{{"total_agents", agents.size()}, {"agents", std::move(page)}};
  });
  answer_when_durable(ledger_, std::move(call.reply), std::move(answer));
}

void AgentTools::on_operator(agent::host::ToolCall call, bool shuts_down) {
  const char* tool = shuts_down ? "shut_down_agent" : "restore_agent";
  if (auto refused = admission::refusal_of_operator(call.arguments, operator_key_, tool))
    return call.reply.refuse(*refused);
  const auto as = recorded_as(schema::text_at(call.arguments, "as"));
  if (!as) {
    return call.reply.refuse({ErrorCode::kInvalidFieldValue,
                              "as must be SHUT_DOWN_BY_OPERATOR, DISQUALIFIED or WITHDRAWN",
                              "/as"});
  }
  answer_command(
      ledger_, league_runner_, std::move(call.reply),
      [shuts_down, as = *as, id = schema::text_at(call.arguments, "agent_id"),
       reason = schema::text_at(call.arguments, "reason"),
       by = schema::text_at(call.arguments, "by")](const League& league, core::UtcTimestamp now) {
        auto agent = find_agent(league, id);
        if (!agent) return Result<events::Events>(agent.error());
        return shuts_down ? league.decide_shut_down(*agent, as, reason, now, by)
                          : league.decide_restore(*agent, reason, now, by);
      });
}

void AgentTools::on_withdraw(agent::host::ToolCall call) {
  auto shown = Credentials::read(call.arguments, "withdraw needs the agent's own auth_token");
  if (!shown) return call.reply.refuse(shown.error());
  answer_command(
      ledger_, league_runner_, std::move(call.reply),
      [shown = std::move(*shown), reason = schema::text_at(call.arguments, "reason"),
       notes = call.notes](const League& league, core::UtcTimestamp now) -> Result<events::Events> {
        auto player = shown.owner(league, notes.get());
        // Before the start any agent can free its seat; a referee that leaves later is drained.
        if (player && player->kind != events::AgentKind::kPlayer &&
            league.state() != LeagueState::kRegistering)
          player = Credentials::foreign();
        if (!player) return player.error();
        return league.decide_shut_down(*player, events::kReasonWithdrawn, reason, now);
      });
}

void AgentTools::on_drain_referee(agent::host::ToolCall call) {
  auto shown =
      Credentials::read(call.arguments, "drain_referee needs the referee's own auth_token");
  if (!shown) return call.reply.refuse(shown.error());
  auto more = std::make_shared<json>();
  answer_command(
      ledger_, league_runner_, std::move(call.reply),
      [shown = std::move(*shown), more, notes = call.notes](
          const League& league, core::UtcTimestamp now) -> Result<events::Events> {
        auto referee = shown.owner(league, notes.get());
        if (referee && referee->kind != events::AgentKind::kReferee)
          referee = Credentials::foreign();
        if (!referee) return referee.error();
        *more = {{"open_matches", league.board().open_count(referee->index)}};
        return league.decide_referee_drain(referee->index, now);
      },
      more);
}

void AgentTools::on_get_my_report(agent::host::ToolCall call) const {
  auto shown = Credentials::read(call.arguments, "get_my_report needs the agent's own auth_token");
  if (!shown) return call.reply.refuse(shown.error());
  auto answer = ledger_.read([&](const League& league) -> Result<json> {
    const auto agent = shown->owner(league, call.notes.get());
    if (!agent) return agent.error();
    json report = agent_row(*agent, league.roster().agent(*agent));
    report.update(records_->report_of(*agent));
    return report;
  });
  answer_when_durable(ledger_, std::move(call.reply), std::move(answer));
}

}  // namespace league::league_manager::service
