// How matches reach referees that do not take them from ROUND_ANNOUNCEMENT.
#include <future>

#include "common/agent/dialects/call_dialects.h"
#include "common/core/clock.h"
#include "league_manager/rounds/match_starter.h"
#include "tools/check/roles/referee_bench.h"

namespace league::tools::check {

using envelope::MessageType;
using nlohmann::json;

/// The league manager's own ways of starting matches at third-party referees.
struct RefereeBench::OtherWays {
  OtherWays(Wire& wire, const std::string& league_id)
      : peers(wire.caller(), schemas, clock, envelope::Mode::kOpen),
        envelopes(envelope::Sender::league_manager(), core::LeagueId(league_id), clock),
        starter(peers, envelopes, milliseconds(5000)) {}

  core::SystemClock clock;
  envelope::MessageSchemas schemas = std::move(*envelope::MessageSchemas::load());
  agent::peers::PeerClient peers;
  envelope::EnvelopeBuilder envelopes;
  league_manager::rounds::MatchStarter starter;
  task::Scope tasks{task::Executor(), nullptr};

  /// Whether the referee has taken the match.
  [[nodiscard]] bool start(league_manager::rounds::MatchStarter::Order order) {
    std::promise<bool> taken;
    tasks.spawn(start_and_tell(std::move(order), &taken));
    return taken.get_future().get();
  }

 private:
  task::Task<void> start_and_tell(league_manager::rounds::MatchStarter::Order order,
                                  std::promise<bool>* taken) {
    const auto error = co_await starter.start(std::move(order));
    taken->set_value(!error);
  }
};

RefereeBench::~RefereeBench() = default;

bool RefereeBench::is_foreign() const {
  if (!registration_) return false;
  return field_at(registration_->meta(), "match_credentials") != json(true);
}

BotReply RefereeBench::start(const json& message) {
  const auto& endpoint = rpc_.bot().endpoint;
  BotReply reply;
  if (!other_ways_ || !other_ways_->starter.is_known(endpoint)) {
    reply = rpc_.ask(MessageType::kRoundAnnouncement, message);
    const auto error = reply.rpc_error();
    if (!error || !agent::dialects::says_no_such_method(*error, {}, true)) return reply;
  }
  const json& matches = field_at(message, "matches");
  if (!matches.is_array() || matches.empty()) return reply;
  if (!other_ways_) other_ways_ = std::make_shared<OtherWays>(wire_, rpc_.bot().league_id);
  // What it said to the announcement is no fault of a referee that takes matches in another way.
  if (other_ways_->start({.referee = endpoint,
                          .peer = "referee:" + rpc_.bot().id,
                          .token = rpc_.bot().token,
                          .round = 1,
                          .match = matches.front()}))
    reply.error = nullptr;
  return reply;
}

std::optional<MockAnswer> RefereeBench::answer_to_poll(const InboundCall& call) {
  const bool asks_for_players =
      call.type() == "LEAGUE_QUERY" && call.text("query_type") == "GET_REGISTRATIONS";
  const bool asks_for_matches = call.method == "get_assigned_matches";
  if (!asks_for_players && !asks_for_matches) return std::nullopt;
  std::lock_guard lock(mutex_);
  polls_ = true;
  if (asks_for_players) {
    json players = json::array();
    for (std::size_t seat = 0; seat < servers_.size(); ++seat)
      players.push_back({{"player_id", player_id(seat)},
                         {"display_name", "check_player"},
                         {"endpoint", url(seat)},
                         {"contact_endpoint", url(seat)}});
    return MockAnswer{.result = {{"status", "ok"}, {"success", true}, {"players", players}}};
  }
  json matches = json::array();
  for (auto& [id, running] : running_) {
    if (!running.trace.reports.empty()) continue;
    json row = running.row;
    row.update(
        {{"round", 1}, {"round_id", 1}, {"status", running.is_shown ? "IN_PROGRESS" : "PENDING"}});
    running.is_shown = true;
    matches.push_back(std::move(row));
  }
  league_manager::rounds::add_spellings(matches);
  return MockAnswer{
      .result = {{"status", "ok"}, {"referee_id", rpc_.bot().id}, {"matches", matches}}};
}

std::string RefereeBench::missing_call() const {
  std::lock_guard lock(mutex_);
  if (stray_.empty()) return "no such call came";
  return "it called " + stray_ + " in place of the address that the assignment announces";
}

}  // namespace league::tools::check
