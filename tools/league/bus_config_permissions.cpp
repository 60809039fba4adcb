#include "tools/league/bus_config.h"

namespace league::tools {
namespace {

using Kind = BusPermission::Kind;

constexpr std::string_view kFind = "looks for its league and attaches";
constexpr std::string_view kSay = "speaks to the manager by its own session, and by no other";
constexpr std::string_view kHear = "what is sent to its session";
constexpr std::string_view kAnswers = "answers to its own requests";
constexpr std::string_view kNews = "what the league tells everybody";

std::vector<BusPermission> agent_rows(BusRole role) {
  return {{role, Kind::kPublish, "mcp.discovery", kFind},
          {role, Kind::kPublish, "mcp.session.{session}.in", kSay},
          {role, Kind::kSubscribe, "mcp.session.{session}.out", kHear},
          {role, Kind::kSubscribe, "_INBOX.{session}.>", kAnswers},
          {role, Kind::kSubscribe, "mcp.events.{league}.>", kNews}};
}

std::vector<BusPermission> manager_rows() {
  constexpr auto kRole = BusRole::kManager;
  return {
      {kRole, Kind::kPublish, "mcp.>", "speaks to every session and publishes events and work"},
      {kRole, Kind::kPublish, "_INBOX.>", "answers whoever asks, at any time"},
      {kRole, Kind::kPublish, "$JS.API.>", "makes streams, their readers and the lease's bucket"},
      {kRole, Kind::kPublish, "$JS.ACK.>", "has taken a message of a stream"},
      {kRole, Kind::kPublish, "$JS.FC.>", "keeps pace with a stream that is pushed to it"},
      {kRole, Kind::kPublish, "$KV.>", "writes the lease that says who manages"},
      {kRole, Kind::kSubscribe, "mcp.>", "hears discovery and every session"},
      {kRole, Kind::kSubscribe, "_INBOX.>", kAnswers}};
}

std::vector<BusPermission> referee_rows() {
  constexpr auto kRole = BusRole::kReferee;
  auto rows = agent_rows(kRole);
  rows.insert(
      rows.end(),
      {{kRole, Kind::kPublish, "mcp.session.*.out", "calls the players of its matches"},
       // Whoever can send itself a message with a reply subject may publish there: the broker takes
       // that for an answer. With this row no referee can, nor two for each other.
       {kRole, Kind::kPublishNot, "mcp.session.{referee}.out",
        "could allow itself any subject by a request to itself"},
       {kRole, Kind::kPublish, "$JS.API.CONSUMER.INFO.LEAGUE_WORK_{league}.>",
        "finds the queue of matches"},
       {kRole, Kind::kPublish, "$JS.API.CONSUMER.MSG.NEXT.LEAGUE_WORK_{league}.>",
        "asks for the next match"},
       {kRole, Kind::kPublish, "$JS.ACK.LEAGUE_WORK_{league}.>",
        "has played a match, or goes on"}});
  return rows;
}

std::vector<BusPermission> operator_rows() {
  constexpr auto kRole = BusRole::kOperator;
  auto rows = agent_rows(kRole);
  rows.insert(
      rows.end(),
      {{kRole, Kind::kSubscribe, "mcp.events.>", "watches all leagues of the broker"},
       {kRole, Kind::kPublish, "$JS.API.>", "looks after streams; trusted like the manager"},
       {kRole, Kind::kPublish, "$JS.ACK.>", "reads streams"}});
  return rows;
}

}  // namespace

const std::vector<BusPermission>& bus_permissions() {
  static const std::vector<BusPermission> kRows = [] {
    auto rows = manager_rows();
    for (const auto& more : {operator_rows(), referee_rows(), agent_rows(BusRole::kPlayer)})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return kRows;
}

}  // namespace league::tools
