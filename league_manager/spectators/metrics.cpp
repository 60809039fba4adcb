#include "league_manager/spectators/metrics.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/core/error_code.h"
#include "common/envelope/message_type.h"
#include "common/envelope/sender.h"

namespace league::league_manager::spectators {

using std::chrono_literals::operator""ns;

namespace {

/// `code` if it is in our table, otherwise `other`.
std::string_view known_code(std::string_view code) {
  const auto parsed = core::parse_error_code(code);
  return parsed ? core::wire_code(*parsed) : "other";
}

/// The role in a peer such as `player:P01` if it is in our table, otherwise `other`.
std::string_view known_role(std::string_view peer) {
  const std::string_view role = peer.substr(0, peer.find(':'));
  for (auto one :
       {envelope::Role::kPlayer, envelope::Role::kReferee, envelope::Role::kLeagueManager})
    if (role == envelope::role_name(one)) return envelope::role_name(one);
  return "other";
}

std::string_view known_type(std::string_view type) {
  const auto parsed = envelope::message_type_from_wire(type);
  return parsed ? envelope::wire_name(*parsed) : "other";
}

std::string_view result_of(const game::MatchResult& result) {
  if (result.is_technical()) return "technical_loss";
  return result.outcome == game::Outcome::kDraw ? "draw" : "win";
}

/// The reason why the manager itself ended a match, if it is in our table; otherwise `other`.
std::string_view known_forfeit(std::string_view reason) {
  for (auto one :
       {events::kReasonPlayerShutDown, events::kReasonNoReferee, events::kReasonRoundTimeLimit})
    if (reason == one) return one;
  return "other";
}

/// The command with which the operator changed an agent's state; empty if it was not the operator.
std::string_view act_of(const events::AgentStateChanged& change) {
  if (change.reason == events::kReasonShutDownByOperator) return "SHUT_DOWN";
  if (change.reason == events::kReasonDisqualified) return "DISQUALIFY";
  if (change.reason == events::kReasonRestored) return "RESTORE";
  // `by` is missing if a player withdraws by itself.
  return change.reason == events::kReasonWithdrawn && change.by ? "WITHDRAW" : "";
}

std::string label(std::string_view name, std::string_view value) {
  std::string out(name);
  out += "=\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  out.append(name).append(" ").append(type).append("\n");
}

void sample(std::string& out, std::string_view name, const std::string& labels, double value) {
  out += name;
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

void gauge(std::string& out, std::string_view name, std::string_view help, double value) {
  head(out, name, "gauge", help);
  sample(out, name, {}, value);
}

void counter(std::string& out, std::string_view name, std::string_view help, std::uint64_t value) {
  head(out, name, "counter", help);
  sample(out, name, {}, static_cast<double>(value));
}

void append_refusals(std::string& out, const RegistrationBoard::RefusalCounts& refused) {
  head(out, "league_registrations_refused_total", "counter",
       "Refused registrations by role and error, since this process began.");
  for (const auto& [which, count] : refused)
    sample(out, "league_registrations_refused_total",
           label("role", events::agent_kind_name(which.first)) + "," +
               label("error_code", core::wire_code(which.second)),
           static_cast<double>(count));
}

void append_standbys(std::string& out, const std::vector<ReplicationFigures::Standby>& standbys) {
  head(out, "league_standby_entries", "gauge", "The last event in the journal of each stand-by.");
  for (const auto& standby : standbys)
    sample(out, "league_standby_entries", label("name", standby.name),
           static_cast<double>(standby.entries));
  head(out, "league_standby_in_sync", "gauge", "1 if answers wait for this stand-by.");
  for (const auto& standby : standbys)
    sample(out, "league_standby_in_sync", label("name", standby.name), standby.in_sync);
}

void append_replication(std::string& out, const ReplicationFigures& figures) {
  gauge(out, "league_replication_term", "The term in which this manager leads.",
        static_cast<double>(figures.term));
  gauge(out, "league_replication_written", "The last durable event in this manager's journal.",
        static_cast<double>(figures.written));
  gauge(out, "league_replication_acknowledged",
        "The last event that the stream and all stand-bys in sync have as well.",
        static_cast<double>(figures.acknowledged));
  gauge(out, "league_replication_waiting",
        "1 while answers wait for a broker or another manager; /readyz says for which.",
        !figures.waits_for.empty());
  append_standbys(out, figures.standbys);
  if (figures.store_max_bytes <= 0) return;
  gauge(out, "league_journal_store_ratio",
        "How full the broker's stream of the journal is: 1 is its limit.",
        static_cast<double>(figures.store_bytes) / static_cast<double>(figures.store_max_bytes));
}

void append_league(std::string& out, const League& league) {
  const LeagueStatus status = league.status();
  head(out, "league_state", "gauge", "1 for the current state of the league.");
  for (auto state : {LeagueState::kRegistering, LeagueState::kRunning, LeagueState::kCompleted})
    sample(out, "league_state", label("state", league_state_name(state)), status.state == state);
  gauge(out, "league_paused", "1 while the operator has paused the league.", league.is_paused());
  gauge(out, "league_round", "The current round; 0 before the first.", status.current_round);
  gauge(out, "league_rounds", "Rounds of the league; 0 before its start.", status.total_rounds);
  gauge(out, "league_matches", "Matches of the league; 0 before its start.",
        static_cast<double>(status.total_matches));
  head(out, "league_agents", "gauge", "Registered agents by role and state.");
  for (events::AgentKind kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    std::map<events::AgentState, int> counts;
    for (const events::Agent& agent : league.roster().agents(kind)) {
      if (!agent.is_free) ++counts[agent.lifecycle.state()];
    }
    for (auto state : {events::AgentState::kRegistered, events::AgentState::kActive,
                       events::AgentState::kSuspended, events::AgentState::kShutdown})
      sample(out, "league_agents",
             label("role", events::agent_kind_name(kind)) + "," +
                 label("state", events::agent_state_name(state)),
             counts[state]);
  }
  int waiting = 0;
  int in_play = 0;
  const RoundBoard& board = league.board();
  for (int i = 1; i <= board.matches(); ++i) {
    const MatchStatus of_match = board.slot({board.round(), i}).status;
    waiting += of_match == MatchStatus::kPending ? 1 : 0;
    in_play += of_match == MatchStatus::kAssigned ? 1 : 0;
  }
  gauge(out, "league_matches_waiting", "Matches of the round that wait for a referee.", waiting);
  gauge(out, "league_matches_in_play", "Matches assigned to a referee.", in_play);
}

}  // namespace

void Metrics::Histogram::add(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum += seconds;
}

void Metrics::Histogram::append(std::string& out, std::string_view name,
                                const std::string& labels) const {
  const std::string bucket = std::string(name) + "_bucket";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const std::string bound = i < kBounds.size() ? number_text(kBounds[i]) : "+Inf";
    sample(out, bucket, labels + "," + label("le", bound), static_cast<double>(total));
  }
  sample(out, std::string(name) + "_sum", labels, sum);
  sample(out, std::string(name) + "_count", labels, static_cast<double>(total));
}

void Metrics::count_answer(std::string_view call, const std::optional<int>& us) {
  constexpr double kMicrosecond = 1e-6;
  if (us) answers_[call].add(*us * kMicrosecond);
}

void Metrics::on_events(const events::Events& events) {
  std::lock_guard lock(mutex_);
  for (const events::Event& event : events) {
    if (const auto* reported = std::get_if<events::MatchReported>(&event.body)) {
      ++results_[result_of(reported->result)];
      if (!reported->evidence) continue;
      for (const auto& times : reported->evidence->answered_in.both) {
        count_answer("GAME_INVITATION", times.join_us);
        count_answer("CHOOSE_PARITY_CALL", times.choice_us);
      }
    } else if (const auto* forfeited = std::get_if<events::MatchForfeited>(&event.body)) {
      ++results_[result_of(forfeited->result)];
      ++forfeits_[known_forfeit(forfeited->result.technical_reason)];
    } else if (const auto* failure = std::get_if<events::FailureCounted>(&event.body)) {
      if (failure->cause) ++losses_[known_code(failure->cause->error_code)];
    } else if (const auto* registered = std::get_if<events::AgentRegistered>(&event.body)) {
      ++registrations_[agent_kind_name(registered->agent.kind)];
    } else if (std::holds_alternative<events::MatchAssigned>(event.body)) {
      ++assigned_;
    } else if (std::holds_alternative<events::MatchReleased>(event.body)) {
      ++taken_back_;
    } else if (const auto* acted = std::get_if<events::OperatorActed>(&event.body)) {
      if (acted->match) ++voided_;
      if (acted->by != events::kByManager) ++acts_[operator_act_name(acted->act)];
    } else if (const auto* change = std::get_if<events::AgentStateChanged>(&event.body)) {
      if (const auto act = act_of(*change); !act.empty()) ++acts_[act];
    }
  }
}

void Metrics::on_record(const audit::record::Record& record) {
  const bool is_request = record.kind == audit::record::Kind::kRequest;
  const bool is_theirs = is_request == (record.direction == audit::record::Direction::kIn);
  if (is_theirs && !is_request) return;  // our answer: the request's record has the duration
  const auto& notes = record.notes;
  std::lock_guard lock(mutex_);
  CallKind kind;
  if (is_request) {
    kind = {is_theirs ? "in" : "out", known_role(is_theirs ? notes.said_by : notes.peer),
            known_type(notes.message_type)};
    if (!is_theirs) {
      unanswered_.emplace(record.call, kind);
      return;
    }
  } else {
    const auto request = unanswered_.extract(record.call);
    if (request.empty()) return;
    kind = request.mapped();
  }
  Calls& calls = calls_[kind];
  calls.elapsed.add(std::chrono::duration<double>(record.elapsed.value_or(0ns)).count());
  if (notes.verdict) ++calls.errors[core::wire_code(*notes.verdict)];
}

void Metrics::append_calls(std::string& out) const {
  const auto labels_of = [](const CallKind& kind) {
    return label("direction", kind.direction) + "," + label("role", kind.role) + "," +
           label("type", kind.type);
  };
  head(out, "league_call_seconds", "histogram",
       "Time until a call to the manager (in) or from it (out) was answered, since this process "
       "began.");
  for (const auto& [kind, calls] : calls_)
    calls.elapsed.append(out, "league_call_seconds", labels_of(kind));
  gauge(out, "league_calls_unanswered", "Calls of the manager that have not been answered yet.",
        static_cast<double>(unanswered_.size()));
  head(out, "league_call_errors_total", "counter",
       "Refused or failed calls to the manager (in) and from it (out), by code.");
  for (const auto& [kind, calls] : calls_) {
    for (const auto& [code, count] : calls.errors)
      sample(out, "league_call_errors_total", labels_of(kind) + "," + label("error_code", code),
             static_cast<double>(count));
  }
}

std::string Metrics::text(const League& league, const MetricFigures& figures) const {
  std::string out;
  append_league(out, league);
  gauge(out, "league_log_queue_bytes", "Conversation log that is not written yet.",
        static_cast<double>(figures.log_queue_bytes));
  counter(out, "league_log_records_total", "Records written to the conversation log.",
          figures.log_records);
  gauge(out, "league_log_healthy", "0 while the conversation log cannot be written.",
        figures.is_log_healthy);
  gauge(out, "league_journal_waiting", "Decisions that are not durable in the journal yet.",
        figures.journal_waiting);
  gauge(out, "league_journal_commit_seconds",
        "Time that the last decision took to become durable in the journal.",
        figures.journal_seconds);
  gauge(out, "league_spectators", "Streams of the live page.",
        static_cast<double>(figures.spectators));
  if (figures.replication) append_replication(out, *figures.replication);
  std::lock_guard lock(mutex_);
  const auto counters = [&out](std::string_view name, std::string_view key, std::string_view help,
                               const auto& counts) {
    head(out, name, "counter", help);
    for (const auto& [value, count] : counts)
      sample(out, name, label(key, value), static_cast<double>(count));
  };
  counters("league_matches_finished_total", "result", "Finished matches by how they ended.",
           results_);
  counters("league_technical_losses_total", "error_code",
           "Players' failures that lost a match, by cause.", losses_);
  counters("league_matches_forfeited_total", "reason",
           "Matches that the manager ended without a referee's report.", forfeits_);
  counters("league_operator_acts_total", "act", "What the operator did.", acts_);
  counters("league_registrations_total", "role", "Agents that got a place.", registrations_);
  append_refusals(out, figures.refused);
  counter(out, "league_matches_voided_total", "Finished matches that the operator has voided.",
          voided_);
  counter(out, "league_matches_assigned_total",
          "Matches assigned to a referee, each assignment counted.", assigned_);
  counter(out, "league_matches_taken_back_total", "Matches taken from their referee.", taken_back_);
  head(out, "league_answer_seconds", "histogram",
       "How long players took to answer, as the referees report it.");
  for (const auto& [call, times] : answers_)
    times.append(out, "league_answer_seconds", label("call", call));
  append_calls(out);
  return out;
}

}  // namespace league::league_manager::spectators
