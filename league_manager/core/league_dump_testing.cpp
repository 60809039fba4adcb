#include <algorithm>
#include <sstream>

#include "common/core/crypto.h"
#include "league_manager/core/league_testing.h"

namespace league::league_manager {

/// Reads what no program needs to read.
class LeagueDump {
 public:
  static std::string of(const events::AgentLifecycle& lifecycle);
  static std::string of(const League& league);
};

std::string LeagueDump::of(const events::AgentLifecycle& lifecycle) {
  std::ostringstream out;
  out << agent_state_name(lifecycle.state_) << " since " << lifecycle.since_.to_log() << " '"
      << lifecycle.reason_ << "' '" << lifecycle.detail_ << "' failed " << lifecycle.failed_
      << " in a row " << lifecycle.in_a_row_ << " last "
      << (lifecycle.last_failed_ ? lifecycle.last_failed_->id().str() : "-");
  return out.str();
}

namespace {

void dump_agent(std::ostream& out, events::AgentRef ref, const events::Agent& agent) {
  const events::AgentProfile& p = agent.profile;
  out << ref.id() << " '" << p.display_name << "' " << p.version << " " << p.endpoint << " "
      << p.protocol_version.value_or("-") << " " << p.contact_email.value_or("-") << " "
      << p.log_public_key.value_or("-") << " " << p.max_concurrent_matches << " "
      << p.assignments_in_ack << p.hears_events << p.match_credentials << p.is_from_loopback
      << p.receipts << p.batches << " " << p.code_digest.value_or("-");
  for (const auto& game : p.game_types) out << " " << game;
  out << " nonce " << agent.credential.nonce << " hash " << agent.credential.token_hash
      << " registration " << agent.registration_nonce_hash << " " << LeagueDump::of(agent.lifecycle)
      << (agent.is_awaited ? " awaited" : "") << (agent.awaits_nonce ? " awaits nonce" : "")
      << (agent.is_free ? " free" : "");
  for (const auto& past : agent.past_credentials)
    out << " past " << past.nonce << " until " << past.until.to_log();
  out << "\n";
}

void dump_result(std::ostream& out, const events::CompactResult& r) {
  out << game::outcome_name(r.outcome) << " " << r.reason_fingerprint << " referee " << r.referee
      << " attempt " << int{r.attempt} << " drawn " << int{r.drawn_number} << " choices "
      << r.choices_fingerprint << " " << (r.fairness ? game::fairness_name(*r.fairness) : "-")
      << " unproven " << r.is_unproven << " voided " << r.is_voided << " unplayed " << r.is_unplayed
      << " by manager " << r.by_manager << " incidents " << int{r.incidents};
}

void dump_slot(std::ostream& out, events::MatchKey match, const MatchSlot& slot) {
  out << match.id().str() << " status " << static_cast<int>(slot.status) << " planned "
      << slot.planned_referee << " referees";
  int first = std::max(1, slot.attempts - kKnownAttempts + 1);
  for (int attempt = first; attempt <= slot.attempts; ++attempt)
    out << " " << slot.referee_of(attempt);
  out << " attempts " << slot.attempts << " excused " << slot.excused << " " << slot.is_excused;
  out << " contradicted " << int{slot.contradicted_by_receipt} << slot.is_loss_contradicted
      << " by " << slot.contradicting[0] << "," << slot.contradicting[1] << " suspended "
      << slot.suspended[0] << slot.suspended[1];
  out << " at " << slot.since.to_log() << " after " << (slot.after ? slot.after->id().str() : "-")
      << " seed " << core::to_hex(slot.seed) << " result ";
  dump_result(out, slot.result);
  out << "\n";
}

void dump_summary(std::ostream& out, const events::MatchSummary& s) {
  out << s.total_matches << " = " << s.wins << " + " << s.draws << " + " << s.technical_losses
      << "\n";
}

}  // namespace

std::string LeagueDump::of(const League& league) {
  std::ostringstream out;
  out << league.settings_.league_id.str() << " " << league_state_name(league.state_) << " created "
      << league.is_created_ << " round " << league.board_.round() << " open "
      << league.is_round_open_ << " since " << league.board_.started_at().to_log() << " unfinished "
      << league.board_.unfinished() << " champion " << league.champion_.value_or(-1) << " told "
      << league.announced_round_ << " " << league.told_round_ << " " << league.is_end_told_
      << (league.is_paused_ ? " paused" : "") << (league.is_draining_ ? " draining" : "")
      << (league.is_ended_ ? " ended" : "") << " extended " << league.board_.extension().count()
      << "\n";
  for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    for (int i = 0; i < league.roster_.count(kind); ++i)
      dump_agent(out, {kind, i}, league.roster_.agent({kind, i}));
  }
  for (int i = 0; i < league.board_.referees(); ++i) {
    out << "load " << i << " " << league.board_.open_count(i) << " "
        << league.board_.assigned_total(i) << "\n";
  }
  for (int number = 1; number <= league.board_.matches(); ++number) {
    events::MatchKey match{league.board_.round(), number};
    dump_slot(out, match, league.board_.slot(match));
  }
  for (std::size_t round = 0; round < league.results_.size(); ++round) {
    out << "round " << round + 1 << " ";
    dump_summary(out, league.summaries_[round]);
    for (const auto& result : league.results_[round]) {
      dump_result(out, result);
      out << "\n";
    }
  }
  for (const auto& [match, players] : league.disputes_) {
    out << "disputed " << match.id().str();
    for (int player : players) out << " " << player;
    out << "\n";
  }
  out << "files keyed " << league.are_files_keyed_ << " meetings " << league.meetings_.value_or(0)
      << "\n";
  for (const auto& [agent, head] : league.log_heads_)
    out << agent.id() << " log " << head.seq << " " << head.hash << "\n";
  for (const auto& [match, replay] : league.voided_)
    out << "void " << match.id().str() << " " << (replay ? replay->id().str() : "-") << "\n";
  for (const auto& [match, reason] : league.technical_reasons_)
    out << "lost " << match.id().str() << " " << reason << "\n";
  for (const auto& [match, questions] : league.contradictions_) {
    for (const auto& asked : questions)
      out << "contradicted " << match.id().str() << " " << asked.attempt << " " << asked.referee
          << " words " << asked.words.size() << "\n";
  }
  for (const auto& [pair, count] : league.quarrels_)
    out << "quarrel " << pair.first << " " << pair.second << " " << count << "\n";
  for (const auto& [player, count] : league.overruled_)
    out << "overruled " << player << " " << count << "\n";
  out << "finished ";
  dump_summary(out, league.finished_);
  for (const auto& row : league.standings_.table()) {
    out << row.rank << " " << row.player << " " << row.tally.played << " " << row.tally.wins << " "
        << row.tally.draws << " " << row.tally.losses << " " << row.tally.points << "\n";
  }
  return out.str();
}

std::string testing::dump(const League& league) { return LeagueDump::of(league); }

}  // namespace league::league_manager
