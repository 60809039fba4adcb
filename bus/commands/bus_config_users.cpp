#include "bus/commands/bus_config.h"

namespace league::tools {
namespace {

using Kind = BusPermission::Kind;

// Up to 16 messages for one request, since events can precede the answer; five minutes, since a
// player can be slow.
constexpr std::string_view kResponses = R"({ max: 16, expires: "5m" })";
constexpr std::string_view kLeagueAccount = "LEAGUE";
constexpr std::string_view kStreamsAccount = "STREAMS";

std::string with(std::string text, std::string_view placeholder, const std::string& value) {
  auto at = text.find(placeholder);
  return at == std::string::npos ? text : text.replace(at, placeholder.size(), value);
}

/// Whether the row applies to the user.
bool is_for(const BusPermission& row, const BusUser& agent, BusAccount account) {
  return row.role == agent.role && row.account == account;
}

std::vector<std::string> subjects_of(const BusConfig& config, const BusUser& agent,
                                     BusAccount account, Kind kind) {
  std::vector<std::string> subjects;
  for (const auto& row : bus_permissions()) {
    if (!is_for(row, agent, account) || row.kind != kind) continue;
    std::string subject = with(with(std::string(row.subject), "{session}", agent.session.str()),
                               "{league}", league_token(config.league_id));
    if (subject.find("{referee}") == std::string::npos) {
      subjects.push_back(subject);
      continue;
    }
    for (const auto& other : config.agents) {
      if (other.role == BusRole::kReferee)
        subjects.push_back(with(subject, "{referee}", other.session.str()));
    }
  }
  return subjects;
}

std::string config_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + config_string(text);
  return "[" + list + "]";
}

std::string render_user(const BusConfig& config, const BusUser& agent, BusAccount account) {
  const auto& login = account == BusAccount::kStreams ? *agent.streams_login : agent.login;
  auto forbidden = subjects_of(config, agent, account, Kind::kPublishNot);
  std::string text = "    {\n      user: " + config_string(login.user) +
                     "\n      password: " + config_string(login.stored_password) +
                     "\n      permissions: {\n        publish: {\n          allow: " +
                     config_list(subjects_of(config, agent, account, Kind::kPublish)) + "\n";
  if (!forbidden.empty()) text += "          deny: " + config_list(forbidden) + "\n";
  text += "        }\n        subscribe: { allow: " +
          config_list(subjects_of(config, agent, account, Kind::kSubscribe)) + " }\n";
  // Not for the manager, which may publish at every inbox anyway, nor in the account of the
  // streams, where no user answers requests.
  if (agent.role != BusRole::kManager && account == BusAccount::kLeague)
    text += "        allow_responses: " + std::string(kResponses) + "\n";
  return text + "      }\n    }\n";
}

std::string render_account_users(const BusConfig& config, BusAccount account) {
  std::string text = "  users: [\n";
  for (const auto& agent : config.agents) {
    if (account == BusAccount::kLeague || agent.streams_login)
      text += render_user(config, agent, account);
  }
  return text + "  ]\n";
}

std::string render_reasons(const BusConfig& config) {
  std::string text;
  for (const auto& row : bus_permissions()) {
    if (row.account == BusAccount::kStreams && !config.has_streams()) continue;
    const char* verb = row.kind == Kind::kPublish     ? " may publish "
                       : row.kind == Kind::kSubscribe ? " may subscribe to "
                                                      : " may not publish ";
    text += "#   " + std::string(name_of(row.role)) +
            (row.account == BusAccount::kStreams ? " at the streams" : "") + verb +
            std::string(row.subject) + ": " + std::string(row.reason) + "\n";
  }
  return text;
}

/// Puts the streams into an account of their own. The broker answers a request to a stream at the
/// request's reply subject, without checking that the sender may publish there; in a separate
/// account a stream cannot receive such an answer.
std::string render_accounts(const BusConfig& config) {
  const std::string events = config_string("mcp.events." + league_token(config.league_id) + ".>");
  const std::string league(kLeagueAccount);
  const std::string streams(kStreamsAccount);
  return "authorization { timeout: 5 }\naccounts {\n" + streams + ": {\n  jetstream: enabled\n" +
         render_account_users(config, BusAccount::kStreams) +
         "  # what the league tells everybody\n  exports: [ { stream: " + events + ", accounts: [" +
         league + "] } ]\n}\n" + league + ": {\n" +
         render_account_users(config, BusAccount::kLeague) +
         "  imports: [ { stream: { account: " + streams + ", subject: " + events + " } } ]\n}\n}\n";
}

}  // namespace

const std::vector<BusPermission>& bus_permissions() {
  using enum BusRole;
  using enum BusPermission::Kind;
  constexpr std::string_view kAnswers = "answers to its own requests";
  constexpr std::string_view kNews = "what the league tells everybody";
  constexpr auto kStreams = BusAccount::kStreams;
  static const std::vector<BusPermission> kRows = [=] {
    const auto of_agent = [=](BusRole role, std::vector<BusPermission> more = {}) {
      std::vector<BusPermission> rows = {
          {role, kPublish, "mcp.discovery.{session}", "looks for its league and attaches"},
          {role, kPublish, "mcp.session.{session}.in",
           "calls the manager from its own session, and from no other"},
          {role, kSubscribe, "mcp.session.{session}.out", "what is sent to its session"},
          {role, kSubscribe, "_INBOX.{session}.>", kAnswers},
          {role, kSubscribe, "mcp.events.{league}.>", kNews}};
      rows.insert(rows.end(), more.begin(), more.end());
      return rows;
    };
    std::vector<BusPermission> all = {
        {kManager, kPublish, "mcp.>", "calls every session and publishes events"},
        {kManager, kPublish, "_INBOX.>", "answers everybody, at any time"},
        {kManager, kSubscribe, "mcp.>", "receives discovery and all sessions"},
        {kManager, kSubscribe, "_INBOX.>", kAnswers}};
    const std::vector<BusPermission> at_streams = {
        {kManager, kPublish, "$JS.API.>", "makes streams and their readers", kStreams},
        {kManager, kPublish, "$JS.ACK.>", "has taken a message of a stream", kStreams},
        {kManager, kPublish, "mcp.events.{league}.>", kNews, kStreams},
        {kManager, kPublish, "mcp.journal.{league}.*",
         "the entries of its journal, and its heartbeats", kStreams},
        {kManager, kSubscribe, "mcp.journal.{league}.beat",
         "which managers there are, and what they have of the journal", kStreams},
        {kManager, kSubscribe, "_INBOX.{session}.>", kAnswers, kStreams},
        {kOperator, kPublish, "$JS.API.>", "manages streams; trusted like the manager", kStreams},
        {kOperator, kPublish, "$JS.ACK.>", "reads streams", kStreams},
        {kOperator, kSubscribe, "mcp.events.{league}.>", kNews, kStreams},
        {kOperator, kSubscribe, "_INBOX.{session}.>", kAnswers, kStreams}};
    for (const auto& more :
         {of_agent(kOperator,
                   {{kOperator, kSubscribe, "mcp.events.>", "watches all leagues of the broker"}}),
          of_agent(kReferee,
                   {{kReferee, kPublish, "mcp.session.*.out", "calls the players of its matches"},
                    {kReferee, kSubscribe, "mcp.session.*.attached", "which players are back"},
                    // An agent that can send itself a message with a reply subject may publish to
                    // that subject, because the broker takes this for an answer. This row keeps a
                    // referee from doing so, and two referees from doing it for each other.
                    {kReferee, kPublishNot, "mcp.session.{referee}.out",
                     "with a request to itself it could publish to any subject"}}),
          of_agent(kPlayer), at_streams})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kRows;
}

std::string render_users(const BusConfig& config) {
  std::string text =
      "# Who may do what at the broker of a league. Made by `league bus-config`.\n"
      "# {session} is the agent's own, {league} the league's name; all but the manager also "
      "answer\n"
      "# at the reply subject of what was sent to them, 16 messages within 5 minutes each.\n";
  text += render_reasons(config);
  if (config.has_streams()) return text + render_accounts(config);
  return text + "authorization {\n  timeout: 5\n" +
         render_account_users(config, BusAccount::kLeague) + "}\n";
}

}  // namespace league::tools
