#include "bus/commands/bus_config.h"

namespace league::tools {
namespace {

using Kind = BusPermission::Kind;

constexpr std::string_view kFind = "looks for its league and attaches";
constexpr std::string_view kSay = "calls the manager from its own session, and from no other";
constexpr std::string_view kHear = "what is sent to its session";
constexpr std::string_view kAnswers = "answers to its own requests";
constexpr std::string_view kNews = "what the league tells everybody";

std::vector<BusPermission> agent_rows(BusRole role) {
  return {{role, Kind::kPublish, "mcp.discovery.{session}", kFind},
          {role, Kind::kPublish, "mcp.session.{session}.in", kSay},
          {role, Kind::kSubscribe, "mcp.session.{session}.out", kHear},
          {role, Kind::kSubscribe, "_INBOX.{session}.>", kAnswers},
          {role, Kind::kSubscribe, "mcp.events.{league}.>", kNews}};
}

std::vector<BusPermission> manager_rows() {
  constexpr auto kRole = BusRole::kManager;
  return {{kRole, Kind::kPublish, "mcp.>", "calls every session and publishes events"},
          {kRole, Kind::kPublish, "_INBOX.>", "answers everybody, at any time"},
          {kRole, Kind::kSubscribe, "mcp.>", "receives discovery and all sessions"},
          {kRole, Kind::kSubscribe, "_INBOX.>", kAnswers}};
}

/// A row for the account of the streams.
BusPermission at_streams(BusRole role, Kind kind, std::string_view subject,
                         std::string_view reason) {
  return {role, kind, subject, reason, BusAccount::kStreams};
}

std::vector<BusPermission> manager_stream_rows() {
  constexpr auto kRole = BusRole::kManager;
  return {at_streams(kRole, Kind::kPublish, "$JS.API.>", "makes streams and their readers"),
          at_streams(kRole, Kind::kPublish, "$JS.ACK.>", "has taken a message of a stream"),
          at_streams(kRole, Kind::kPublish, "mcp.events.{league}.>", kNews),
          at_streams(kRole, Kind::kPublish, "mcp.journal.{league}.*",
                     "the entries of its journal, and its heartbeats"),
          at_streams(kRole, Kind::kSubscribe, "mcp.journal.{league}.beat",
                     "which managers there are, and what they have of the journal"),
          at_streams(kRole, Kind::kSubscribe, "_INBOX.{session}.>", kAnswers)};
}

std::vector<BusPermission> operator_stream_rows() {
  constexpr auto kRole = BusRole::kOperator;
  return {
      at_streams(kRole, Kind::kPublish, "$JS.API.>", "manages streams; trusted like the manager"),
      at_streams(kRole, Kind::kPublish, "$JS.ACK.>", "reads streams"),
      at_streams(kRole, Kind::kSubscribe, "mcp.events.{league}.>", kNews),
      at_streams(kRole, Kind::kSubscribe, "_INBOX.{session}.>", kAnswers)};
}

std::vector<BusPermission> referee_rows() {
  constexpr auto kRole = BusRole::kReferee;
  auto rows = agent_rows(kRole);
  rows.insert(rows.end(),
              {{kRole, Kind::kPublish, "mcp.session.*.out", "calls the players of its matches"},
               {kRole, Kind::kSubscribe, "mcp.session.*.attached", "which players are back"},
               // An agent that can send itself a message with a reply subject may publish to that
               // subject, because the broker takes this for an answer. This row keeps a referee
               // from doing so, and two referees from doing it for each other.
               {kRole, Kind::kPublishNot, "mcp.session.{referee}.out",
                "with a request to itself it could publish to any subject"}});
  return rows;
}

std::vector<BusPermission> operator_rows() {
  constexpr auto kRole = BusRole::kOperator;
  auto rows = agent_rows(kRole);
  rows.push_back({kRole, Kind::kSubscribe, "mcp.events.>", "watches all leagues of the broker"});
  return rows;
}

}  // namespace

const std::vector<BusPermission>& bus_permissions() {
  static const std::vector<BusPermission> kRows = [] {
    auto rows = manager_rows();
    for (const auto& more : {operator_rows(), referee_rows(), agent_rows(BusRole::kPlayer),
                             manager_stream_rows(), operator_stream_rows()})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return kRows;
}

}  // namespace league::tools
