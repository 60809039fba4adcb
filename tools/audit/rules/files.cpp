#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/audit/record/masking.h"
#include "common/schema/parse_json.h"
#include "league_manager/events/match_key.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {

using nlohmann::json;

/// A referee's record of a match. Source: docs/files.md, as of the others.
struct MatchFile {
  struct Step {
    std::string state;
    std::optional<std::int64_t> at_us;
  };
  struct Line {
    std::string from, choice, nonce, commitment;
  };
  std::string league_key, league_id, match_id, state, player_a, player_b, game_type, referee_id;
  std::string draw_commitment, made_by;
  json round, result;
  std::optional<std::int64_t> attempt;
  std::vector<Step> steps;
  std::vector<Line> transcript;
};

/// What a player remembers of a match.
struct HistoryRow {
  std::string league_key, league_id, match_id, result, opponent_id, my_choice, opponent_choice;
  json round, drawn_number;
  std::optional<bool> technical;
};

struct HistoryStats {
  std::int64_t wins = 0, losses = 0, draws = 0;
  std::optional<std::int64_t> matches;
};

struct HistoryFile {
  std::string league_key, league_id, player_id;
  std::vector<HistoryRow> matches;
  std::optional<HistoryStats> stats;
};

void describe(schema::Fields& a, MatchFile::Step& step) {
  a.defaulted("state", step.state);
  instant(a, "at", step.at_us);
}

void describe(schema::Fields& a, MatchFile::Line& line) {
  a.defaulted("from", line.from, "parity_choice", line.choice, "choice_nonce", line.nonce,
              "choice_commitment", line.commitment);
}

void describe(schema::Fields& a, MatchFile& file) {
  a.defaulted("league_key", file.league_key, "league_id", file.league_id, "match_id", file.match_id,
              "state", file.state, "player_A_id", file.player_a, "player_B_id", file.player_b,
              "game_type", file.game_type, "referee_id", file.referee_id, "draw_commitment",
              file.draw_commitment, "made_by", file.made_by, "round_id", file.round, "result",
              file.result, "attempt", file.attempt, "lifecycle", file.steps, "transcript",
              file.transcript);
}

void describe(schema::Fields& a, HistoryRow& row) {
  a.defaulted("league_key", row.league_key, "league_id", row.league_id, "match_id", row.match_id,
              "result", row.result, "opponent_id", row.opponent_id, "my_choice", row.my_choice,
              "opponent_choice", row.opponent_choice, "round_id", row.round, "drawn_number",
              row.drawn_number, "technical", row.technical);
}

void describe(schema::Fields& a, HistoryStats& stats) {
  a.defaulted("wins", stats.wins, "losses", stats.losses, "draws", stats.draws, "total_matches",
              stats.matches);
}

void describe(schema::Fields& a, HistoryFile& file) {
  a.defaulted("league_key", file.league_key, "league_id", file.league_id, "player_id",
              file.player_id, "matches", file.matches, "stats", file.stats);
}

namespace {

namespace fs = std::filesystem;
using game::Side;

constexpr const char* kMatchRule = "projection.match";
constexpr const char* kHistoryRule = "projection.history";

std::vector<fs::path> files_below(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (it->is_regular_file(error) && name.ends_with(ending)) found.push_back(it->path());
  }
  std::ranges::sort(found);
  return found;
}

/// Whose file, or row of a file, it is.
enum class Owner { kThisLeague, kOtherLeague, kUnknown };

/// What is known of a match that has a result.
struct KnownResult {
  const MatchEvidence* match = nullptr;
  const AcceptedReport* report = nullptr;  ///< null: the manager ended it, or its record is lost
  JournalResult kept;
};

class FileCheck {
 public:
  FileCheck(const LeagueCase& league, Findings& findings)
      : evidence_(league.evidence),
        past_(league.past),
        league_(league.league),
        kept_(league.kept),
        data_(league.data),
        findings_(findings) {}

  void run() {
    learn_results(kept_);
    for (const fs::path& file : files_below(data_ / "matches", ".json")) check_match(file);
    for (const fs::path& file : files_below(data_ / "matches", ".jsonl")) check_matches(file);
    for (const fs::path& file : files_below(data_ / "players", "history.json")) check_history(file);
  }

 private:
  void learn_results(const JournalLeague* kept) {
    for (const auto& [id, match] : evidence_.matches()) {
      if (!match.is_announced()) continue;
      KnownResult known{&match, match.reports.empty() ? nullptr : match.reports.back(), {}};
      if (known.report != nullptr) {
        const ReadReport read = read_report(*known.report);
        auto outcome = outcome_in(known.report->result, match, evidence_);
        known.kept = {id,
                      outcome.value_or(game::Outcome::kNoWinner),
                      false,
                      read.claim.technical_reason,
                      0,
                      read.attempt.value_or(0),
                      read.claim.drawn_number};
        if (!outcome) known.report = nullptr;
      }
      if (kept == nullptr && known.report != nullptr) results_.emplace(id, known);
      if (kept == nullptr) continue;
      auto own = std::ranges::find(kept->results, id, &JournalResult::match_id);
      if (own == kept->results.end()) continue;
      const std::int64_t attempt = own->attempt != 0 ? own->attempt : known.kept.attempt;
      // A bundle's results.json lacks it.
      const auto number = own->drawn_number ? own->drawn_number : known.kept.drawn_number;
      known.kept = *own;
      if (!own->by_manager) known.kept.drawn_number = number;
      known.kept.attempt = own->by_manager ? 0 : attempt;
      results_.emplace(id, known);
    }
  }

  /// `key`, `id`: as the file, or its row, names its league.
  [[nodiscard]] Owner owner_of(const std::string& key, const std::string& id) const {
    if (!key.empty() && !league_.key.empty())
      return key == league_.key ? Owner::kThisLeague : Owner::kOtherLeague;
    if (!league_.id.empty() && id != league_.id) return Owner::kOtherLeague;
    const bool is_keyed = kept_ != nullptr && kept_->files_keyed;
    return is_keyed && key.empty() ? Owner::kThisLeague : Owner::kUnknown;
  }

  /// A file, or line `line` of it.
  struct Place {
    const fs::path& path;
    std::uint64_t line = 0;
  };

  void note(const fs::path& path, const std::string& text) {
    findings_.notes.push_back(path.string() + ": file.key: " + text);
  }

  void differs(const Place& place, const char* rule, Owner owner, const std::string& text) {
    if (owner == Owner::kThisLeague)
      findings_.faults.push_back({place.path.string(), place.line, rule, text});
    else
      note(place.path, text + ", but it does not say of which league it is");
  }

  /// The content; null, and a fault, if it is none. An empty file is what a power failure leaves.
  [[nodiscard]] json content_of(const fs::path& path, const char* rule) {
    const std::string text = bytes_of(path);
    if (text.empty()) return nullptr;
    auto read = schema::parse_json(text);
    if (read && read->is_object()) return std::move(*read);
    findings_.faults.push_back({path.string(), 0, rule, "it is not a JSON object"});
    return nullptr;
  }

  void check_match(const fs::path& path) {
    const json content = content_of(path, kMatchRule);
    if (content.is_null()) return;
    const auto file = schema::read_loosely<MatchFile>(content);
    const Owner owner = owner_of(file.league_key, file.league_id);
    if (owner != Owner::kOtherLeague && path.stem() != file.match_id)
      return differs({path}, kMatchRule, owner, "it names another match");
    check_record(file, {path});
  }

  /// The records that a referee has not yet written to files of their own. A line that is cut off
  /// is what a killed program leaves.
  void check_matches(const fs::path& path) {
    constexpr std::size_t kLongestLine = 4UL << 20;  // the file may be anything
    std::ifstream in(path, std::ios::binary);
    std::string buffer(kLongestLine, '\0');
    for (std::uint64_t number = 1; in.getline(buffer.data(), kLongestLine); ++number) {
      auto read = schema::parse_json(std::string_view(buffer.data()));
      if (read && read->is_object())
        check_record(schema::read_loosely<MatchFile>(*read), {path, number});
    }
  }

  void check_record(const MatchFile& file, const Place& place) {
    const Owner owner = owner_of(file.league_key, file.league_id);
    if (owner == Owner::kOtherLeague) return note(place.path, "it is a file of another league");
    const std::string& id = file.match_id;
    auto known = results_.find(id);
    if (known == results_.end() || file.state != "FINISHED") return;
    if (past_.covers(id, end_of(file)) ||
        (past_.has_forgotten(id) &&
         !known->second.match->commitments.contains(file.draw_commitment)))
      return;
    if (const std::string field = other_field(file, known->second); !field.empty())
      differs(place, kMatchRule, owner,
              "its " + field + " of " + id + " is not that of the match that the manager accepted");
  }

  /// The first field of a match's file that the evidence contradicts; empty if there is none.
  [[nodiscard]] std::string other_field(const MatchFile& file, const KnownResult& known) const {
    const MatchEvidence& match = *known.match;
    if (file.player_a != match.player_a) return "player_A_id";
    if (file.player_b != match.player_b) return "player_B_id";
    if (!is_round(file.round, match, file.match_id)) return "round_id";
    if (!match.game_type.empty() && file.game_type != match.game_type) return "game_type";
    if (file.draw_commitment.empty() ? !match.commitments.empty()
                                     : !match.commitments.contains(file.draw_commitment))
      return "draw_commitment";
    const bool is_exported = file.made_by != "referee";
    if (known.kept.by_manager && !is_exported) return "result";
    if (known.kept.attempt != 0 && file.attempt != known.kept.attempt) return "attempt";
    if (known.report != nullptr && !known.kept.by_manager &&
        file.referee_id != id_of(known.report->sender))
      return "referee_id";
    if (!file.steps.empty() && file.steps.back().state != "FINISHED") return "lifecycle";
    if (!has_result(file.result, known, is_exported)) return "result";
    return other_line(file.transcript, known);
  }

  [[nodiscard]] static bool is_round(const json& round, const MatchEvidence& match,
                                     const std::string& id) {
    const auto key = league_manager::events::MatchKey::parse(id);
    return (match.round != 0 && round == match.round) || (key && round == key->round) ||
           (match.round == 0 && !key);
  }

  /// What `league export` makes from the journal alone has less than the report.
  [[nodiscard]] bool has_result(const json& result, const KnownResult& known,
                                bool is_exported) const {
    if (outcome_in(result, *known.match, evidence_) != known.kept.outcome) return false;
    const json& number = field_at(field_at(result, "details"), "drawn_number");
    if (known.kept.drawn_number && number != *known.kept.drawn_number) return false;
    if (known.report == nullptr || known.kept.by_manager) return true;
    const json own = schema::parse_json(audit::record::mask_again(result.dump())).value_or(json());
    if (!is_exported) return own == known.report->result;
    const json& reported = field_at(known.report->result, "details");
    const json& details = field_at(own, "details");
    return std::ranges::all_of(details.items(), [&](const auto& one) {
      auto same = reported.find(one.key());
      return same == reported.end() || *same == one.value();
    });
  }

  /// Whether the transcript holds an answer of a player that the referee's own log does not have.
  [[nodiscard]] static std::string other_line(const std::vector<MatchFile::Line>& lines,
                                              const KnownResult& known) {
    if (known.report == nullptr) return {};
    std::map<std::string, std::set<std::string>> said;
    for (const GameCall* call : known.match->at_referee) {
      if (!LeagueEvidence::is_of(*known.report, *known.match, *call)) continue;
      said[call->player].insert({call->choice, call->nonce, call->commitment});
    }
    for (const MatchFile::Line& line : lines) {
      auto values = said.find(line.from);
      if (values == said.end()) continue;
      for (const std::string& value : {line.choice, line.nonce, line.commitment})
        if (!value.empty() && !values->second.contains(value)) return "transcript";
    }
    return {};
  }

  /// When the match in a file ended, in microseconds; later than any time if it does not say it.
  [[nodiscard]] static std::int64_t end_of(const MatchFile& file) {
    constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();
    return file.steps.empty() ? kUnknown : file.steps.back().at_us.value_or(kUnknown);
  }

  void check_history(const fs::path& path) {
    const json content = content_of(path, kHistoryRule);
    if (content.is_null()) return;
    const auto file = schema::read_loosely<HistoryFile>(content);
    const Owner own = owner_of(file.league_key, file.league_id);
    if (path.parent_path().filename() != file.player_id || !field_at(content, "matches").is_array())
      return differs({path}, kHistoryRule, own, "its player or list is wrong");
    bool is_other = false;
    for (const HistoryRow& row : file.matches) {
      const Owner owner =
          owner_of(row.league_key.empty() ? file.league_key : row.league_key, row.league_id);
      is_other = is_other || owner == Owner::kOtherLeague;
      auto known = results_.find(row.match_id);
      if (owner == Owner::kOtherLeague || known == results_.end() ||
          past_.has_forgotten(known->first))
        continue;  // after a given-up play, a player keeps the first result that it got
      if (const std::string field = other_in_row(file.player_id, row, known->second);
          !field.empty())
        differs({path}, kHistoryRule, owner,
                "its " + field + " of " + known->first +
                    " is not that of the match that the manager accepted");
    }
    if (is_other) note(path, "it has matches of another league");
    if (!fits_stats(file))
      differs({path}, kHistoryRule, is_other ? Owner::kUnknown : own,
              "its stats are not those of its matches");
  }

  [[nodiscard]] static std::string other_in_row(const std::string& player, const HistoryRow& row,
                                                const KnownResult& known) {
    const MatchEvidence& match = *known.match;
    if (row.result != result_for(player, match, known.kept.outcome)) return "result";
    if (!row.opponent_id.empty() && row.opponent_id != match.opponent_of(player))
      return "opponent_id";  // empty: GAME_OVER did not say it
    if (!is_round(row.round, match, row.match_id)) return "round_id";
    if (known.kept.drawn_number && row.drawn_number != *known.kept.drawn_number)
      return "drawn_number";
    if (known.report == nullptr || known.kept.by_manager) return {};
    const ReadReport read = read_report(*known.report);
    if (row.technical == read.is_played) return "technical";
    const auto differs = [&](const std::string& shown, const std::string& who) {
      const std::string reported = value_of(read.claim.choices, who).value_or("");
      return shown != reported && (read.is_played || (!shown.empty() && !reported.empty()));
    };
    if (differs(row.my_choice, player)) return "my_choice";
    if (differs(row.opponent_choice, match.opponent_of(player))) return "opponent_choice";
    return {};
  }

  /// The counts of a file that has all its matches.
  [[nodiscard]] static bool fits_stats(const HistoryFile& file) {
    constexpr std::size_t kMostMatches = 10'000;
    if (!file.stats || file.matches.size() >= kMostMatches) return true;
    std::map<std::string, std::int64_t> counted;
    for (const HistoryRow& row : file.matches) ++counted[row.result];
    return file.stats->wins == counted["WIN"] && file.stats->losses == counted["LOSS"] &&
           file.stats->draws == counted["DRAW"] &&
           file.stats->matches == static_cast<std::int64_t>(file.matches.size());
  }

  static std::string result_for(const std::string& player, const MatchEvidence& match,
                                game::Outcome outcome) {
    if (player != match.player_a && player != match.player_b) return "nothing";
    if (outcome == game::Outcome::kDraw) return "DRAW";
    auto side = game::winner_of(outcome);
    bool has_won = side && (*side == Side::kA ? match.player_a : match.player_b) == player;
    return has_won ? "WIN" : "LOSS";
  }

  const LeagueEvidence& evidence_;
  const AcceptedLosses& past_;
  const audit::log::LeagueIdentity& league_;
  const JournalLeague* kept_;
  const fs::path& data_;
  Findings& findings_;
  std::map<std::string, KnownResult> results_;
};

}  // namespace

void check_match_files(const LeagueCase& league, Findings& findings) {
  FileCheck(league, findings).run();
}

}  // namespace league::tools::auditor
