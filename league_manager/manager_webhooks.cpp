#include "league_manager/manager_webhooks.h"

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

core::Result<std::unique_ptr<ManagerWebhooks>> ManagerWebhooks::open(
    const std::vector<std::string>& urls, const std::filesystem::path& secret_file,
    agent::AgentHost& host, Ledger& ledger, OperatorLog& log) {
  std::unique_ptr<ManagerWebhooks> made(new ManagerWebhooks(host, ledger));
  if (urls.empty()) return made;
  auto targets = parse_webhook_targets(urls);
  if (!targets) return targets.error();
  auto secret = open_webhook_secret(secret_file, host.random());
  if (!secret) return secret.error();
  made->webhooks_ =
      std::make_shared<Webhooks>(std::move(*targets), std::move(*secret),
                                 Webhooks::Parts{.caller = host.caller(),
                                                 .timer = host.timer(),
                                                 .clock = host.clock(),
                                                 .on_failure = [&log](const std::string& text) {
                                                   log.say(true, "WEBHOOK_FAILED", text);
                                                 }});
  return made;
}

void ManagerWebhooks::on_line(const OperatorLine& line) {
  const std::string_view type = type_of(line.event);
  if (!webhooks_ || type.empty()) return;
  json data = line.fields;
  data["text"] = line.text;
  if (data.contains("act")) data["at"] = host_.clock().utc_now().to_log();
  // Deferred to the timer, since the calling thread can hold the ledger's lock.
  host_.timer().schedule(std::chrono::nanoseconds(0), [webhooks = webhooks_, &ledger = ledger_,
                                                       type, data = std::move(data)]() mutable {
    ledger.read([&data](const League& league) {
      data["league_id"] = league.settings().league_id.str();
      data["standings"] = envelope::encode_standings(standings_rows(league));
    });
    std::string id = data["league_id"].get<std::string>() + "." + std::string(type);
    if (data.contains("round")) id += "." + data["round"].dump();
    if (data.contains("at")) id += "." + data["at"].get<std::string>();
    webhooks->send(type, id, data);
  });
}

void ManagerWebhooks::finish() {
  if (webhooks_) webhooks_->finish(std::chrono::seconds(2));
}

}  // namespace league::league_manager
