#include "tools/check/program/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

#include "common/agent/identity/secret_file.h"
#include "tools/check/game_truth.h"
#include "tools/check/report.h"
#include "tools/check/session/player_session.h"
#include "tools/league/client/bus_link.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using tools::fail;  // check::fail makes a verdict

constexpr int kBelow = 1;
constexpr int kNobodyThere = 2;
constexpr int kHarnessFault = 3;

struct CheckOptions {
  SessionOptions session;
  std::vector<std::string> endpoints;
  std::uint16_t listen = 0;
  bool listens = false;
  bool standalone = false;
  bool list = false;
  bool is_verbose = false;
  std::string format = "text";
  std::string baseline;
  std::string output;
  std::string required = "conforms";
  std::string token_file;
  std::string operator_key_file;
  std::uint32_t patience_s = 60;
  std::string game = "even_odd";
};

int print_list(const std::string& role) {
  for (const auto& info : list_checks(role)) {
    std::cout << fitted(std::string(level_name(info.level)), 7) << info.id
              << (info.is_basic ? " *" : "") << "  " << info.text << '\n';
  }
  return 0;
}

std::string formatted(const CheckOptions& options, const std::vector<Report>& reports) {
  const std::string& format = options.format;
  if (format == "json") return json_report(reports);
  if (format == "junit") return junit_report(reports);
  if (format == "html") return html_report(reports);
  if (format == "gradescope") return gradescope_report(reports.front());
  std::string text;
  for (const Report& report : reports)
    text += (text.empty() ? "" : "\n") + text_report(report, options.is_verbose);
  return text;
}

Grade grade_named(const std::string& name) {
  for (Grade grade : {Grade::kPlays, Grade::kConforms, Grade::kRobust}) {
    if (grade_name(grade) == name) return grade;
  }
  return Grade::kConforms;
}

/// 0 if each bot reaches the required level, or if the baseline contains all failures.
int exit_code_of(const std::vector<Report>& reports, const CheckOptions& options) {
  int code = 0;
  for (const Report& report : reports) {
    if (!report.stale.empty()) code = std::max(code, kBelow);
    if (report.count(Outcome::kHarness) > 0) code = std::max(code, kHarnessFault);
    Report counted = report;
    for (auto& finding : counted.findings) {
      if (finding.is_known) finding.verdict.outcome = Outcome::kPassed;
    }
    const bool is_part = !options.session.only.empty();
    const bool is_incomplete = counted.count(Outcome::kFailed) > 0 || counted.not_tried() > 0;
    if (is_part ? is_incomplete : counted.grade() < grade_named(options.required))
      code = std::max(code, kBelow);
  }
  return code;
}

int write_out(const std::string& document, const CheckOptions& options) {
  if (options.output.empty()) {
    std::cout << document << std::flush;
    return 0;
  }
  std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
  file << document << std::flush;
  return file ? 0 : fail("cannot write " + options.output, kNobodyThere);
}

core::Result<Report> check_one(const SessionOptions& session) {
  if (session.role == "referee") return check_referee(session);
  if (session.role == "manager") return check_manager(session);
  return check_player(session);
}

core::Result<std::vector<Report>> run(const CheckOptions& options) {
  std::vector<Report> reports;
  std::vector<std::string> endpoints = options.endpoints;
  if (endpoints.empty()) endpoints.emplace_back();
  for (const std::string& endpoint : endpoints) {
    SessionOptions session = options.session;
    session.endpoint = endpoint;
    session.patience = std::chrono::seconds(options.patience_s);
    if (options.listens) session.port = options.listen;
    auto report = check_one(session);
    if (!report) return report.error();
    report->is_partial = !session.only.empty();
    reports.push_back(std::move(*report));
  }
  return reports;
}

int check_bots(CheckOptions options) {
  if (options.list) return print_list(options.session.role);
  if (auto known = set_tested_game(options.game); !known)
    return fail(known.error().message, kNobodyThere);
  const bool has_place = options.listens || !options.session.start.empty();
  if (options.endpoints.empty() != has_place)
    return fail("name one or more endpoints, or let the bot register with --listen or --start",
                kNobodyThere);
  if (options.format == "gradescope" && options.endpoints.size() > 1)
    return fail("the format gradescope is for one bot", kNobodyThere);
  for (auto [file, secret] :
       {std::pair(&options.token_file, &options.session.token),
        std::pair(&options.operator_key_file, &options.session.operator_key)}) {
    if (file->empty()) continue;
    auto read = agent::identity::read_secret_file(*file);
    if (!read) return fail(read.error().message, kNobodyThere);
    *secret = read->reveal();
  }
  if (options.session.role == "referee" && !options.endpoints.empty())
    return fail("a referee registers first: use --listen or --start", kNobodyThere);
  auto baseline = read_baseline(options.baseline);
  if (!baseline) return fail(baseline.error().message, kNobodyThere);
  auto reports = run(options);
  if (!reports) return fail(reports.error().message, kNobodyThere);
  for (Report& report : *reports) apply_baseline(*baseline, report);
  if (int failed = write_out(formatted(options, *reports), options); failed != 0) return failed;
  return exit_code_of(*reports, options);
}

void add_place_options(CLI::App& command, CheckOptions& options) {
  command.add_option("ENDPOINT", options.endpoints,
                     "where the bot listens: http(s)://, ws(s)://, tcp://, unix:PATH, "
                     "stdio:COMMAND, nats:SESSION; with several there is a report for each");
  command.add_option("--role", options.session.role, "player (the default), referee or manager")
      ->check(CLI::IsMember({"player", "referee", "manager"}));
  command.add_option("--game", options.game, "the game, by its name or file (even_odd)");
  command
      .add_option("--players", options.session.players,
                  "players that the checker registers at a manager under test (2)")
      ->check(CLI::Range(2U, 100U));
  command
      .add_option("--referees", options.session.referees,
                  "referees that the checker registers at a manager under test (1)")
      ->check(CLI::Range(1U, 20U));
  command.add_option("--operator-key", options.operator_key_file,
                     "file with the key that starts the league of a manager under test; without it "
                     "the manager must start when all agents have registered");
  command.add_option("--start-command", options.session.start_command,
                     "shell command that starts the league of a manager under test, once all "
                     "agents have registered");
  command
      .add_option_function<std::uint16_t>(
          "--listen",
          [&options](const std::uint16_t& port) {
            options.listen = port;
            options.listens = true;
          },
          "listen as a league manager on this port (0: any free port), and wait for the bot's "
          "registration")
      ->type_name("PORT");
  command.add_option("--bind", options.session.address, "the address of --listen (127.0.0.1)");
  command.add_option(
      "--start", options.session.start,
      "shell command that starts the bot; {manager} is replaced by the manager's URL, {port} by a "
      "free port. Implies --listen 0, and lets the checker restart the bot");
  command.add_option("--wait", options.patience_s,
                     "how many seconds to wait for the registration (60)");
  command.add_option("--id", options.session.id, "the id of a bot at ENDPOINT (P01)");
  command.add_option(
      "--token", options.token_file,
      "file with the token of a bot at ENDPOINT; without it, checks that need one are skipped");
  command.add_option("--league", options.session.league_id, "the league's id (league_check)");
  command.add_flag("--standalone", options.standalone,
                   "the bot has no token; this is assumed for an ENDPOINT without --token");
}

}  // namespace

void add_check_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "check a bot against the protocol, clause by clause");
  add_place_options(*command, *options);
  add_bus_options(*command, options->session.bus);
  command->add_flag("--fast", options->session.is_fast,
                    "take at most 5 seconds, with shorter waits");
  command->add_option("--only", options->session.only,
                      "run only this check, this clause (P-4.9) or all that begin like this "
                      "(P-7*); may be repeated");
  command->add_flag("--verbose", options->is_verbose,
                    "show requests, answers, curl lines and the ids of skipped checks");
  command->add_option("--format", options->format, "text, json, junit, html or gradescope")
      ->check(CLI::IsMember({"text", "json", "junit", "html", "gradescope"}));
  command->add_option("--output", options->output, "write the report to this file");
  command->add_option(
      "--baseline", options->baseline,
      "file with ids of checks that may fail, one per line; if one of them passes, the run fails");
  command
      ->add_option(
          "--require", options->required,
          "level that the bot has to reach for exit code 0: plays, conforms or robust (conforms)")
      ->check(CLI::IsMember({"plays", "conforms", "robust"}));
  command->add_flag("--list", options->list, "list all checks and exit");
  command->footer(
      "Examples:\n"
      "  league check --start \"python3 bot.py --port {port} --manager {manager}\"\n"
      "  league check http://localhost:8101/mcp --fast\n"
      "  league check --start \"node player.mjs my_bot\" --bus nats://localhost:4222\n"
      "  league check --role referee --start \"my_referee --manager {manager}\"\n"
      "  league check --role manager http://localhost:8000/mcp --players 4 --referees 2\n"
      "  league check --listen 8000 --format html --output report.html\n"
      "Exit codes: 0 the level is reached, 1 it is not, 2 wrong usage or the bot cannot be "
      "reached, 3 the checker itself failed.");
  agent::host::when_given(*command, chosen, [options] { return check_bots(*options); });
}

}  // namespace league::tools::check
