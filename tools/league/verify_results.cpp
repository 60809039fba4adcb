#include <algorithm>
#include <map>

#include "common/journal/sqlite_journal.h"
#include "league_manager/agent_ref.h"
#include "league_manager/event_codec.h"
#include "league_manager/standings.h"
#include "referee/rules/rules_registry.h"
#include "tools/league/verify_league.h"

namespace league::tools {
namespace {

namespace lm = league_manager;
using audit::LogFault;
using nlohmann::json;

std::string text(const json& object, const char* key) {
  if (!object.is_object()) return {};
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The results of a league as its manager's log has them.
class ResultCheck {
 public:
  ResultCheck(const std::vector<CheckedLog>& logs, std::vector<LogFault>& faults)
      : logs_(logs), faults_(faults) {
    for (const CheckedLog& log : logs) {
      for (const auto& [match, pairing] : log.facts.pairings) pairings_.try_emplace(match, pairing);
      for (const auto& [conversation, referee] : log.facts.assignments)
        assignments_.try_emplace(conversation, referee);
      for (const auto& [match, seen] : log.facts.commitments) {
        for (const auto& [value, place] : seen) commitments_[match].try_emplace(value, place);
      }
    }
  }

  void run(const std::filesystem::path& journal) {
    check_commitments();
    for (const CheckedLog& log : logs_) {
      for (const AcceptedReport& report : log.facts.reports) check_report(report);
    }
    check_proofs();
    if (std::filesystem::exists(journal)) check_journal(journal);
    for (const CheckedLog& log : logs_) {
      if (log.facts.final_standings.is_array()) check_table(log.facts);
    }
  }

 private:
  struct Result {
    lm::Outcome outcome;
    std::string sender;
    Place place;
  };

  void fault(const Place& place, const char* rule, std::string what) {
    faults_.push_back(
        {place.file != nullptr ? *place.file : std::string(), place.line, rule, std::move(what)});
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
    std::string winner = text(report.result, "winner");
    auto outcome = outcome_of(report, pairing->second, winner);
    if (!outcome) return fault(report.place, "result.form", "the score is no result of this game");
    auto [known, is_new] =
        results_.try_emplace(report.match_id, Result{*outcome, report.sender, report.place});
    if (!is_new && known->second.outcome != *outcome)
      fault(report.place, "result.second", report.match_id + " has another result already");
    check_draw(report, pairing->second, winner);
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
    bool normal = text(*details, "termination") == "NORMAL";
    std::string proof = text(*details, "draw_proof");
    if (proof.empty()) {
      if (normal) fault(report.place, "draw.unrevealed", "the seed of the draw was not revealed");
      return;
    }
    auto seed = seed_of(report.match_id, proof, report.place);
    if (!seed || !normal) return;
    auto rules = referee::rules::find_rules("even_odd");
    auto choices = details->find("choices");
    if (!rules || choices == details->end()) return;
    referee::rules::Choices chosen{text(*choices, pairing.player_a.c_str()),
                                   text(*choices, pairing.player_b.c_str())};
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

  void check_journal(const std::filesystem::path& file) {
    Place place{&journal_file_, 0};
    journal_file_ = file.string();
    auto read = journal::read_journal(file, [&](const journal::Entry& entry) {
      auto event = lm::from_record(entry.record);
      if (!event) return core::Result<void>(event.error());
      place.line = entry.sequence;
      if (const auto* reported = std::get_if<lm::MatchReported>(&event->body))
        compare(reported->match.id().str(), reported->result.outcome, place, false);
      if (const auto* forfeited = std::get_if<lm::MatchForfeited>(&event->body))
        compare(forfeited->match.id().str(), forfeited->result.outcome, place, true);
      return core::Result<void>();
    });
    if (!read) return fault({&journal_file_, 0}, "journal.damaged", read.error().message);
    for (const auto& [match, result] : results_) {
      if (!journalled_.contains(match))
        fault(result.place, "journal.missing", "the journal does not have the result of " + match);
    }
  }

  void compare(const std::string& match, lm::Outcome outcome, const Place& place, bool forfeited) {
    if (!journalled_.insert(match).second)
      fault(place, "journal.twice", match + " has two results in the journal");
    auto logged = results_.find(match);
    if (forfeited) {
      results_.try_emplace(match, Result{outcome, "league_manager", place});
    } else if (logged == results_.end()) {
      bool complete = std::any_of(logs_.begin(), logs_.end(), [](const CheckedLog& log) {
        return log.chain.agent == "league_manager" && log.chain.closed;
      });
      if (complete) fault(place, "journal.unlogged", "no log has the report of " + match);
      results_.try_emplace(match, Result{outcome, "", place});
    } else if (logged->second.outcome != outcome) {
      fault(logged->second.place, "journal.differs", "the journal has another result of " + match);
    }
  }

  void check_table(const LogFacts& facts) {
    const json& rows = facts.final_standings;
    lm::Standings standings(static_cast<int>(rows.size()));
    for (const auto& [match, result] : results_) {
      auto pairing = pairings_.find(match);
      if (pairing == pairings_.end()) continue;
      auto a = lm::AgentRef::parse(pairing->second.player_a);
      auto b = lm::AgentRef::parse(pairing->second.player_b);
      if (!a || !b || a->index >= standings.players() || b->index >= standings.players()) {
        return fault(facts.final_place, "table.players", match + " has a player without a row");
      }
      standings.record(a->index, b->index, result.outcome);
    }
    auto table = standings.table();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const json& row = rows[i];
      const lm::RankedPlayer& own = table[i];
      if (text(row, "player_id") != lm::AgentRef::player(own.player).id() ||
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
  std::vector<LogFault>& faults_;
  std::map<std::string, LogFacts::Pairing> pairings_;
  std::map<std::string, std::string> assignments_;
  std::map<std::string, std::map<std::string, Place>> commitments_;
  std::map<std::string, Result> results_;
  std::set<std::string> journalled_;
  std::string journal_file_;
};

}  // namespace

void check_results(const std::vector<CheckedLog>& logs, const std::filesystem::path& data,
                   std::vector<LogFault>& faults) {
  ResultCheck(logs, faults).run(data / "journal" / "journal.sqlite");
}

}  // namespace league::tools
