#include "tools/league/up/tournament.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/private_file.h"
#include "common/transport/link/signals.h"
#include "tools/league/up/enter.h"
#include "tools/league/up/live_page.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using std::chrono::milliseconds;

constexpr milliseconds kMoment{10};
constexpr milliseconds kBetweenPolls{40};
constexpr milliseconds kBetweenPictures{150};
constexpr milliseconds kBetweenTables{400};
constexpr std::chrono::seconds kLastWords{5};  // for notifying all agents of the end of the league
// Chosen so that problems are reported within three seconds.
constexpr milliseconds kPatienceWithPrograms{2000};
constexpr milliseconds kPatienceWithAnswer{1000};
constexpr milliseconds kPatienceWithManager{1000};
constexpr std::size_t kTailLines = 10;

Error death_of(Member& member, const ProcessEnd& end) {
  std::string text = member.spec.name + " ended " + end.text();
  std::string tail = tail_of(member.stderr_file, kTailLines, member.stderr_begin);
  if (tail.empty()) {
    text += " and left no message";
  } else {
    text += "; the end of its output (" + member.stderr_file.string() + "):\n" + tail;
    while (text.back() == '\n') text.pop_back();
  }
  return {ErrorCode::kInternalError, text, {}};
}

/// `referee-1 is not there yet; it says: ... (FILE)` for the first program that is not ready; empty
/// if all are.
std::string missing_program(std::vector<Member>& members) {
  for (auto& member : members) {
    if (member.is_ready() || member.end_was_noted) continue;
    std::string line = tail_of(member.stderr_file, 1, member.stderr_begin);
    line = line.substr(0, line.find('\n'));
    if (line.starts_with("20") && line.find(' ') != line.npos) line.erase(0, line.find(' ') + 1);
    std::string text = member.spec.name + " is not ready yet";
    if (!line.empty()) text += "; it says: " + safe_text(line);
    return text + " (" + member.stderr_file.string() + ")";
  }
  return {};
}

std::size_t alive(std::vector<Member>& members, ProgramSpec::Role role) {
  return static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(),
      [role](Member& member) { return member.spec.role == role && !member.process.poll_end(); }));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Tournament::Tournament(UpOptions options, std::vector<std::string> strategies, RunStore& run_store,
                       const core::Clock& clock, transport::link::StopSignal& stop, LiveView& view)
    : options_(std::move(options)),
      strategies_(std::move(strategies)),
      run_store_(run_store),
      clock_(clock),
      stop_(stop),
      view_(view),
      processes_(own_directory(), options_.logs),
      missing_programs_(clock, kPatienceWithPrograms,
                        [&view](const std::string& text) { view.say(text); }),
      silent_manager_(clock, kPatienceWithManager,
                      [&view](const std::string& text) { view.say(text); }) {}

Result<TournamentOutcome> Tournament::play() {
  auto go_on = start_manager();
  if (!go_on) return go_on.error();
  if (*go_on) {
    go_on = start_agents();
    if (go_on && *go_on) go_on = watch_league();
    if (!go_on) return go_on.error();
  }
  TournamentOutcome outcome;
  outcome.was_interrupted = !*go_on;
  if (client_) {
    if (auto polled = poll_league(); !polled && !outcome.was_interrupted) return polled.error();
    auto rows = client_->standings(static_cast<std::size_t>(options_.all_players()));
    if (rows) outcome.standings = parse_rows(*rows);
    if (!rows && !outcome.was_interrupted) return rows.error();
  }
  view_.clear();
  outcome.progress = progress_;
  outcome.seconds = progress_.seconds(clock_.utc_now());
  return outcome;
}

void Tournament::stop_programs() { processes_.stop(); }

Result<bool> Tournament::wait_a_moment(milliseconds moment) {
  if (stop_.wait_for(moment) >= 0) return false;
  processes_.listen();
  if (auto checked = check_programs(); !checked) return checked.error();
  say_who_is_missing();
  return true;
}

void Tournament::say_who_is_missing() {
  missing_programs_.note(missing_program(processes_.members()), "all programs are ready now");
}

Result<void> Tournament::check_programs() {
  for (auto& member : processes_.members()) {
    auto end = member.process.poll_end();
    if (!end || member.end_was_noted) continue;
    bool is_manager = member.spec.role == ProgramSpec::Role::kManager;
    bool is_last_referee = member.spec.role == ProgramSpec::Role::kReferee &&
                           alive(processes_.members(), ProgramSpec::Role::kReferee) == 0;
    // Before the start the league would wait for this program for ever.
    bool is_awaited = !member.is_ready() && !progress_.has_started();
    if (is_manager || is_last_referee || is_awaited) return death_of(member, *end);
    member.end_was_noted = true;
    const std::string ids = member.is_ready() ? " (" + joined(member.ready_ids) + ")" : "";
    view_.say(member.spec.name + ids + " ended " + end->text() + "; the league continues, see " +
              member.stderr_file.string());
  }
  return {};
}

Result<bool> Tournament::start_manager() {
  auto written = core::write_private_file(options_.programs_config, programs_config_text(options_));
  if (!written) return written.error();
  if (auto started = processes_.start(manager_spec(options_, own_directory())); !started)
    return started.error();
  while (!processes_.manager()->is_ready()) {
    auto go_on = wait_a_moment(kMoment);
    if (!go_on || !*go_on) return go_on;
  }
  manager_url_ = processes_.manager()->url;
  auto client = ManagerClient::connect(manager_url_);
  if (!client) return client.error();
  client_.emplace(std::move(*client));
  if (auto kept = keep_address(); !kept) return kept.error();
  if (const auto page = live_page_of(manager_url_); !page.empty()) {
    view_.say("watch it at " + page);
    if (options_.browser) open_in_browser(page);
  }
  if (!run_store_.is_continued()) return true;
  if (auto polled = poll_league(); !polled) return polled.error();
  view_.say("continuing league " + safe_text(progress_.league_id) + " in " +
            options_.data.string() + ": " + progress_line(progress_, 0));
  return true;
}

Result<void> Tournament::keep_address() {
  // The port of an advertised address can be that of a proxy, so it is not stored.
  auto endpoint = transport::link::parse_endpoint(manager_url_);
  int port = endpoint && options_.advertise.empty() ? endpoint->port : 0;
  return run_store_.note_manager(processes_.manager()->ready_ids.at(0), port);
}

Result<bool> Tournament::start_agents() {
  // On a bus, agents find the manager by the league's id.
  const std::string manager =
      options_.bus.empty() ? manager_url_ : "nats:manager/" + processes_.manager()->ready_ids.at(0);
  auto plan = plan_players(options_, strategies_, manager, own_directory());
  for (auto& spec : plan.specs) {
    if (auto started = processes_.start(std::move(spec)); !started) return started.error();
  }
  if (run_store_.is_continued()) {
    if (auto go_on = wait_for_players(); !go_on || !*go_on) return go_on;
  }
  for (auto& spec : referee_specs(options_, manager, own_directory())) {
    if (auto started = processes_.start(std::move(spec)); !started) return started.error();
  }
  if (auto entered = register_subprocess_players(plan.subprocess_players); !entered)
    return entered.error();
  if (options_.seats > 0 && !progress_.has_started()) {
    for (const auto& line : invitation_to_play(options_, manager_url_, terminal_shows_blocks()))
      view_.say(line);
  }
  if (options_.external > 0 && !progress_.has_started()) {
    std::string on_bus = options_.bus.empty() ? "" : ", or on the bus at " + options_.bus;
    view_.say("register your " + std::to_string(options_.external) +
              (options_.external == 1 ? " player" : " players") + " at " + manager_url_ + on_bus +
              " (register_player); the league starts when all are in");
  }
  return true;
}

Result<bool> Tournament::wait_for_players() {
  // Referees continue open matches at once, and a player that is not back yet would lose its match.
  for (;;) {
    auto go_on = wait_a_moment(kMoment);
    if (!go_on || !*go_on) return go_on;
    bool are_all_back = std::ranges::all_of(processes_.members(), [](Member& member) {
      return member.is_ready() || member.process.poll_end();
    });
    if (are_all_back) return true;
  }
}

Result<void> Tournament::register_subprocess_players(
    const std::vector<SubprocessPlayer>& subprocess_players) {
  core::CryptoRandom random;
  const auto game = game_of(options_);
  if (!game) return game.error();
  for (const auto& player : subprocess_players) {
    auto nonce = run_store_.nonce_of(player.name, random);
    if (!nonce) return nonce.error();
    auto entry = enter_player(*client_,
                              {.display_name = player.name,
                               .endpoint = player.endpoint,
                               .game_types = {(*game)->game_type()},
                               .nonce = *nonce},
                              clock_, random);
    if (!entry) return entry.error();
    residents_.push_back(entry->player_id);
  }
  return {};
}

Result<void> Tournament::poll_league() {
  auto status = client_->call("get_league_status", nlohmann::json::object(), kPatienceWithAnswer);
  if (!status) return status.error();
  progress_ = parse_progress(*status);
  return {};
}

Result<bool> Tournament::watch_league() {
  for (;;) {
    auto go_on =
        wait_a_moment(progress_.has_started() || options_.guests() > 0 ? kBetweenPolls : kMoment);
    if (!go_on || !*go_on) return go_on;
    // A failed poll is only reported: if the manager has died, check_programs detects that.
    if (auto polled = poll_league(); !polled) {
      silent_manager_.note("the league manager does not answer, waiting for it (" +
                               processes_.manager()->stderr_file.string() +
                               "): " + safe_text(polled.error().message),
                           "");
      continue;
    }
    silent_manager_.note("", "the league manager answers again");
    if (progress_.is_completed()) return wait_until_told();
    if (options_.guests() > 0 && !progress_.has_started() && processes_.is_ready() &&
        std::exchange(players_seen_, progress_.players) != progress_.players)
      greet_newcomers();
    auto now = clock_.steady_now();
    if (view_.rows_wanted() > 0 && progress_.has_started() && now >= next_table_) {
      if (auto rows = client_->standings(view_.rows_wanted()); rows) top_ = parse_rows(*rows);
      next_table_ = now + kBetweenTables;
    }
    if (now >= next_picture_) {
      view_.show(progress_, top_, progress_.seconds(clock_.utc_now()));
      next_picture_ = now + kBetweenPictures;
    }
  }
}

void Tournament::greet_newcomers() {
  auto ours = processes_.ids();
  ours.insert(ours.end(), residents_.begin(), residents_.end());
  auto rows = client_->standings(static_cast<std::size_t>(options_.all_players()));
  if (!rows) return;
  for (const auto& row : parse_rows(*rows)) {
    auto is_known = [&row](const std::vector<std::string>& ids) {
      return std::find(ids.begin(), ids.end(), row.player_id) != ids.end();
    };
    if (is_known(ours) || is_known(greeted_)) continue;
    greeted_.push_back(row.player_id);
    view_.say("arrived: " + safe_text(row.display_name) + " is " + row.player_id + " (" +
              std::to_string(greeted_.size()) + " of " + std::to_string(options_.guests()) +
              (options_.seats > 0 ? " guests)" : " external players)"));
  }
}

Result<bool> Tournament::wait_until_told() {
  auto deadline = clock_.steady_now() + kLastWords;
  processes_.listen();
  while (!processes_.manager()->has_finished && clock_.steady_now() < deadline) {
    auto go_on = wait_a_moment(kMoment);
    if (!go_on) return go_on;
    if (!*go_on) return true;  // interrupted, but the league is complete
  }
  return true;
}

}  // namespace league::tools
