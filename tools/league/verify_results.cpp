#include <algorithm>
#include <map>

#include "common/core/crypto.h"
#include "league_manager/agent_ref.h"
#include "league_manager/schedule.h"
#include "league_manager/standings.h"
#include "referee/rules/rules_registry.h"
#include "tools/league/json_fields.h"
#include "tools/league/verify_clock.h"
#include "tools/league/verify_journal.h"
#include "tools/league/verify_league.h"

namespace league::tools {
namespace {

namespace lm = league_manager;
using audit::LogFault;
using nlohmann::json;

/// The results of a league as its manager's log has them.
class ResultCheck {
 public:
  ResultCheck(const std::vector<CheckedLog>& logs, Findings& findings)
      : logs_(logs), findings_(findings) {
    for (const CheckedLog& log : logs) {
      for (const auto& [match, pairing] : log.facts.pairings) pairings_.try_emplace(match, pairing);
      for (const auto& [conversation, referee] : log.facts.assignments)
        assignments_.try_emplace(conversation, referee);
      for (const auto& [match, seen] : log.facts.commitments) {
        for (const auto& [value, place] : seen) commitments_[match].try_emplace(value, place);
      }
    }
  }

  void run(const std::filesystem::path& data, const std::vector<DecidedAttempt>& decided) {
    check_commitments();
    for (const CheckedLog& log : logs_) {
      for (const AcceptedReport& report : log.facts.reports) check_report(report);
    }
    check_proofs();
    auto kept = read_kept_league(data);
    journal_file_ = kept && *kept ? (*kept)->file.string() : data.string();
    if (!kept) fault({&journal_file_, 0}, "journal.damaged", kept.error().message);
    if (kept && *kept) check_journal(**kept);
    note_undrawn(kept && *kept ? **kept : KeptLeague());
    note_abandoned(decided);
    for (const CheckedLog& log : logs_) {
      if (log.facts.final_standings.is_array()) check_table(log.facts);
    }
  }

 private:
  struct Result {
    lm::Outcome outcome;
    std::optional<std::string> conversation;  ///< of the report, if it is known; empty: none
    Place place;
  };

  static LogFault finding(const Place& place, const char* rule, std::string what) {
    return {place.file != nullptr ? *place.file : std::string(), place.line, rule, std::move(what)};
  }
  void fault(const Place& place, const char* rule, std::string what) {
    findings_.faults.push_back(finding(place, rule, std::move(what)));
  }
  void incident(const Place& place, const char* rule, std::string what) {
    findings_.incidents.push_back(finding(place, rule, std::move(what)));
  }

  void check_commitments() {
    for (const auto& [match, seen] : commitments_) {
      if (seen.size() > 1) {
        fault(seen.rbegin()->second, "draw.commitment",
              match + " has several commitments: somebody was told another one");
      }
    }
  }

  void check_report(const AcceptedReport& report) {
    auto assigned = assignments_.find(report.conversation);
    if (assigned != assignments_.end() && "referee:" + assigned->second != report.sender) {
      fault(report.place, "authority.report",
            report.sender + " reported a match of " + assigned->second);
    }
    auto pairing = pairings_.find(report.match_id);
    if (pairing == pairings_.end())
      return fault(report.place, "result.unknown_match", report.match_id + " was never announced");
    std::string winner = text_at(report.result, "winner");
    auto outcome = outcome_of(report, pairing->second, winner);
    if (!outcome) return fault(report.place, "result.form", "the score is no result of this game");
    auto [known, is_new] =
        results_.try_emplace(report.match_id, Result{*outcome, report.conversation, report.place});
    if (!is_new && known->second.outcome != *outcome)
      fault(report.place, "result.second", report.match_id + " has another result already");
    check_draw(report, pairing->second, winner);
    check_clock(report, findings_.faults);
  }

  static std::optional<lm::Outcome> outcome_of(const AcceptedReport& report,
                                               const LogFacts::Pairing& pairing,
                                               const std::string& winner) {
    auto score = report.result.find("score");
    if (score == report.result.end() || !score->is_object()) return std::nullopt;
    lm::Points points{score->value(pairing.player_a, 0), score->value(pairing.player_b, 0)};
    for (auto outcome : {lm::Outcome::kPlayerAWins, lm::Outcome::kPlayerBWins, lm::Outcome::kDraw,
                         lm::Outcome::kNoWinner}) {
      std::string expected = outcome == lm::Outcome::kPlayerAWins   ? pairing.player_a
                             : outcome == lm::Outcome::kPlayerBWins ? pairing.player_b
                                                                    : "";
      if (points == lm::points_of(outcome) && winner == expected) return outcome;
    }
    return std::nullopt;
  }

  /// The seed must be the one that was promised, and number and winner must follow from it.
  void check_draw(const AcceptedReport& report, const LogFacts::Pairing& pairing,
                  const std::string& winner) {
    auto details = report.result.find("details");
    if (details == report.result.end() || !details->is_object()) return;
    bool normal = text_at(*details, "termination") == "NORMAL";
    std::string proof = text_at(*details, "draw_proof");
    if (proof.empty()) {
      return fault(report.place, "draw.unrevealed",
                   "the report of " + report.match_id + " does not reveal the seed of the draw");
    }
    auto seed = seed_of(report.match_id, proof, report.place);
    if (!seed || !normal) return;
    auto rules = referee::rules::find_rules("even_odd");
    auto choices = details->find("choices");
    if (!rules || choices == details->end()) return;
    referee::rules::Choices chosen{text_at(*choices, pairing.player_a.c_str()),
                                   text_at(*choices, pairing.player_b.c_str())};
    int number = (*rules)->draw_number(*seed, report.match_id, chosen);
    if (details->value("drawn_number", 0) != number) {
      return fault(report.place, "draw.number",
                   "the seed and the choices give " + std::to_string(number));
    }
    auto outcome = (*rules)->determine_winner(chosen, number);
    std::string expected = outcome.winner == referee::rules::Winner::kPlayerA   ? pairing.player_a
                           : outcome.winner == referee::rules::Winner::kPlayerB ? pairing.player_b
                                                                                : "";
    if (winner != expected) fault(report.place, "draw.winner", "by the rules it is another winner");
  }

  std::optional<core::Digest> seed_of(const std::string& match, const std::string& proof,
                                      const Place& place) {
    auto bytes = core::from_hex(proof);
    auto promised = commitments_.find(match);
    if (!bytes || bytes->size() != core::Digest{}.size()) {
      fault(place, "draw.proof", "draw_proof is no seed of 256 bits");
      return std::nullopt;
    }
    std::string committed(bytes->begin(), bytes->end());
    committed += match;
    if (promised == commitments_.end() ||
        !promised->second.contains(core::to_hex(core::sha256(committed)))) {
      fault(place, "draw.proof", "the revealed seed is not the one that was committed to");
      return std::nullopt;
    }
    core::Digest seed{};
    std::copy(bytes->begin(), bytes->end(), seed.begin());
    return seed;
  }

  /// What players were shown in GAME_OVER.
  void check_proofs() {
    for (const CheckedLog& log : logs_) {
      for (const auto& [match, seen] : log.facts.proofs) {
        for (const auto& [proof, place] : seen) (void)seed_of(match, proof, place);
      }
    }
  }

  void check_journal(const KeptLeague& kept) {
    for (const KeptResult& result : kept.results) compare(result, {&journal_file_, result.entry});
    for (const auto& [match, result] : results_) {
      if (!journalled_.contains(match))
        fault(result.place, "journal.missing", "the journal does not have the result of " + match);
    }
  }

  void compare(const KeptResult& kept, const Place& place) {
    const std::string& match = kept.match_id;
    if (!journalled_.insert(match).second)
      fault(place, "journal.twice", match + " has two results in the journal");
    auto logged = results_.find(match);
    if (kept.by_manager) {
      results_.try_emplace(match, Result{kept.outcome, "", place});
    } else if (logged == results_.end()) {
      if (is_log_complete()) fault(place, "journal.unlogged", "no log has the report of " + match);
      results_.try_emplace(match, Result{kept.outcome, std::nullopt, place});
    } else if (logged->second.outcome != kept.outcome) {
      fault(logged->second.place, "journal.differs", "the journal has another result of " + match);
    }
  }

  [[nodiscard]] bool is_log_complete() const {
    return std::any_of(logs_.begin(), logs_.end(), [](const CheckedLog& log) {
      return log.chain.agent == "league_manager" && log.chain.complete;
    });
  }

  /// Commitments that stayed without a draw, once the league is over or the match is.
  void note_undrawn(const KeptLeague& kept) {
    bool is_over = std::any_of(logs_.begin(), logs_.end(), [](const CheckedLog& log) {
      return log.facts.final_standings.is_array();
    });
    std::map<std::string, std::string> reasons;
    for (const KeptResult& result : kept.results) {
      if (result.by_manager) reasons[result.match_id] = result.reason;
    }
    for (const auto& [match, seen] : commitments_) {
      auto result = results_.find(match);
      bool is_reported = result != results_.end() && !reasons.contains(match);
      if (is_reported || (result == results_.end() && !is_over)) continue;
      std::string text = match + " was ended by the manager" +
                         (reasons.contains(match) ? " (" + reasons[match] + ")" : "") +
                         ": nothing was drawn, and its seed was revealed to nobody";
      auto seed = kept.seeds.find(match);
      if (seed != kept.seeds.end() && seed_of(match, seed->second, {&journal_file_, 0}))
        text += "; the manager's journal has the promised one";
      incident(seen.begin()->second, "draw.unrevealed", std::move(text));
    }
  }

  /// Who knows the seed knows the result as soon as both have chosen, and could give up an attempt
  /// that displeases it.
  void note_abandoned(const std::vector<DecidedAttempt>& decided) {
    for (const DecidedAttempt& attempt : decided) {
      auto result = results_.find(attempt.match_id);
      if (result == results_.end()) continue;
      if (result->second.conversation.value_or(attempt.conversation) == attempt.conversation)
        continue;
      incident(attempt.place, "draw.abandoned",
               "both players of " + attempt.match_id + " had chosen in " + attempt.conversation +
                   ", which was given up; the result is of another attempt");
    }
  }

  /// A round of which nobody could play a match is not announced: its pairings follow from the
  /// schedule.
  [[nodiscard]] LogFacts::Pairing pairing_of(const std::string& match, int players) const {
    auto announced = pairings_.find(match);
    if (announced != pairings_.end()) return announced->second;
    lm::Schedule schedule(players);
    auto key = lm::MatchKey::parse(match);
    if (!key || !schedule.contains(*key)) return {};
    lm::Pairing planned = schedule.pairing(*key);
    return {lm::AgentRef::player(planned.player_a).id(),
            lm::AgentRef::player(planned.player_b).id()};
  }

  void check_table(const LogFacts& facts) {
    const json& rows = facts.final_standings;
    lm::Standings standings(static_cast<int>(rows.size()));
    for (const auto& [match, result] : results_) {
      LogFacts::Pairing pairing = pairing_of(match, standings.players());
      auto a = lm::AgentRef::parse(pairing.player_a);
      auto b = lm::AgentRef::parse(pairing.player_b);
      if (!a || !b || a->index >= standings.players() || b->index >= standings.players()) {
        return fault(facts.final_place, "table.players", match + " has a player without a row");
      }
      standings.record(a->index, b->index, result.outcome);
    }
    auto table = standings.table();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const json& row = rows[i];
      const lm::RankedPlayer& own = table[i];
      if (text_at(row, "player_id") != lm::AgentRef::player(own.player).id() ||
          row.value("rank", 0) != own.rank || row.value("points", -1) != own.tally.points ||
          row.value("wins", -1) != own.tally.wins || row.value("draws", -1) != own.tally.draws ||
          row.value("losses", -1) != own.tally.losses ||
          row.value("played", -1) != own.tally.played) {
        return fault(facts.final_place, "table.differs",
                     "row " + std::to_string(i + 1) +
                         " of the final table does not follow from the results");
      }
    }
  }

  const std::vector<CheckedLog>& logs_;
  Findings& findings_;
  std::map<std::string, LogFacts::Pairing> pairings_;
  std::map<std::string, std::string> assignments_;
  std::map<std::string, std::map<std::string, Place>> commitments_;
  std::map<std::string, Result> results_;
  std::set<std::string> journalled_;
  std::string journal_file_;
};

}  // namespace

void check_results(const std::vector<CheckedLog>& logs, const std::filesystem::path& data,
                   const std::vector<DecidedAttempt>& decided, Findings& findings) {
  ResultCheck(logs, findings).run(data, decided);
}

}  // namespace league::tools
