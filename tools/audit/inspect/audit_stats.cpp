#include "tools/audit/inspect/audit_stats.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

#include "common/audit/log/conversation.h"
#include "common/rpc/json_text.h"
#include "tools/audit/evidence/audit_body.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/speaker.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Reads the manager's log of one league, message by message.
class LeagueReader {
 public:
  explicit LeagueReader(bool by_display_name) : by_display_name_(by_display_name) {}

  void take(const audit::log::LogEntry& entry) {
    json message = message_of(entry);
    if (!message.is_object()) return;
    if (entry.message_type == "LEAGUE_REGISTER_REQUEST") {
      if (message.contains("player_meta"))
        asked_[call_of(entry)] = text_at(message["player_meta"], "display_name");
    } else if (entry.message_type == "LEAGUE_REGISTER_RESPONSE") {
      names_[text_at(message, "player_id")] = asked_[call_of(entry)];
    } else if (entry.outbound) {
      note_roles(message);
    } else if (seen_.insert(entry.match_id).second) {
      if (auto match = played(message, player_a_[entry.match_id])) matches_.push_back(*match);
    }
  }

  void add_matches_to(std::vector<MatchSample>& all) const {
    for (MatchSample match : matches_) {
      match.player_a = shown(match.player_a);
      match.player_b = shown(match.player_b);
      all.push_back(std::move(match));
    }
  }

 private:
  /// What an answer has in common with its request only. Bots may share a conversation id; old logs
  /// have no better one.
  static std::string call_of(const audit::log::LogEntry& entry) {
    if (entry.call == 0) return entry.conversation_id;
    return entry.file + ":" + std::to_string(entry.call);
  }
  void note_roles(const json& message) {
    auto matches = message.find("matches");
    if (matches == message.end() || !matches->is_array()) return;
    for (const json& match : *matches)
      player_a_.try_emplace(text_at(match, "match_id"), text_at(match, "player_A_id"));
  }

  [[nodiscard]] static bool is_first_choice(const json& choice) {
    return statistics_rules().index_of(choice.get<std::string>()) == 0U;
  }

  /// The sample of a match; nothing if it was not played to its end.
  static std::optional<MatchSample> played(const json& report, const std::string& player_a) {
    constexpr int kHighest = 10;
    auto details = report.value("/result/details"_json_pointer, json::object());
    auto choices = details.value("choices", json::object());
    auto number = details.value("drawn_number", json());
    if (!number.is_number_integer() || !choices.is_object() || choices.size() != 2 || number < 1 ||
        number > kHighest)
      return std::nullopt;
    auto a = choices.begin();
    auto b = std::next(a);
    if (b.key() == player_a) std::swap(a, b);
    if (!a->is_string() || !b->is_string()) return std::nullopt;
    return MatchSample{a.key(), b.key(), is_first_choice(*a), is_first_choice(*b),
                       number.get<int>()};
  }

  [[nodiscard]] std::string shown(const std::string& id) const {
    auto name = names_.find(id);
    return by_display_name_ && name != names_.end() ? name->second : id;
  }

  bool by_display_name_;
  std::map<std::string, std::string> asked_;  ///< display names by call
  std::map<std::string, std::string> names_;
  std::map<std::string, std::string> player_a_;  ///< by match
  std::set<std::string> seen_;
  std::vector<MatchSample> matches_;
};

bool is_of_interest(const audit::log::LogEntry& entry) {
  if (entry.agent != "league_manager" || !entry.verdict.empty()) return false;
  if (HearsayFilter().is_hearsay(entry) && entry.message_type == "MATCH_RESULT_REPORT")
    return false;
  const std::string& type = entry.message_type;
  if (entry.outbound) return type == "ROUND_ANNOUNCEMENT" || type == "LEAGUE_REGISTER_RESPONSE";
  return type == "MATCH_RESULT_REPORT" || type == "LEAGUE_REGISTER_REQUEST";
}

/// The matches in all managers' logs, from reports that were not refused; the first report of each
/// match counts.
std::vector<MatchSample> played_matches(const std::vector<std::filesystem::path>& directories) {
  std::map<std::filesystem::path, LeagueReader> leagues;
  for (const auto& directory : directories) {
    auto search = audit::log::search_logs(logs_of(directory), is_of_interest);
    for (const auto& entry : search.entries) {
      auto place = std::filesystem::path(entry.file).parent_path();
      leagues.try_emplace(place, directories.size() > 1).first->second.take(entry);
    }
  }
  std::vector<MatchSample> matches;
  for (const auto& [place, league] : leagues) league.add_matches_to(matches);
  return matches;
}

ordered_json json_of(const LeagueStatistics& all) {
  ordered_json tests = ordered_json::array();
  for (const auto& test : all.tests) {
    tests.push_back({{"name", test.name},
                     {"sample", test.sample},
                     {"statistic", test.statistic},
                     {"p", test.p},
                     {"suspicious", test.is_suspicious()},
                     {"deviation", test.deviation},
                     {"power", test.power}});
  }
  ordered_json pairs = ordered_json::array();
  for (const auto& pair : all.pairs) {
    pairs.push_back({{"pair", pair.pair},
                     {"matches", pair.matches},
                     {"opposite", pair.opposite},
                     {"expected_rate", pair.expected},
                     {"p", pair.p},
                     {"suspicious", pair.is_suspicious()},
                     {"power", pair.power}});
  }
  return {{"matches", all.matches}, {"numbers", all.numbers}, {"tests", tests}, {"pairs", pairs}};
}

/// `0.98`; small ones as `0.00012`.
std::string probability_text(double value) {
  std::ostringstream text;
  text.precision(2);
  text << value;
  return text.str();
}

/// What a test that found nothing says; with little power it says nothing.
std::string unsuspicious(double power, const Paint& paint) {
  constexpr double kLeastPower = 0.5;
  return power < kLeastPower ? "too few   " : paint.green("fine") + "      ";
}

void print_pairs(const LeagueStatistics& all, const Paint& paint, std::ostream& out) {
  if (all.pairs.empty()) {
    out << "no two players met " << kFewestOfAPair
        << " times: give the directories of several leagues to test pairs\n";
    return;
  }
  double weakest = 1;
  bool is_suspicious = false;
  for (const auto& pair : all.pairs) {
    weakest = std::min(weakest, pair.power);
    if (!pair.is_suspicious()) continue;
    is_suspicious = true;
    out << paint.red("SUSPICIOUS") << "  " << printable(pair.pair, 80) << ": chose differently in "
        << pair.opposite << " of " << pair.matches
        << " matches, expected from their individual frequencies "
        << probability_text(pair.expected * static_cast<double>(pair.matches)) << "; p "
        << probability_text(pair.p) << " for " << all.pairs.size() << " pairs\n";
  }
  if (is_suspicious) return;
  out << unsuspicious(weakest, paint) << "  " << all.pairs.size() << " pairs met at least "
      << kFewestOfAPair << " times: none chooses differently more or less often than their "
      << "individual frequencies explain; power at least " << probability_text(weakest)
      << " to detect a pair that does so in 0.95 of its matches\n";
}

void print_statistics(const LeagueStatistics& all, const Paint& paint, std::ostream& out) {
  out << all.matches << " matches with a draw\nnumbers 1 to 10:";
  for (std::size_t count : all.numbers) out << ' ' << count;
  out << "\n\n";
  for (const auto& test : all.tests) {
    out << (test.is_suspicious() ? paint.red("SUSPICIOUS") : unsuspicious(test.power, paint))
        << "  " << padded(test.name, 36) << "  p " << padded(probability_text(test.p), 8) << " of "
        << test.sample << " matches; power " << probability_text(test.power) << " to detect that "
        << test.deviation << '\n';
  }
  print_pairs(all, paint, out);
  out << "\np: probability of such a result by chance; suspicious below " << kSuspicious
      << ", so about one honest league in a hundred looks suspicious. power: probability that the "
         "test detects the named manipulation with this many matches; below 0.5 they are too few "
         "to "
         "say anything.\n";
}

}  // namespace

bool LeagueStatistics::is_suspicious() const {
  return std::ranges::any_of(tests, &TestResult::is_suspicious) ||
         std::ranges::any_of(pairs, &PairRate::is_suspicious);
}

int audit_stats(const std::vector<std::filesystem::path>& directories, AuditOutput options,
                std::ostream& out, std::ostream& err) {
  auto matches = played_matches(directories);
  if (matches.empty()) {
    err << "there is no log of a manager with played matches in";
    for (const auto& directory : directories) err << ' ' << directory.string();
    err << '\n';
    return 2;
  }
  auto all = statistics_of(matches);
  if (options.json) {
    out << rpc::ordered_json_text(json_of(all)) << '\n';
  } else {
    print_statistics(all, Paint(options.colour), out);
  }
  return all.is_suspicious() ? 1 : 0;
}

}  // namespace league::tools::auditor
