#include "league_manager/program/manager_webhooks.h"

#include <map>
#include <nlohmann/json.hpp>

#include "common/envelope/codec.h"
#include "league_manager/rounds/league_view.h"

namespace league::league_manager {
namespace {

using nlohmann::json;

/// The type of the webhook message for a log line; empty: none is sent.
std::string_view type_of(std::string_view event) {
  static const std::map<std::string_view, std::string_view> kTypes{
      {"LEAGUE_STARTED", "league.started"},
      {"ROUND_COMPLETED", "round.completed"},
      {"LEAGUE_COMPLETED", "league.completed"},
      {"OPERATOR_ACTED", "operator.acted"}};
  const auto found = kTypes.find(event);
  return found != kTypes.end() ? found->second : std::string_view();
}

}  // namespace

core::Result<std::shared_ptr<spectators::Webhooks>> open_webhooks(
    const std::vector<std::string>& urls, const std::filesystem::path& secret_file,
    agent::host::AgentHost& host, rounds::OperatorLog& log) {
  if (urls.empty()) return std::shared_ptr<spectators::Webhooks>();
  auto targets = spectators::parse_webhook_targets(urls);
  if (!targets) return targets.error();
  auto secret = spectators::open_webhook_secret(secret_file, host.random());
  if (!secret) return secret.error();
  return std::make_shared<spectators::Webhooks>(
      std::move(*targets), std::move(*secret),
      spectators::Webhooks::Parts{.caller = host.caller(),
                                  .timer = host.timer(),
                                  .clock = host.clock(),
                                  .on_failure = [&log](const std::string& text) {
                                    log.say(true, "WEBHOOK_FAILED", text);
                                  }});
}

void send_news(const std::shared_ptr<spectators::Webhooks>& webhooks,
               const rounds::OperatorLine& line, agent::host::AgentHost& host,
               const files::Ledger& ledger) {
  const std::string_view type = type_of(line.event);
  if (type.empty()) return;
  json data = line.fields;
  data["text"] = line.text;
  if (data.contains("act")) data["at"] = host.clock().utc_now().to_log();
  // Deferred to the timer, since the calling thread can hold the ledger's lock.
  host.timer().schedule(
      std::chrono::nanoseconds(0), [webhooks, &ledger, type, data = std::move(data)]() mutable {
        ledger.read([&data](const League& league) {
          data["league_id"] = league.settings().league_id.str();
          data["standings"] = envelope::encode_standings(rounds::standings_rows(league));
        });
        std::string id = data["league_id"].get<std::string>() + "." + std::string(type);
        if (data.contains("round")) id += "." + data["round"].dump();
        if (data.contains("at")) id += "." + data["at"].get<std::string>();
        webhooks->send(type, id, data);
      });
}

}  // namespace league::league_manager
