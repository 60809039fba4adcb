#include "tools/league/tournament.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/transport/signals.h"
#include "tools/league/enter.h"
#include "tools/league/table_text.h"

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
constexpr std::chrono::seconds kLastWords{5};  // for telling everybody the end of the league
constexpr int kMostFailedPolls = 5;
constexpr std::size_t kTailLines = 10;

Error death_of(Member& member, const ProcessEnd& end) {
  std::string text = member.part.name + " ended " + end.text();
  std::string tail = tail_of(member.stderr_file, kTailLines);
  if (tail.empty()) {
    text += " and left no message";
  } else {
    text += "; its last words (" + member.stderr_file.string() + "):\n" + tail;
    while (text.back() == '\n') text.pop_back();
  }
  return {ErrorCode::kInternalError, text, {}};
}

std::size_t alive(std::vector<Member>& members, Part::Role role) {
  return static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(),
      [role](Member& member) { return member.part.role == role && !member.process.poll_end(); }));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Tournament::Tournament(UpOptions options, std::vector<std::string> strategies,
                       const core::Clock& clock, transport::StopSignal& stop, LiveView& view)
    : options_(std::move(options)),
      strategies_(std::move(strategies)),
      clock_(clock),
      stop_(stop),
      view_(view),
      troupe_(own_directory(), options_.logs) {}

Result<TournamentOutcome> Tournament::play() {
  auto go_on = start_manager();
  if (!go_on) return go_on.error();
  if (*go_on) {
    if (auto started = start_agents(); !started) return started.error();
    go_on = watch_league();
    if (!go_on) return go_on.error();
  }
  TournamentOutcome outcome;
  outcome.was_interrupted = !*go_on;
  if (client_) {
    if (auto polled = poll_league(); !polled && !outcome.was_interrupted) return polled.error();
    auto rows = client_->standings(static_cast<std::size_t>(options_.players));
    if (rows) outcome.standings = parse_rows(*rows);
    if (!rows && !outcome.was_interrupted) return rows.error();
  }
  view_.clear();
  outcome.progress = progress_;
  outcome.seconds = progress_.seconds(clock_.utc_now());
  return outcome;
}

void Tournament::stop_programs() { troupe_.stop(); }

Result<bool> Tournament::wait_a_moment(milliseconds moment) {
  if (stop_.wait_for(moment) >= 0) return false;
  troupe_.listen();
  if (auto checked = check_programs(); !checked) return checked.error();
  return true;
}

Result<void> Tournament::check_programs() {
  for (auto& member : troupe_.members()) {
    auto end = member.process.poll_end();
    if (!end || member.end_was_noted) continue;
    bool is_manager = member.part.role == Part::Role::kManager;
    bool is_last_referee = member.part.role == Part::Role::kReferee &&
                           alive(troupe_.members(), Part::Role::kReferee) == 0;
    // Before the start the league would wait for it for ever.
    if (is_manager || is_last_referee || !member.is_ready()) return death_of(member, *end);
    member.end_was_noted = true;
    view_.say(member.part.name + " (" + joined(member.ready_ids) + ") ended " + end->text() +
              "; the league goes on, see " + member.stderr_file.string());
  }
  return {};
}

Result<bool> Tournament::start_manager() {
  if (auto started = troupe_.start(manager_part(options_, own_directory())); !started)
    return started.error();
  while (!troupe_.manager()->is_ready()) {
    auto go_on = wait_a_moment(kMoment);
    if (!go_on || !*go_on) return go_on;
  }
  manager_url_ = troupe_.manager()->url;
  auto client = ManagerClient::connect(manager_url_);
  if (!client) return client.error();
  client_.emplace(std::move(*client));
  return true;
}

Result<void> Tournament::start_agents() {
  // On a bus they need no address but the league's name.
  const std::string manager =
      options_.bus.empty() ? manager_url_ : "nats:manager/" + troupe_.manager()->ready_ids.at(0);
  for (auto& part : referee_parts(options_, manager, own_directory())) {
    if (auto started = troupe_.start(std::move(part)); !started) return started;
  }
  auto cast = cast_players(options_, strategies_, manager, own_directory());
  for (auto& part : cast.parts) {
    if (auto started = troupe_.start(std::move(part)); !started) return started;
  }
  core::CryptoRandom random;
  for (const auto& resident : cast.residents) {
    auto entry = enter_player(*client_, {resident.name, resident.endpoint}, clock_, random);
    if (!entry) return entry.error();
    residents_.push_back(entry->player_id);
  }
  if (options_.external > 0) {
    std::string on_bus = options_.bus.empty() ? "" : ", or on the bus at " + options_.bus;
    view_.say("register your " + std::to_string(options_.external) +
              (options_.external == 1 ? " player" : " players") + " at " + manager_url_ + on_bus +
              " (league_register); the league starts when all are in");
  }
  return {};
}

Result<void> Tournament::poll_league() {
  auto status = client_->call("get_league_status", nlohmann::json::object());
  if (!status) return status.error();
  progress_ = parse_progress(*status);
  return {};
}

Result<bool> Tournament::watch_league() {
  for (;;) {
    auto go_on =
        wait_a_moment(progress_.has_started() || options_.external > 0 ? kBetweenPolls : kMoment);
    if (!go_on || !*go_on) return go_on;
    if (auto polled = poll_league(); !polled) {
      // A manager that has just died is better reported with its last words: look again.
      if (++failed_polls_ > kMostFailedPolls) return polled.error();
      continue;
    }
    failed_polls_ = 0;
    if (progress_.is_completed()) return wait_until_told();
    if (options_.external > 0 && !progress_.has_started() && troupe_.is_ready()) greet_newcomers();
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
  auto ours = troupe_.ids();
  ours.insert(ours.end(), residents_.begin(), residents_.end());
  auto rows = client_->standings(static_cast<std::size_t>(options_.players));
  if (!rows) return;
  for (const auto& row : parse_rows(*rows)) {
    auto is_known = [&row](const std::vector<std::string>& ids) {
      return std::find(ids.begin(), ids.end(), row.player_id) != ids.end();
    };
    if (is_known(ours) || is_known(greeted_)) continue;
    greeted_.push_back(row.player_id);
    view_.say("arrived: " + safe_text(row.display_name) + " is " + row.player_id + " (" +
              std::to_string(greeted_.size()) + " of " + std::to_string(options_.external) +
              " external players)");
  }
}

Result<bool> Tournament::wait_until_told() {
  auto deadline = clock_.steady_now() + kLastWords;
  troupe_.listen();
  while (!troupe_.manager()->has_finished && clock_.steady_now() < deadline) {
    auto go_on = wait_a_moment(kMoment);
    if (!go_on) return go_on;
    if (!*go_on) return true;  // the league is complete all the same
  }
  return true;
}

}  // namespace league::tools
