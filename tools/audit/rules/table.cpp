#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using enum RuleKind;
using enum Verifiers;
using enum Needs;

constexpr Rule kRules[] = {
    {"line.form line.kind", kFault, "damage", kBoth, kLine, nullptr,
     "a line is of none of the four kinds, or lacks `prev` and `hash` at its end"},
    {"line.after_end", kFault, "damage", kBoth, kLine, nullptr,
     "a line follows the last seal of a normal end"},
    {"chain.hash", kFault, "damage", kBoth, kLine, nullptr,
     "the hash is not the line's: the line was changed"},
    {"line.masked", kMissing, "missing", kBoth, kDirectory, nullptr,
     "the same, but `redacted_lines` in a bundle's `MANIFEST.json` lists the line"},
    {"chain.prev chain.continues", kFault, "damage", kBoth, kLine, nullptr,
     "a line does not follow the one before: lines were removed, added or reordered"},
    {"seq.gap", kFault, "damage", kBoth, kLine, nullptr,
     "a record number is missing or appears twice"},
    {"header.form header.missing segment.missing segment.number file.unreadable", kFault, "damage",
     kBoth, kLine, nullptr, "a file is missing or unreadable, or its header is missing or wrong"},
    {"seal.form seal.seq seal.signature seal.key seal.missing", kFault, "damage", kBoth, kLine,
     nullptr,
     "a seal is malformed, names another record, or has another key; or the file with the newest "
     "seal is missing"},
    {"seal.absent", kMissing, "missing", kBoth, kDirectory, nullptr,
     "records that no seal follows in time, without a note `seal_delayed`"},
    {"log.truncated log.missing", kFault, "damage", kBoth, kLine, nullptr,
     "the log ends before its newest seal, or only the seal is there"},
    {"log.absent", kMissing, "missing", kBoth, kDirectory, nullptr,
     "no log of an agent that registered a log key, or none of the manager"},
    {"journal.absent", kMissing, "missing", kBoth, kDirectory, nullptr,
     "a log of the manager, but neither the journal nor a bundle's `results.json`. After "
     "`--ephemeral` use `--without journal`"},
    {"journal.damaged", kFault, "result", kBoth, kDirectory, nullptr,
     "the journal or `results.json` cannot be read, an entry was changed or is missing, "
     "LEAGUE_CREATED has no readable definition of the game that it names, or a bundle has a "
     "result with which no match of its game ends. The script reads no other entry completely"},
    {"bundle.differs", kFault, "damage", kBoth, kDirectory, nullptr,
     "a file's digest is not the one in `MANIFEST.json`, or the manifest is no JSON object"},
    {"bundle.file", kMissing, "missing", kBoth, kDirectory, nullptr,
     "`MANIFEST.json` lists a file that is not there, or does not list one that is"},
    {"bundle.left_out", kMissing, "missing", kBoth, kDirectory, nullptr,
     "a bundle leaves out what `--without` does not name"},
    {"record.form record.conversation record.reference", kFault, "damage", kBoth, kRecord, nullptr,
     "a record contradicts itself"},
    {"secret.token secret.value", kFault, "secret", kBoth, kRecord, nullptr,
     "an unmasked credential in the log"},
    {"schema", kFault, "protocol", kOurs, kRecord, nullptr,
     "a message of the manager or a referee, or one accepted from a player without a leniency, "
     "does not follow its schema. Players' messages are judged in the receiver's log"},
    {"authority.sender authority.peer", kFault, "protocol", kOurs, kLogs, check_senders,
     "a message that its sender must not send, or in another's name"},
    {"witness.head", kFault, "damage", kBoth, kLogs, check_heads,
     "the manager sent the hash of a line of its log to somebody (`log_head`) that its log does "
     "not have"},
    {"transfer.one_sided", kFault, "damage", kBoth, kLogs, check_transfers,
     "somebody received a message that is not in the log of its sender, although that process "
     "ended normally or its log continues after that time; or somebody acknowledged a message that "
     "is not in its own log. Not what the manager and a player said to each other until a second "
     "after the player took a seat that was freed before the start: that was somebody else"},
    {"log.short", kFault, "damage", kBoth, kLogs, check_transfers,
     "a process did not end normally, and others' logs contain messages that it sent more than 5 s "
     "after the end of its own log"},
    {"transfer.differs", kFault, "damage", kBoth, kLogs, check_copies,
     "two logs have a message with the same `raw_sha256`, but after both texts are masked again, "
     "they differ (truncated ones as far as both go). From version 3 on; before, it is only a "
     "note. Lines whose hash is wrong are not compared"},
    {"reply.orphan reply.second", kFault, "damage", kBoth, kLogs, check_strays,
     "an answer whose request is not in the log (by `call`, within one run); two different answers "
     "to one call. Not in the last second of a run without a normal end"},
    {"key.unregistered", kFault, "damage", kBoth, kLogs, check_keys,
     "an agent made seals with another key than it registered"},
    {"order.join_before_invitation order.choice_before_join order.choice_before_call "
     "order.choice_after_refusal order.report_before_choices order.over_before_report "
     "order.after_end",
     kFault, "protocol", kOurs, kLogs, check_order,
     "wrong order, by the referee's log: a player joined without an invitation, was asked before "
     "it joined or after it refused, or answered without being asked; the report came before both "
     "had chosen, GAME_OVER before the result was accepted, or a call after GAME_OVER"},
    {"retry.without_cause retry.too_many deadline.late_choice", kFault, "protocol", kOurs, kLogs,
     check_order,
     "a player was called again without a failure, or more than 6 times; or a choice was accepted "
     "more than two allowances after its deadline: one second, because deadlines have whole "
     "seconds, and a second or a twentieth of the limit, whichever is longer"},
    {"draw.commitment", kFault, "draw", kBoth, kLogs, check_results,
     "a match has several draw commitments"},
    {"game.differs", kFault, "damage", kBoth, kLogs, check_results,
     "an agent was sent another definition of the game than the journal's, by which results are "
     "judged, or two agents different ones"},
    {"authority.report", kFault, "protocol", kBoth, kLogs, check_results,
     "the manager accepted a report from another referee than the assigned one"},
    {"result.round result.game result.attempt", kFault, "result", kBoth, kLogs, check_results,
     "not the announced or assigned round, game or attempt"},
    {"result.second result.unknown_match", kFault, "result", kBoth, kLogs, check_results,
     "a second result of a match; a match that was never announced"},
    {"result.form", kFault, "result", kBoth, kLogs, check_results,
     "an accepted report without a result"},
    {"result.winner result.score", kFault, "result", kBoth, kLogs, check_results,
     "winner and score contradict each other, the end of the match, or the game's payoffs"},
    {"result.number", kFault, "result", kBoth, kLogs, check_results,
     "a number in a match lost by a failure, or a `number_parity` that does not fit"},
    {"draw.unrevealed draw.proof draw.number draw.winner", kFault, "draw", kBoth, kLogs,
     check_results,
     "a report does not reveal the seed (also after a technical loss), the seed does not match the "
     "commitment, or number or winner do not follow from it"},
    {"draw.version", kFault, "draw", kBoth, kLogs, check_results,
     "`draw_version` (absent: 1) is not what the listed commitments require"},
    {"clock.unproven clock.void_loss clock.arithmetic clock.replays", kFault, "damage", kOurs,
     kLogs, check_results,
     "a match was lost by a time-out without proof that the referee was on time, or although it "
     "was not; `void` does not follow from the proof's numbers; there were more than 3 replays "
     "([protocol.md](protocol.md#the-fair-clock))"},
    {"journal.differs journal.missing journal.unlogged journal.twice", kFault, "result", kOurs,
     kLogs, check_results,
     "the journal has another result than the accepted report, no result, a result without a "
     "report (not even the referee's own record of it), or two results of one match"},
    {"table.differs table.players", kFault, "result", kBoth, kLogs, check_results,
     "the final table does not follow from the accepted reports"},
    {"table.voided", kFault, "result", kBoth, kLogs, check_results,
     "the matches that the final table leaves out (`voided_matches`) are not those that are void "
     "in the journal"},
    {"choice.differs", kFault, "result", kBoth, kLogs, check_choices,
     "the choice in an accepted report is not the player's own sealed answer, or, of a bot without "
     "a log, not the answer in the referee's log"},
    {"choice.absent", kMissing, "missing", kBoth, kLogs, check_choices,
     "a match was played, but the log of a player that registered a key has no invitation, no call "
     "or no answer"},
    {"clock.limit", kFault, "damage", kBoth, kLogs, check_choices,
     "`limit_ms` of a time-out differs by more than 3 s from the time that the call allowed "
     "(`deadline` minus `timestamp`, in the player's own sealed log). It is compared with the "
     "calls of this type that were written at most 2 s before or after `sent_at`, since others may "
     "have another limit"},
    {"loss.contradicted", kFault, "result", kBoth, kLogs, check_choices,
     "a player lost by a failure, but its own sealed log has the valid answer in time: by "
     "`deadline` and `timestamp` of the call. The report's `limit_ms` counts only for E001, if it "
     "differs from that by at most a second, or if the call has no deadline; without both it is 5 "
     "s for an invitation and 30 s for a choice. For E001, E009, E011, E012 and E014 it is an "
     "incident: the network may be the cause"},
    {"commitment.handed", kFault, "draw", kBoth, kLogs, check_commitments,
     "a report lists a commitment as one that counts, but the call for a choice that the opponent "
     "answered first (in the last play of the attempt) had none or another one, by the opponent's "
     "own log, which one process wrote and sealed; or, by the referee's own log, that call left "
     "before the player had joined"},
    {"commitment.dropped", kFault, "draw", kBoth, kLogs, check_commitments,
     "a commitment in a sealed log is not in the report, or one in the report is not in the "
     "player's sealed log; see also `commitment.forgotten`"},
    {"commitment.opening", kFault, "draw", kBoth, kLogs, check_commitments,
     "listed choice and nonce do not open the commitment, or a nonce has a wrong form"},
    {"commitment.second", kFault, "draw", kBoth, kLogs, check_commitments,
     "both players were bound in an earlier attempt, and a later one has another commitment or "
     "none. An attempt without an accepted report does not count if it reached a player after the "
     "GAME_OVER of another attempt"},
    {"loss.unheard", kFault, "result", kBoth, kLogs, check_losses,
     "a loss at `phase` `sent` or `answered` of a player that had declared receipts was accepted, "
     "and neither journal nor manager's log has the question to the player"},
    {"receipt.false", kFault, "result", kBoth, kJournal, check_receipts,
     "receipts that the manager found valid are, by the keys that it published, not those of the "
     "reported answers"},
    {"fairness.hosted", kFault, "damage", kBoth, kJournal, check_hosted,
     "the manager calls a match `both` or `one` although it ran a player for a chat program (at "
     "most `hosted`)"},
    {"over.contradicts", kFault, "result", kBoth, kLogs, check_endings,
     "in a player's sealed log, GAME_OVER has another winner, number, choice, commitment or nonce "
     "than the accepted report of the same referee"},
    {"witness.agent_head", kFault, "damage", kBoth, kLogs, check_witnesses,
     "an agent told the manager the hash of a line (`log_head`) that its log does not have"},
    {"journal.head", kFault, "result", kBoth, kLogs, check_witnesses,
     "the manager sent number and digest of its journal's last entry (`journal_head`), and the "
     "journal does not have it: an entry was changed, or the end was cut off. Only the first is "
     "reported. Not for what was sent before another manager took over, from its first entry on, "
     "or before the operator accepted a loss"},
    {"attestation.signature attestation.differs", kFault, "result", kBoth, kLogs, check_witnesses,
     "the end is not signed with the league's key; or the signed statement does not fit the table, "
     "the journal, the results or the heads of the logs (the last three need the journal)"},
    {"attestation.absent", kMissing, "missing", kBoth, kLogs, check_witnesses,
     "the end of a league whose manager's log has version 3 is not signed"},
    {"projection.standings projection.rounds", kFault, "result", kOurs, kFiles, check_projections,
     "`data/leagues/LEAGUE/standings.json` or `rounds.json` is not, byte for byte, what follows "
     "from the journal up to the entry that it names; or the rows of a finished league are not the "
     "final table that was sent"},
    {"projection.ahead", kFault, "result", kOurs, kFiles, check_projections,
     "`standings.json` or `rounds.json` names an entry that the journal does not have. An incident "
     "if another manager has taken over since"},
    {"projection.match projection.history", kFault, "result", kBoth, kFiles, check_match_files,
     "`matches/LEAGUE/MATCH.json`, a line of `matches/LEAGUE/REFEREE.jsonl`, or a player's "
     "`history.json`, is no JSON object (a line may be cut off), or a field is not that of the "
     "accepted match: round, game, players, attempt, referee, commitment of the draw, result, "
     "choices, answers in the transcript; opponent, numbers of the statistics. A file or row with "
     "another `league_key` is only a note (`file.key`). One without a key belongs to this league "
     "if the journal says `files_keyed`; otherwise a difference is only a note"},
    {"draw.unrevealed", kIncident, "draw", kBoth, kLogs, check_results,
     "the manager ended a match itself (a player or all referees were shut down, or the round took "
     "too long), so the seed was not revealed. The text says whether the journal contains it; "
     "another one there is the fault `draw.proof`"},
    {"draw.abandoned", kIncident, "draw", kBoth, kLogs, check_results,
     "in an abandoned attempt both players had chosen, by their logs or the referee's, so whoever "
     "knew the seed knew the result. The text names the referee"},
    {"log.tail_lost", kIncident, "damage", kBoth, kLogs, check_transfers,
     "as `log.short`, but at most 5 s, which a killed program may not have written yet"},
    {"result.unproven", kIncident, "result", kBoth, kLogs, check_results,
     "a third-party referee (it did not register `match_credentials`) revealed no seed"},
    {"commitment.claimed", kIncident, "draw", kBoth, kLogs, check_commitments,
     "a reported commitment is in no sealed log, although there are logs of the players"},
    {"commitment.forgotten", kIncident, "draw", kBoth, kLogs, check_commitments,
     "a referee that was started again during the attempt reports a loss and omits a commitment "
     "that it had handed over: it was killed, or ended itself to hide it. The text names it"},
    {"receipt.invalid", kIncident, "result", kBoth, kJournal, check_receipts,
     "a player that had declared receipts gave none, or false ones. The text names it"},
    {"loss.unwitnessed", kIncident, "result", kBoth, kLogs, check_losses,
     "a player lost at a call that its own log, without a gap then, does not have. The text names "
     "the referee, and how often that happened to it"},
    {"draw.steered", kIncident, "draw", kBoth, kLogs, note_steered,
     "of one referee's decided matches in which only one player had committed, the other won so "
     "many that chance explains it less than once in 10,000 leagues"},
    {"match.disputed", kIncident, "result", kBoth, kLogs, note_disputes,
     "a player disputes a result; the text says whom the sealed records support in that very "
     "claim, or that they do not decide"},
    {"match.voided", kIncident, "result", kBoth, kLogs, check_results,
     "the operator voided a match; the text says who, why, and as which match it was played again"},
    {"journal.given_up", kIncident, "result", kBoth, kDirectory, nullptr,
     "the operator let a manager lead that may lack entries of others ([below](#given-up)); the "
     "text says when, what the journal lacked, and which accepted results no longer count"},
};

bool has_name(const Rule& rule, std::string_view name) {
  for (std::size_t at = rule.names.find(name); at != rule.names.npos;
       at = rule.names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || rule.names[at - 1] == ' ') &&
        (end == rule.names.size() || rule.names[end] == ' '))
      return true;
  }
  return false;
}

/// The rules that judge what was said about one match, the most fundamental first: what the later
/// ones find follows from what the earlier ones found.
constexpr std::array<std::string_view, 19> kOrder = {
    "transfer.differs",  "result.form",        "draw.unrevealed",    "draw.proof",
    "commitment.handed", "commitment.dropped", "commitment.second",  "choice.differs",
    "loss.unheard",      "loss.contradicted",  "commitment.opening", "draw.version",
    "draw.number",       "result.number",      "result.score",       "result.winner",
    "draw.winner",       "receipt.false",      "over.contradicts"};

using Line = std::pair<std::string, std::size_t>;

/// The match of each line on which such a rule can put its finding.
std::map<Line, std::string> matches_of_lines(const std::vector<LeagueLog>& logs) {
  std::map<Line, std::string> matches;
  auto note = [&](const LogPosition& place, const std::string& match) {
    if (place.file != nullptr) matches.try_emplace({*place.file, place.line}, match);
  };
  for (const LeagueLog& log : logs) {
    for (const AcceptedReport& one : log.facts.reports) note(one.place, one.match_id);
    for (const AcceptedReport& one : log.facts.sent_reports) note(one.place, one.match_id);
    for (const ReceivedGameOver& one : log.facts.ends) note(one.place, one.match_id);
    for (const GameCall& one : log.facts.calls) {
      note(one.place, one.match_id);
      note(one.answer_place, one.match_id);
    }
  }
  return matches;
}

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

std::string_view class_of_rule(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kRules, [&](const Rule& rule) { return has_name(rule, name); });
  return found == std::end(kRules) ? "damage" : found->about;
}

void check_rules(const LeagueCase& league, Findings& findings) {
  std::set<Check> done{nullptr};
  const auto check_all = [&](bool of_files) {
    for (const Rule& rule : kRules) {
      const bool is_possible = rule.needs != Needs::kJournal || league.kept != nullptr;
      if ((rule.needs == Needs::kFiles) == of_files && is_possible &&
          done.insert(rule.check).second)
        rule.check(league, findings);
    }
  };
  check_all(false);
  judge_once(league.logs, findings);
  if (!league.data.empty()) check_all(true);
}

void judge_once(const std::vector<LeagueLog>& logs, Findings& findings) {
  if (findings.faults.empty()) return;
  const auto matches = matches_of_lines(logs);
  auto match_of = [&](const audit::log::LogFault& fault) {
    auto found = matches.find({fault.file, fault.line});
    return found == matches.end() ? std::string() : found->second;
  };
  auto rank_of = [](const audit::log::LogFault& fault) {
    return std::ranges::find(kOrder, fault.rule) - kOrder.begin();
  };
  constexpr auto kOthers = static_cast<std::ptrdiff_t>(kOrder.size());
  std::map<std::string, std::ptrdiff_t> best;
  for (const auto& fault : findings.faults) {
    const std::string match = match_of(fault);
    if (match.empty() || rank_of(fault) == kOthers) continue;
    auto [known, is_new] = best.try_emplace(match, rank_of(fault));
    known->second = std::min(known->second, rank_of(fault));
  }
  std::set<std::string> told;
  std::erase_if(findings.faults, [&](const audit::log::LogFault& fault) {
    const std::string match = match_of(fault);
    if (match.empty() || rank_of(fault) == kOthers) return false;
    return rank_of(fault) != best.at(match) || !told.insert(match).second;
  });
}

}  // namespace league::tools::auditor
