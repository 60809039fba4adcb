#include <algorithm>
#include <limits>
#include <map>

#include "common/schema/parse_json.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"
#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
using game::Side;
using nlohmann::json;

json content_of(const fs::path& file) {
  auto read = schema::parse_json(bytes_of(file));
  return read ? std::move(*read) : json();
}

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

/// The outcome according to winner and score of a `result`; nothing if they are not valid.
std::optional<game::Outcome> outcome_in(const json& result, const MatchEvidence& match) {
  const json& score = field_at(result, "score");
  auto a = number_at(score, match.player_a.c_str());
  auto b = number_at(score, match.player_b.c_str());
  for (game::Outcome one : game::kAllOutcomes) {
    auto due = game::points_of(one);
    auto side = game::winner_of(one);
    const std::string winner = !side               ? std::string()
                               : *side == Side::kA ? match.player_a
                                                   : match.player_b;
    if (a == due[Side::kA] && b == due[Side::kB] && text_at(result, "winner") == winner) return one;
  }
  return std::nullopt;
}

class FileCheck {
 public:
  FileCheck(const LeagueEvidence& evidence, const AcceptedLosses& past,
            const audit::log::LeagueIdentity& league, Findings& findings)
      : evidence_(evidence), past_(past), league_(league), findings_(findings) {}

  void run(const fs::path& data, const JournalLeague* kept) {
    learn_results(kept);
    for (const fs::path& file : files_below(data / "matches", ".json")) check_match(file);
    for (const fs::path& file : files_below(data / "players", "history.json")) check_history(file);
  }

 private:
  void learn_results(const JournalLeague* kept) {
    if (kept != nullptr) {
      for (const JournalResult& one : kept->results) results_.try_emplace(one.match_id, one);
      return;
    }
    for (const auto& [id, match] : evidence_.matches()) {
      for (const AcceptedReport* report : match.reports) {
        auto outcome = outcome_in(report->result, match);
        if (!outcome) continue;
        ReadReport read = read_report(*report);
        results_.try_emplace(
            id, JournalResult{
                    id, *outcome, false, {}, 0, read.attempt.value_or(0), read.claim.drawn_number});
      }
    }
  }

  void fault(const fs::path& file, const char* rule, std::string text) {
    findings_.faults.push_back({file.string(), 0, rule, std::move(text)});
  }

  /// False for a file of an earlier league, which can have the same name.
  [[nodiscard]] bool is_of_this_league(const json& file) const {
    return league_.id.empty() || text_at(file, "league_id") == league_.id;
  }

  void check_match(const fs::path& path) {
    json file = content_of(path);
    const std::string& id = text_at(file, "match_id");
    auto kept = results_.find(id);
    const MatchEvidence* match = evidence_.match(id);
    if (kept == results_.end() || match == nullptr || !match->is_announced() ||
        !is_of_this_league(file) || text_at(file, "state") != "FINISHED")
      return;
    const std::string& promised = text_at(file, "draw_commitment");
    if (!promised.empty() && !match->commitments.contains(promised)) return;
    if (past_.covers(id, end_of(file))) return;
    std::int64_t attempt = number_at(file, "attempt").value_or(0);
    if (kept->second.attempt != 0 && attempt != 0 && attempt != kept->second.attempt) return;
    const json& result = field_at(file, "result");
    const json& details = field_at(result, "details");
    if (outcome_in(result, *match) != kept->second.outcome || kept->second.by_manager ||
        !has_number(field_at(details, "drawn_number"), kept->second) ||
        !has_choices(details, match_choices(*match))) {
      fault(path, "projection.match",
            "its result of " + id + " is not the one that the manager accepted");
    }
  }

  /// When the match in a file ended, in microseconds.
  [[nodiscard]] static std::int64_t end_of(const json& file) {
    const json& steps = field_at(file, "lifecycle");
    constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();  // later than any time
    if (!steps.is_array() || steps.empty()) return kUnknown;
    return instant_at(steps.back(), "at").value_or(kUnknown);
  }

  [[nodiscard]] static bool has_number(const json& number, const JournalResult& kept) {
    return !kept.drawn_number || !number.is_number_integer() ||
           number.get<std::int64_t>() == *kept.drawn_number;
  }

  /// The choices in the report that was accepted last; null if there is none.
  [[nodiscard]] static const json& match_choices(const MatchEvidence& match) {
    static const json kNone;
    if (match.reports.empty()) return kNone;
    return field_at(field_at(match.reports.back()->result, "details"), "choices");
  }

  [[nodiscard]] static bool has_choices(const json& details, const json& choices) {
    const json& own = field_at(details, "choices");
    return !own.is_object() || !choices.is_object() || own == choices;
  }

  /// Whether a row of the history of `player` has the choices of its match.
  [[nodiscard]] static bool has_choices_of(const std::string& player, const json& row,
                                           const MatchEvidence& match) {
    if (match.reports.empty() || !read_report(*match.reports.back()).is_played) return true;
    const json& choices = match_choices(match);
    const std::string& own = text_at(choices, player.c_str());
    const std::string& others = text_at(choices, match.opponent_of(player).c_str());
    return text_at(row, "my_choice") == own && text_at(row, "opponent_choice") == others;
  }

  void check_history(const fs::path& path) {
    json file = content_of(path);
    const std::string& player = text_at(file, "player_id");
    const json& matches = field_at(file, "matches");
    if (!matches.is_array()) return;
    for (const json& one : matches) {
      const std::string& id = text_at(one, "match_id");
      auto kept = results_.find(id);
      const MatchEvidence* match = evidence_.match(id);
      if (kept == results_.end() || match == nullptr || !match->is_announced() ||
          !is_of_this_league(one) || past_.has_forgotten(id))
        continue;  // after a given-up play, a player keeps the first result that it got
      if (text_at(one, "result") == result_for(player, *match, kept->second.outcome) &&
          has_number(field_at(one, "drawn_number"), kept->second) &&
          has_choices_of(player, one, *match))
        continue;
      fault(path, "projection.history",
            "its result of " + id + " is not the one that the manager accepted");
    }
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
  Findings& findings_;
  std::map<std::string, JournalResult> results_;
};

}  // namespace

void check_match_files(const fs::path& data, const LeagueEvidence& evidence,
                       const JournalLeague* kept, const AcceptedLosses& past,
                       const audit::log::LeagueIdentity& league, Findings& findings) {
  FileCheck(evidence, past, league, findings).run(data, kept);
}

}  // namespace league::tools::auditor
