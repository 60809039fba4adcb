#include <CLI/CLI.hpp>

#include "game/files/game_file.h"
#include "league_manager/program/program.h"

namespace league::league_manager {
namespace {

/// Options for several managers of one league, of which one leads.
void add_standby_options(CLI::App& app, ProgramOptions& options) {
  app.add_flag("--replicate", options.is_leading,
               "with --bus: keep the journal in a stream of the broker as well, so that a stand-by "
               "manager can take over; nothing is answered before the stream, and each stand-by "
               "that keeps up, has it");
  app.add_flag("--standby", options.is_standby,
               "with --bus: follow the manager that leads the league, and take over when it is "
               "gone");
}

/// Who may register.
void add_admission_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("--registration-codes", options.registration_codes,
                 "accept only players with a code from this CSV file (mode 0600) with the columns "
                 "code, name, team and email; `league admin codes make` writes it. The file is "
                 "reread when it changes")
      ->check(CLI::ExistingFile);
  app.add_flag("--require-commitments", options.requires_commitments,
               "accept only players that commit to their choices and send receipts for their "
               "answers; by default other bots play as well");
  auto* open = app.add_flag_callback(
      "--open-referees",
      [&options] { options.referee_admission = admission::RefereeAdmission::kOpen; },
      "let anyone who can reach the manager register as a referee and decide matches; by default "
      "referees on other machines and on a bus need the key in DATA/referee.key (`referee "
      "--admission-key FILE`)");
  app.add_flag_callback(
         "--admit-referees",
         [&options] { options.referee_admission = admission::RefereeAdmission::kKeyFromAll; },
         "require that key from referees on this machine, too; for a manager behind a local proxy")
      ->excludes(open);
}

/// Which league, and where it is kept.
void add_league_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("--players", options.players,
                 "number of players (default: 2); the league starts when all players and referees "
                 "have registered")
      ->check(CLI::Range(2, 32000));
  app.add_option("--meetings", options.meetings,
                 "how often each pair of players meets, each time in a match of its own (default: "
                 "1)")
      ->check(CLI::Range(1, events::kMostMeetings));
  app.add_option("--referees", options.referees, "number of referees (default: 1)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--game", options.game,
                 "the game that is played: even_odd (default), matching_pennies, "
                 "prisoners_dilemma, rock_paper_scissors, or a file (docs/games.md)")
      ->check([](const std::string& text) {
        game::Games games = game::Games::standard();
        const auto found = game::files::find_game(games, text);
        return found ? std::string() : found.error().message;
      });
  app.add_option("--league", options.league_id, "id of the league (default: league_YEAR_GAME)");
  app.add_option("--data", options.data,
                 "directory of the league's journal, secrets and data; if it contains a league, "
                 "that league continues")
      ->capture_default_str();
  auto* is_new =
      app.add_flag("--new", options.is_new,
                   "start a new league; an old one in the data directory moves to its archive/");
  app.add_flag("--ephemeral", options.is_ephemeral,
               "keep no journal: the league ends with the process (for trials and measurements)")
      ->excludes(is_new);
  app.add_option(
      "--operator-key", options.operator_key_file,
      "file with the operator's key; created if it is missing (default: DATA/operator.key)");
}

constexpr const char* kFooter =
    "Examples:\n"
    "  league_manager --port 8000 --players 4 --referees 1\n"
    "  league_manager --port 8000                              (continues it after a crash)\n"
    "  league_manager --port 8000 --players 4 --referees 1 --new\n"
    "  league_manager --players 20 --bus nats://one:4222 --replicate   (and on another machine:)\n"
    "  league_manager --standby --bus nats://one:4222\n"
    "  league_manager --players 20 --referees 2 --registration-window 600 --bind 0.0.0.0 "
    "--allow-host arena.example.org --registration-codes codes.csv\n"
    "Agents register at http://localhost:PORT/mcp. `league status URL` shows the progress,\n"
    "`league start URL` starts the league early.";

/// Checks that the league does not have too many matches; returns an exit code if it does.
std::optional<int> check_size(const ProgramOptions& options) {
  const std::int64_t players = options.players.value_or(2);
  const std::int64_t matches = players * (players - 1) / 2 * options.meetings.value_or(1);
  if (matches <= events::kMostMatches) return std::nullopt;
  return agent::host::fail({core::ErrorCode::kInvalidFieldValue,
                            "--players and --meetings make " + std::to_string(matches) +
                                " matches, and a league can have " +
                                std::to_string(events::kMostMatches),
                            {}});
}

/// Completes the stand-by options; returns an exit code if they are invalid.
std::optional<int> complete_standby_options(ProgramOptions& options) {
  if (!options.is_replicated()) return std::nullopt;
  const char* why = nullptr;
  if (!options.common.bus.is_wanted())
    why = "--replicate and --standby need --bus, which connects the managers";
  if (options.is_ephemeral) why = "--replicate and --standby need a journal; omit --ephemeral";
  if (why == nullptr) return std::nullopt;
  return agent::host::fail({core::ErrorCode::kInvalidFieldValue, why, {}});
}

/// `--unproven-referees` without a value means all.
events::UnprovenReferees unproven_referees(std::string_view option) {
  if (option == "none") return events::UnprovenReferees::kNone;
  if (option == "loopback") return events::UnprovenReferees::kFromLoopback;
  if (option == "tokenless") return events::UnprovenReferees::kTokenless;
  return events::UnprovenReferees::kAll;
}

}  // namespace

std::variant<ProgramOptions, int> read_command_line(int argc, char** argv) {
  ProgramOptions options;
  options.common.port = 8000;
  options.common.listens_beside_bus = true;
  CLI::App app(
      "Manages one league: registers players and referees, creates the schedule, keeps "
      "the table.",
      "league_manager");
  agent::host::add_program_options(app, options.common);
  add_league_options(app, options);
  std::string unproven = "loopback";
  app.add_option(
         "--unproven-referees", unproven,
         "which third-party referees may report results without the seed of the draw: all, none, "
         "loopback (open mode only: those that registered from this machine), or tokenless (all, "
         "and our players accept their calls without a token). Such results are shown as unproven")
      ->expected(0, 1)
      ->default_str("loopback")
      ->check(CLI::IsMember({"all", "none", "loopback", "tokenless"}));
  add_admission_options(app, options);
  app.add_option(
         "--registration-window", options.registration_window_seconds,
         "start after this many seconds with the agents that have registered; 0: wait for all")
      ->check(CLI::Range(0, 86400 * 30))
      ->capture_default_str();
  app.add_option("--drain", options.drain_seconds,
                 "at SIGTERM or SIGINT, start no new match and wait at most this many seconds for "
                 "the matches that are being played; a second signal ends the manager immediately. "
                 "0: do not wait; open matches start over when the league continues")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app.add_option(
         "--endpoints", options.endpoints,
         "endpoints that agents may have: local (loopback and private networks), any, or "
         "host names, addresses and blocks, unix:/DIRECTORY/, stdio:COMMAND, separated by commas")
      ->capture_default_str();
  app.add_option(
         "--webhook", options.webhooks,
         "URL that gets a signed message when the league starts, when a round ends, when the "
         "league ends and after each operator command (key: DATA/webhook.secret); may be repeated")
      ->allow_extra_args(false);
  std::string keep_logs;
  app.add_option("--keep-logs", keep_logs,
                 "at the start, remove conversation logs of earlier leagues (logs/archive) that "
                 "are older than this many days (30d), or the oldest ones beyond this total size "
                 "(20G); default: keep all. Logs of the current league are never removed");
  add_standby_options(app, options);
  app.footer(kFooter);
  if (auto code = agent::host::parse_command_line(app, argc, argv, options.common)) return *code;
  if (auto refused = check_size(options)) return *refused;
  if (auto refused = complete_standby_options(options)) return *refused;
  if (!keep_logs.empty()) {
    auto retention = audit::log::parse_retention(keep_logs);
    if (!retention)
      return agent::host::fail(
          {retention.error().code, "--keep-logs " + retention.error().message, {}});
    options.keep_logs = *retention;
  }
  options.unproven_referees = unproven_referees(unproven);
  return options;
}

}  // namespace league::league_manager
