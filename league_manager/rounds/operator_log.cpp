#include "league_manager/rounds/operator_log.h"

#include <algorithm>
#include <cstdio>

#include "common/core/counted.h"
#include "common/core/text.h"
#include "league_manager/core/overloaded.h"
#include "league_manager/rounds/reason_text.h"

namespace league::league_manager::rounds {

namespace {

constexpr std::size_t kLongestName = 200;  // bytes: 50 characters
constexpr std::size_t kLongestEndpoint = 120;
constexpr std::size_t kLongestText = 400;
constexpr std::size_t kNamedMatches = 8;  // named in one line; the rest is only counted

std::string count_of(std::size_t number, const std::string& what) {
  return core::counted(static_cast<long>(number), what, what == "match" ? "matches" : "");
}

std::string list_of(const std::vector<events::MatchKey>& matches) {
  std::string text;
  for (std::size_t i = 0; i < matches.size() && i < kNamedMatches; ++i)
    text += (i == 0 ? "" : ", ") + matches[i].id().str();
  return matches.size() > kNamedMatches ? text + ", ..." : text;
}

nlohmann::json match_ids(const std::vector<events::MatchKey>& matches) {
  auto ids = nlohmann::json::array();
  for (events::MatchKey match : matches) ids.push_back(match.id().str());
  return ids;
}

std::string seconds_between(core::UtcTimestamp from, core::UtcTimestamp to) {
  const double seconds = std::chrono::duration<double>(to.instant() - from.instant()).count();
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

}  // namespace

void OperatorLog::tell(const OperatorLine& line) const {
  if (is_live_) sink_(line);
}

void OperatorLog::say(bool is_warning, std::string_view event, std::string_view text) {
  tell({.is_warning = is_warning, .event = event, .text = core::shown(text, kLongestText)});
}

std::string OperatorLog::shown(events::AgentRef agent) const {
  const auto& names = names_[static_cast<std::size_t>(agent.kind)];
  const auto index = static_cast<std::size_t>(agent.index);
  return index < names.size() ? agent.id() + " '" + names[index] + "'" : agent.id();
}

void OperatorLog::refused(events::AgentKind kind, std::string_view name, std::string_view endpoint,
                          const core::Error& why, std::string_view code_owner) {
  {
    // A sender that floods the manager must not flood its operator: equal lines are counted, not
    // repeated.
    std::lock_guard lock(mutex_);
    if (++refusals_ > kMostRefusals) {
      return tell({.is_warning = true,
                   .event = "REGISTRATION_REFUSED",
                   .text = "further registrations are refused with " +
                           std::string(core::wire_code(why.code)) +
                           "; the conversation log lists all of them",
                   .fields = {{"error_code", core::wire_code(why.code)}}});
    }
  }
  const std::string who = core::shown(name, kLongestName);
  const std::string where = core::shown(endpoint, kLongestEndpoint);
  const std::string text = core::shown(why.message, kLongestText);
  const bool is_known = !code_owner.empty() && code_owner != name;
  const std::string with_code =
      is_known ? ", with the code of '" + core::shown(code_owner, kLongestName) + "'," : "";
  nlohmann::json fields = {{"kind", events::agent_kind_name(kind)},
                           {"name", who},
                           {"endpoint", where},
                           {"error_code", core::wire_code(why.code)}};
  if (!code_owner.empty()) fields["code_owner"] = code_owner;
  tell({.is_warning = true,
        .event = "REGISTRATION_REFUSED",
        .text = std::string(events::agent_kind_name(kind)) + " '" + who + "' at " + where +
                with_code + " is refused: " + std::string(core::wire_code(why.code)) + " " + text,
        .fields = std::move(fields)});
}

void OperatorLog::ignored(events::AgentRef agent, std::string_view why) {
  std::lock_guard lock(mutex_);
  if (++ignored_ > kMostRefusals) return;
  tell({.is_warning = true,
        .event = "REGISTRATION_IGNORED",
        .text = "of the registration of " + shown(agent) +
                " a part is ignored: " + core::shown(why, kLongestText),
        .fields = {{"agent", agent.id()}}});
}

void OperatorLog::seated(const std::string& player, std::string_view line) {
  std::lock_guard lock(mutex_);
  tell({.is_warning = false,
        .event = "SEAT_TAKEN",
        .text = player + " has come to its seat (" + std::string(line) + ")",
        .fields = {{"agent", player}, {"connection", std::string(line)}}});
}

void OperatorLog::seat_refused(std::string_view player, const core::Error& why) {
  std::lock_guard lock(mutex_);
  if (++seats_refused_ > kMostRefusals) return;
  const std::string seat = core::shown(player, kLongestName);
  tell({.is_warning = true,
        .event = "SEAT_REFUSED",
        .text = "somebody was refused at the seat " + seat + ": " +
                core::shown(why.message, kLongestText),
        .fields = {{"seat", seat}, {"error_code", std::string(core::wire_code(why.code))}}});
}

void OperatorLog::slow(events::AgentRef player, events::MatchKey match, std::string_view call,
                       std::string_view error_code, int attempts) {
  std::lock_guard lock(mutex_);
  const std::string what = core::shown(call);
  const std::string code = core::shown(error_code);
  tell({.is_warning = true,
        .event = "SLOW_BOT",
        .text = shown(player) + " is slow: " + what + " of " + match.id().str() +
                " was answered after " + count_of(static_cast<std::size_t>(attempts), "failure") +
                " (" + code + ")",
        .fields = {{"agent", player.id()},
                   {"match", match.id().str()},
                   {"call", what},
                   {"error_code", code},
                   {"attempts", attempts}}});
}

void OperatorLog::assignment_refused(events::AgentRef referee,
                                     const std::vector<events::MatchKey>& matches,
                                     std::string_view why) {
  std::lock_guard lock(mutex_);
  tell({.is_warning = true,
        .event = "ASSIGNMENT_REFUSED",
        .text = shown(referee) + " has refused " + list_of(matches) + ": " +
                core::shown(why, kLongestText),
        .fields = {{"agent", referee.id()}, {"matches", match_ids(matches)}}});
}

void OperatorLog::on_events(const events::Events& events) {
  std::lock_guard lock(mutex_);
  Moved moved;
  for (const auto& event : events) {
    if (const auto* released = std::get_if<events::MatchReleased>(&event.body)) {
      const auto had = referees_.find(released->match);
      moved[{had == referees_.end() ? -1 : had->second, released->reason}].push_back(
          released->match);
    }
    take(event);
  }
  tell_moved(moved);
}

void OperatorLog::take(const events::Event& event) {
  std::visit(Overloaded{
                 [this](const events::LeagueCreated& e) {
                   players_expected_ = e.players;
                   referees_expected_ = e.referees;
                   meetings_ = e.meetings.value_or(1);
                 },
                 [this](const events::AgentRegistered& e) { on_registered(e); },
                 [this](const events::AgentReregistered& e) { on_registered_again(e); },
                 [this](const events::LeagueStarted& e) { on_started(e); },
                 [&](const events::RoundStarted& e) { on_round_started(e, event.at); },
                 [this](const events::MatchAssigned& e) { referees_[e.match] = e.referee; },
                 [&](const events::RoundCompleted& e) { on_round_completed(e, event.at); },
                 [this](const events::FailureCounted& e) { on_failure(e); },
                 [this](const events::MatchForfeited& e) { on_forfeited(e); },
                 [this](const events::AgentStateChanged& e) { on_state(e); },
                 [this](const events::MatchReported& e) { on_reported(e); },
                 [this](const events::PlayersAsked& e) { on_asked(e); },
                 [this](const events::OperatorActed& e) { on_act(e); },
                 [this](const events::ReportConflictRecorded& e) { on_conflict(e); },
                 [this](const events::StaleReportRecorded& e) { on_stale_report(e); },
                 [this](const events::MatchDisputed& e) { on_disputed(e); },
                 [](const auto&) {},
             },
             event.body);
}

bool OperatorLog::note_foreign(events::AgentRef agent, const events::AgentProfile& profile) {
  if (agent.kind != events::AgentKind::kReferee) return false;
  if (profile.match_credentials) {
    foreign_referees_.erase(agent.index);
    return false;
  }
  foreign_referees_.insert(agent.index);
  return true;
}

void OperatorLog::on_registered_again(const events::AgentReregistered& event) {
  note_foreign(event.agent, event.profile);
  names_[static_cast<std::size_t>(event.agent.kind)][static_cast<std::size_t>(event.agent.index)] =
      core::shown(event.profile.display_name, kLongestName);
  const std::string how =
      event.recognised_by == events::Recognition::kOperator
          ? " has got a new token from the operator; it is called at "
          : " registered again, recognised by its " +
                core::lower_case(events::recognition_name(event.recognised_by)) + ", at ";
  tell({.event = "REGISTERED_AGAIN",
        .text = shown(event.agent) + how + core::shown(event.profile.endpoint, kLongestEndpoint),
        .fields = {{"agent", event.agent.id()}}});
}

void OperatorLog::on_round_started(const events::RoundStarted& event, core::UtcTimestamp at) {
  round_started_ = at;
  round_ = event.round;
  refused_reports_.clear();
  tell({.event = "ROUND_STARTED",
        .text = "round " + std::to_string(event.round) + " of " +
                std::to_string(schedule_.rounds()) +
                " starts: " + count_of(event.draw_seeds.size(), "match"),
        .fields = {{"round", event.round}, {"matches", event.draw_seeds.size()}}});
}

void OperatorLog::on_registered(const events::AgentRegistered& event) {
  auto& names = names_[static_cast<std::size_t>(event.agent.kind)];
  const auto seat = static_cast<std::size_t>(event.agent.index);
  if (names.size() <= seat) names.resize(seat + 1);
  names[seat] = core::shown(event.profile.display_name, kLongestName);
  free_.erase(event.agent);
  const auto in = [this](events::AgentKind kind, int expected) {
    const auto free = std::ranges::count(free_, kind, &events::AgentRef::kind);
    const auto seats = std::ssize(names_[static_cast<std::size_t>(kind)]);
    return std::to_string(seats - free) + " of " + std::to_string(expected) + " " +
           std::string(events::agent_kind_name(kind)) + "s";
  };
  tell({.event = "REGISTERED",
        .text = shown(event.agent) + " registered from " +
                core::shown(event.profile.endpoint, kLongestEndpoint) + "; " +
                in(events::AgentKind::kPlayer, players_expected_) + " and " +
                in(events::AgentKind::kReferee, referees_expected_) + " have registered",
        .fields = {{"agent", event.agent.id()}, {"name", names[seat]}}});
  if (!note_foreign(event.agent, event.profile)) return;
  tell({.event = "FOREIGN_REFEREE",
        .text = shown(event.agent) +
                " is a third-party referee: its results are unproven, and our players accept its "
                "calls only with the token that the league gave it. If it calls players without a "
                "token, start with --unproven-referees=tokenless",
        .fields = {{"agent", event.agent.id()}}});
}

void OperatorLog::on_started(const events::LeagueStarted& event) {
  is_started_ = true;
  std::vector<int> absent;
  for (const events::AgentRef seat : free_)
    if (seat.kind == events::AgentKind::kPlayer) absent.push_back(seat.index);
  schedule_ = Schedule(event.players, std::move(absent), meetings_);
  tell({.event = "LEAGUE_STARTED",
        .text = "the league starts: " + std::to_string(event.players) + " players, " +
                count_of(static_cast<std::size_t>(event.referees), "referee") + ", " +
                count_of(static_cast<std::size_t>(schedule_.rounds()), "round") + ", " +
                count_of(schedule_.total_matches(), "match"),
        .fields = {{"players", event.players},
                   {"referees", event.referees},
                   {"rounds", schedule_.rounds()}}});
}

void OperatorLog::on_round_completed(const events::RoundCompleted& event, core::UtcTimestamp at) {
  referees_.clear();
  const events::MatchSummary& sum = event.summary;
  std::string text = "round " + std::to_string(event.round) + " of " +
                     std::to_string(schedule_.rounds()) + " is over after " +
                     seconds_between(round_started_, at) + ": " + std::to_string(sum.wins) +
                     " won, " + std::to_string(sum.draws) + " drawn";
  if (sum.technical_losses > 0)
    text += ", " + std::to_string(sum.technical_losses) + " lost technically";
  tell({.event = "ROUND_COMPLETED",
        .text = std::move(text),
        .fields = {{"round", event.round},
                   {"wins", sum.wins},
                   {"draws", sum.draws},
                   {"technical_losses", sum.technical_losses}}});
}

void OperatorLog::on_failure(const events::FailureCounted& event) {
  if (event.agent.kind != events::AgentKind::kPlayer || !event.match) return;
  std::string cause = "the referee reported no cause";
  nlohmann::json fields = {{"agent", event.agent.id()}, {"match", event.match->id().str()}};
  if (event.cause) {
    const events::FailureCause& why = *event.cause;
    cause = why.str();
    if (why.attempts > 1) cause += ", " + std::to_string(why.attempts) + " times";
    const auto first = first_match_of(event.agent, *event.match, why);
    if (first != *event.match) {
      cause += ", as in " + first.id().str();
    } else if (!why.text.empty()) {
      cause += " (" + why.text + ")";
    }
    fields["call"] = why.call;
    fields["error_code"] = why.error_code;
    if (!why.field.empty()) fields["field"] = why.field;
  }
  if (event.is_excused)
    cause += "; the referee itself was late, so this does not count as the bot's failure";
  tell({.is_warning = true,
        .event = "TECHNICAL_LOSS",
        .text = shown(event.agent) + " loses " + event.match->id().str() + " technically: " + cause,
        .fields = std::move(fields)});
}

events::MatchKey OperatorLog::first_match_of(events::AgentRef player, events::MatchKey match,
                                             const events::FailureCause& cause) {
  constexpr std::size_t kMostFaults = 8;  // remembered of a player; later ones are told each time
  auto& faults = faults_[player];
  const auto known = std::ranges::find_if(
      faults, [&cause](const auto& fault) { return fault.second.is_same_fault(cause); });
  if (known != faults.end()) return known->first;
  if (faults.size() < kMostFaults) faults.emplace_back(match, cause);
  return match;
}

void OperatorLog::on_forfeited(const events::MatchForfeited& event) {
  const Pairing pairing = schedule_.pairing(event.match);
  const events::AgentRef a = events::AgentRef::player(pairing.player_a);
  const events::AgentRef b = events::AgentRef::player(pairing.player_b);
  const auto winner = game::winner_of(event.result.outcome);
  const std::string outcome =
      winner ? shown(*winner == game::Side::kA ? a : b) + " wins" : "nobody gets a point";
  tell({.is_warning = true,
        .event = "MATCH_FORFEITED",
        .text = event.match.id().str() + " of " + shown(a) + " and " + shown(b) +
                " ends without being played, because " +
                forfeit_reason(event.result.technical_reason) + ": " + outcome,
        .fields = {{"match", event.match.id().str()}, {"reason", event.result.technical_reason}}});
}

void OperatorLog::on_state(const events::AgentStateChanged& event) {
  const bool is_back = event.to == events::AgentState::kActive;
  std::string text = shown(event.agent) + " is " + std::string(events::agent_state_name(event.to)) +
                     " (" + event.reason;
  if (event.detail) text += ": " + *event.detail;
  if (event.by) text += ", by " + *event.by;
  text += ")";
  if (event.to == events::AgentState::kSuspended && event.agent.kind == events::AgentKind::kPlayer)
    text += "; its matches begin with a ping and have one attempt per call until it plays again";
  if (event.agent.kind == events::AgentKind::kReferee) {
    if (is_back) {
      absent_referees_.erase(event.agent);
    } else {
      absent_referees_.insert(event.agent);
    }
    if (absent_referees_.size() == names_[static_cast<std::size_t>(event.agent.kind)].size())
      text += "; no referee is left: matches wait until one comes back or registers";
  }
  if (!is_started_ && event.to == events::AgentState::kShutdown) {
    text += "; its seat, name, address and code are free again";
    free_.insert(event.agent);
  }
  tell({.is_warning = !is_back,
        .event = "AGENT_STATE_CHANGED",
        .text = std::move(text),
        .fields = {{"agent", event.agent.id()},
                   {"state", events::agent_state_name(event.to)},
                   {"reason", event.reason}}});
}

void OperatorLog::on_act(const events::OperatorActed& event) {
  std::string what;
  nlohmann::json fields = {{"act", events::operator_act_name(event.act)}, {"by", event.by}};
  switch (event.act) {
    case events::OperatorAct::kPause:
      what = "the league is paused: matches that are being played continue, no other match starts";
      break;
    case events::OperatorAct::kResume:
      what = "the league continues";
      break;
    case events::OperatorAct::kExtendRound:
      what = "the round is extended by " + std::to_string(event.seconds.value_or(0)) + " s";
      fields["seconds"] = event.seconds.value_or(0);
      break;
    case events::OperatorAct::kAnnounce:
      what = "announcement";
      break;
    case events::OperatorAct::kVoidMatch:
      what = event.match->id().str() + " is void";
      fields["match"] = event.match->id().str();
      if (event.replay) {
        schedule_.add_replay(*event.match, round_);
        what += " and will be played again as " + event.replay->id().str();
        fields["replay"] = event.replay->id().str();
      }
      break;
    case events::OperatorAct::kEndLeague:
      what = "the league is ended: no further match starts";
      break;
  }
  if (!event.reason.empty()) what += ": " + event.reason;
  tell({.event = "OPERATOR_ACTED",
        .text = what + " (by " + event.by + ")",
        .fields = std::move(fields)});
}

void OperatorLog::tell_moved(const Moved& moved) const {
  for (const auto& [from, matches] : moved) {
    if (from.second == events::kReasonLeagueEnded) continue;  // OPERATOR_ACTED has reported it
    const events::AgentRef referee = events::AgentRef::referee(from.first);
    tell(
        {.is_warning = true,
         .event = "MATCHES_MOVED",
         .text = list_of(matches) + " taken back from " + shown(referee) + ", which " +
                 release_reason(from.second) + "; to be assigned again",
         .fields = {
             {"referee", referee.id()}, {"reason", from.second}, {"matches", match_ids(matches)}}});
  }
}

}  // namespace league::league_manager::rounds
