#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "common/agent/identity/secret_file.h"
#include "tools/league/commands.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"

// The commands of `league admin` for a league and its agents, and `league start`.
namespace league::tools {
namespace {

/// Which manager to call, and with which key.
struct OperatorAccess {
  std::string url;
  std::string key_file;  ///< its first line is the operator's key
  bool json = false;  ///< print the answer unchanged
};

/// Calls `tool` of the manager, which only its operator may call, and prints `done`. Returns the
/// program's exit code: 1 the manager refused, 2 it did not answer or there is no key.
int call_as_operator(const OperatorAccess& access, const std::string& tool,
                     nlohmann::json arguments, const std::string& done) {
  const auto key = agent::identity::read_secret_file(access.key_file);
  if (!key)
    return fail(key.error().message +
                "; it is the file behind the manager's --operator-key (default: "
                "DATA/operator.key)");
  auto client = ManagerClient::connect(access.url);
  if (!client) return fail(client.error());
  arguments["operator_key"] = key->reveal();
  auto answer = client->call(tool, arguments);
  if (!answer) return fail(answer.error(), exit_code_of(answer.error()));
  if (access.json) {
    print_json(*answer);
  } else {
    std::cout << safe_text(done) << '\n';
  }
  return 0;
}

struct ActOptions {
  OperatorAccess access;
  std::string by;
  std::string reason;
  std::string agent;
  std::string match;
  std::string text;
  int seconds = 0;
  int patience = 0;  ///< seconds
  bool replays = false;
};

/// The name under which a command is recorded without --by: that of the user of this machine.
std::string own_name() {
  for (const char* variable : {"SUDO_USER", "USER", "LOGNAME"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != 0) return value;
  }
  return "operator";
}

CLI::App* add_act(CLI::App& admin, const char* name, const char* help, ActOptions& options,
                  const std::string& example) {
  CLI::App* act = admin.add_subcommand(name, help);
  add_manager_url(*act, options.access.url);
  act->add_option("--operator-key", options.access.key_file, "file with the operator's key")
      ->required();
  act->add_option("--by", options.by, "your name, for the journal and the live page")
      ->default_val(own_name());
  act->add_flag("--json", options.access.json, "print one JSON object for machines");
  act->footer("Example:\n  league admin " + example +
              " --operator-key data/operator.key\n"
              "Exit codes: 0 done, 1 the manager refused, 2 it did not answer or there is no key.");
  return act;
}

struct AgentAct {
  const char* name;
  const char* help;
  const char* tool;
  const char* done;
};
constexpr std::array kAgentActs = {
    AgentAct{"remove",
             "remove an agent until it is restored: a player loses its matches, a referee gets no "
             "matches; before the start its seat is free again",
             "shut_down_agent", " is removed"},
    AgentAct{"restore", "let an agent that was removed play again; also ends a suspension",
             "restore_agent", " is ACTIVE again"},
};

int act_on_agent(const ActOptions& options, const AgentAct& act) {
  nlohmann::json arguments = {
      {"agent_id", options.agent}, {"reason", options.reason}, {"by", options.by}};
  return call_as_operator(options.access, act.tool, std::move(arguments), options.agent + act.done);
}

/// Waits until no match is being played. Returns 0, 1 if that takes too long, 2 if the manager does
/// not answer.
int wait_for_matches(const ActOptions& options) {
  auto client = ManagerClient::connect(options.access.url);
  if (!client) return fail(client.error());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(options.patience);
  while (true) {
    const auto status = client->call("get_league_status", nlohmann::json::object());
    if (!status) return fail(status.error(), exit_code_of(status.error()));
    const auto playing = status->value("matches_in_play", 0);
    if (playing == 0) {
      if (!options.access.json) std::cout << "no match is being played now\n";
      return 0;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      std::cerr << "error: " << playing << " matches are still being played\n";
      return 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

int act_on_league(const ActOptions& options, const char* act, const std::string& done) {
  nlohmann::json arguments = {{"act", act}, {"by", options.by}, {"reason", options.reason}};
  if (!options.text.empty()) arguments["reason"] = options.text;
  if (!options.match.empty()) arguments["match_id"] = options.match;
  if (options.replays) arguments["replay"] = true;
  if (options.seconds != 0) arguments["seconds"] = options.seconds;
  const int code = call_as_operator(options.access, "operate_league", std::move(arguments), done);
  return code == 0 && options.patience > 0 ? wait_for_matches(options) : code;
}

constexpr const char* kReasonHelp = "reason, shown to people";

}  // namespace

void add_agent_acts(CLI::App& admin, std::function<int()>& chosen) {
  for (const AgentAct& act : kAgentActs) {
    auto options = std::make_shared<ActOptions>();
    CLI::App* command = add_act(admin, act.name, act.help, *options,
                                std::string(act.name) + " http://localhost:8000/mcp P07");
    command->add_option("ID", options->agent, "such as P07 or REF02")->required();
    command->add_option("--reason", options->reason, "reason, shown to people and to the agent");
    agent::host::when_given(*command, chosen,
                            [options, &act] { return act_on_agent(*options, act); });
  }
}

void add_league_acts(CLI::App& admin, std::function<int()>& chosen) {
  auto add = [&](const char* name, const char* help, const char* act, const std::string& example,
                 const std::string& done) {
    auto options = std::make_shared<ActOptions>();
    CLI::App* command =
        add_act(admin, name, help, *options, name + (" http://localhost:8000/mcp" + example));
    agent::host::when_given(*command, chosen,
                            [options, act, done] { return act_on_league(*options, act, done); });
    return std::pair(command, options);
  };
  auto [pause, paused] =
      add("pause", "start no new match and no new round until the league is resumed", "PAUSE", "",
          "the league is paused; matches that are being played continue");
  pause->add_option("--reason", paused->reason, kReasonHelp);
  pause->add_option(
      "--wait", paused->patience,
      "wait at most this many seconds until no match is being played (for maintenance)");
  auto [resume, resumed] =
      add("resume", "continue a paused league", "RESUME", "", "the league continues");
  resume->add_option("--reason", resumed->reason, kReasonHelp);
  auto [extend, extended] = add("extend", "extend the time limit of the current round",
                                "EXTEND_ROUND", " 600", "the round is extended");
  extend->add_option("SECONDS", extended->seconds, "seconds to add")->required();
  extend->add_option("--reason", extended->reason, kReasonHelp);
  auto [announce, announced] =
      add("announce", "show a text to the spectators and record it in the journal", "ANNOUNCE",
          " \"The final begins at three\"", "announced");
  announce->add_option("TEXT", announced->text, "the text, up to 300 characters")->required();
  auto [make_void, voided] =
      add("void", "void a finished match, so that it counts for nobody", "VOID_MATCH",
          " R1M2 --replay --reason \"REF02 was late\"", "the match is void");
  make_void->add_option("MATCH", voided->match, "such as R1M2")->required();
  make_void->add_flag("--replay", voided->replays,
                      "play the match again, in a round after the others");
  make_void->add_option("--reason", voided->reason, kReasonHelp)->required();
  auto [end, ended] = add("end", "end the league now, without the matches that are not finished",
                          "END_LEAGUE", "", "the league ends");
  end->add_option("--reason", ended->reason, kReasonHelp);
}

void add_start_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<OperatorAccess>();
  CLI::App* command =
      app.add_subcommand("start", "start a league now, with the agents that have registered");
  add_manager_url(*command, options->url);
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->add_option("--operator-key", options->key_file, "file with the operator's key")
      ->required();
  command->footer(
      "Example:\n"
      "  league start http://localhost:8000/mcp --operator-key data/operator.key\n"
      "Exit codes: 0 the league has started, 1 the manager refused, 2 it did not answer or there "
      "is no key.");
  agent::host::when_given(*command, chosen, [options] {
    return call_as_operator(*options, "start_league", nlohmann::json::object(),
                            "the league has started");
  });
}

}  // namespace league::tools
