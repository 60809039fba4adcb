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
namespace {

namespace fs = std::filesystem;
using game::Side;
using nlohmann::json;

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

  /// `outer`: the file that contains `inner`, which may be the same.
  [[nodiscard]] Owner owner_of(const json& inner, const json& outer) const {
    const std::string& own = text_at(inner, "league_key");
    const std::string& key = own.empty() ? text_at(outer, "league_key") : own;
    if (!key.empty() && !league_.key.empty())
      return key == league_.key ? Owner::kThisLeague : Owner::kOtherLeague;
    if (!league_.id.empty() && text_at(inner, "league_id") != league_.id)
      return Owner::kOtherLeague;
    return kept_ != nullptr && kept_->files_keyed && key.empty() ? Owner::kThisLeague
                                                                 : Owner::kUnknown;
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
    const json file = content_of(path, kMatchRule);
    if (file.is_null()) return;
    const Owner owner = owner_of(file, file);
    if (owner != Owner::kOtherLeague && path.stem() != text_at(file, "match_id"))
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
      if (read && read->is_object()) check_record(*read, {path, number});
    }
  }

  void check_record(const json& file, const Place& place) {
    const Owner owner = owner_of(file, file);
    if (owner == Owner::kOtherLeague) return note(place.path, "it is a file of another league");
    const std::string& id = text_at(file, "match_id");
    auto known = results_.find(id);
    if (known == results_.end() || text_at(file, "state") != "FINISHED") return;
    const std::string& promised = text_at(file, "draw_commitment");
    if (past_.covers(id, end_of(file)) ||
        (past_.has_forgotten(id) && !known->second.match->commitments.contains(promised)))
      return;
    if (const std::string field = other_field(file, known->second); !field.empty())
      differs(place, kMatchRule, owner,
              "its " + field + " of " + id + " is not that of the match that the manager accepted");
  }

  /// The first field of a match's file that the evidence contradicts; empty if there is none.
  [[nodiscard]] std::string other_field(const json& file, const KnownResult& known) const {
    const MatchEvidence& match = *known.match;
    if (text_at(file, "player_A_id") != match.player_a) return "player_A_id";
    if (text_at(file, "player_B_id") != match.player_b) return "player_B_id";
    if (!is_round(field_at(file, "round_id"), match, text_at(file, "match_id"))) return "round_id";
    if (!match.game_type.empty() && text_at(file, "game_type") != match.game_type)
      return "game_type";
    const std::string& promised = text_at(file, "draw_commitment");
    if (promised.empty() ? !match.commitments.empty() : !match.commitments.contains(promised))
      return "draw_commitment";
    const bool is_exported = text_at(file, "made_by") != "referee";
    if (known.kept.by_manager && !is_exported) return "result";
    if (known.kept.attempt != 0 && number_at(file, "attempt") != known.kept.attempt)
      return "attempt";
    if (known.report != nullptr && !known.kept.by_manager &&
        text_at(file, "referee_id") != id_of(known.report->sender))
      return "referee_id";
    const json& steps = field_at(file, "lifecycle");
    if (steps.is_array() && !steps.empty() && text_at(steps.back(), "state") != "FINISHED")
      return "lifecycle";
    if (!has_result(file, known, is_exported)) return "result";
    return other_line(field_at(file, "transcript"), known);
  }

  [[nodiscard]] static bool is_round(const json& round, const MatchEvidence& match,
                                     const std::string& id) {
    const auto key = league_manager::events::MatchKey::parse(id);
    return (match.round != 0 && round == match.round) || (key && round == key->round) ||
           (match.round == 0 && !key);
  }

  /// What `league export` makes from the journal alone has less than the report.
  [[nodiscard]] bool has_result(const json& file, const KnownResult& known,
                                bool is_exported) const {
    const json& result = field_at(file, "result");
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
  [[nodiscard]] static std::string other_line(const json& lines, const KnownResult& known) {
    if (!lines.is_array() || known.report == nullptr) return {};
    std::map<std::string, std::set<std::string>> said;
    for (const GameCall* call : known.match->at_referee) {
      if (!LeagueEvidence::is_of(*known.report, *known.match, *call)) continue;
      for (const std::string& value : {call->choice, call->nonce, call->commitment})
        said[call->player].insert(value);
    }
    for (const json& line : lines) {
      auto known_values = said.find(text_at(line, "from"));
      if (known_values == said.end()) continue;
      for (const char* key : {"parity_choice", "choice_nonce", "choice_commitment"}) {
        const std::string& value = text_at(line, key);
        if (!value.empty() && !known_values->second.contains(value)) return "transcript";
      }
    }
    return {};
  }

  /// When the match in a file ended, in microseconds.
  [[nodiscard]] static std::int64_t end_of(const json& file) {
    const json& steps = field_at(file, "lifecycle");
    constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();  // later than any time
    if (!steps.is_array() || steps.empty()) return kUnknown;
    return instant_at(steps.back(), "at").value_or(kUnknown);
  }

  void check_history(const fs::path& path) {
    const json file = content_of(path, kHistoryRule);
    if (file.is_null()) return;
    const std::string& player = text_at(file, "player_id");
    const json& matches = field_at(file, "matches");
    if (path.parent_path().filename() != player || !matches.is_array())
      return differs({path}, kHistoryRule, owner_of(file, file), "its player or list is wrong");
    bool is_other = false;
    for (const json& row : matches) {
      const Owner owner = owner_of(row, file);
      is_other = is_other || owner == Owner::kOtherLeague;
      auto known = results_.find(text_at(row, "match_id"));
      if (owner == Owner::kOtherLeague || known == results_.end() ||
          past_.has_forgotten(known->first))
        continue;  // after a given-up play, a player keeps the first result that it got
      if (const std::string field = other_in_row(player, row, known->second); !field.empty())
        differs({path}, kHistoryRule, owner,
                "its " + field + " of " + known->first +
                    " is not that of the match that the manager accepted");
    }
    if (is_other) note(path, "it has matches of another league");
    if (!fits_stats(field_at(file, "stats"), matches))
      differs({path}, kHistoryRule, is_other ? Owner::kUnknown : owner_of(file, file),
              "its stats are not those of its matches");
  }

  [[nodiscard]] static std::string other_in_row(const std::string& player, const json& row,
                                                const KnownResult& known) {
    const MatchEvidence& match = *known.match;
    if (text_at(row, "result") != result_for(player, match, known.kept.outcome)) return "result";
    const std::string& opponent = text_at(row, "opponent_id");  // empty: GAME_OVER did not say it
    if (!opponent.empty() && opponent != match.opponent_of(player)) return "opponent_id";
    if (!is_round(field_at(row, "round_id"), match, text_at(row, "match_id"))) return "round_id";
    const json& number = field_at(row, "drawn_number");
    if (known.kept.drawn_number && number != *known.kept.drawn_number) return "drawn_number";
    if (known.report == nullptr || known.kept.by_manager) return {};
    const ReadReport read = read_report(*known.report);
    const json& technical = field_at(row, "technical");
    if (technical.is_boolean() && technical == read.is_played) return "technical";
    const json& choices = field_at(field_at(known.report->result, "details"), "choices");
    for (const auto& [key, who] :
         {std::pair("my_choice", player), {"opponent_choice", match.opponent_of(player)}}) {
      const std::string& shown = text_at(row, key);
      const std::string& reported = text_at(choices, who.c_str());
      if (!read.is_played && (shown.empty() || reported.empty())) continue;
      if (shown != reported) return key;
    }
    return {};
  }

  /// The counts of a file that has all its matches.
  [[nodiscard]] static bool fits_stats(const json& stats, const json& matches) {
    constexpr std::size_t kMostMatches = 10'000;
    if (!stats.is_object() || matches.size() >= kMostMatches) return true;
    std::map<std::string, std::int64_t> counted;
    for (const json& row : matches) ++counted[text_at(row, "result")];
    return number_at(stats, "wins").value_or(0) == counted["WIN"] &&
           number_at(stats, "losses").value_or(0) == counted["LOSS"] &&
           number_at(stats, "draws").value_or(0) == counted["DRAW"] &&
           number_at(stats, "total_matches") == static_cast<std::int64_t>(matches.size());
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
