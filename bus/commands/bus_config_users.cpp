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
