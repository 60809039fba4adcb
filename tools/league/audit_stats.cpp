#include "tools/league/audit_stats.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>

#include "common/audit/conversation.h"
#include "tools/league/audit_body.h"
#include "tools/league/audit_text.h"
#include "tools/league/json_fields.h"

namespace league::tools {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr double kSuspicious = 0.01;

/// Match to its player A, from the announcements.
void note_roles(const json& message, std::map<std::string, std::string>& player_a) {
  auto matches = message.find("matches");
  if (matches == message.end() || !matches->is_array()) return;
  for (const json& match : *matches) {
    if (match.is_object())
      player_a.try_emplace(text_at(match, "match_id"), text_at(match, "player_A_id"));
  }
}

std::optional<PlayedMatch> played(const json& report, const std::string& player_a) {
  auto details = report.value("/result/details"_json_pointer, json::object());
  auto choices = details.value("choices", json::object());
  auto number = details.value("drawn_number", json());
  if (!number.is_number_integer() || !choices.is_object() || choices.size() != 2 || number < 1 ||
      number > 10)
    return std::nullopt;
  auto a = choices.begin();
  auto b = std::next(a);
  if (b.key() == player_a) std::swap(a, b);
  if (!a->is_string() || !b->is_string()) return std::nullopt;
  return PlayedMatch{a.key(), b.key(), *a == "even", *b == "even", number.get<int>()};
}

/// The matches of the manager's log, by reports that it did not refuse; the first of each counts.
std::vector<PlayedMatch> played_matches(const audit::LogSearch& search) {
  std::map<std::string, std::string> player_a;
  std::vector<PlayedMatch> matches;
  std::set<std::string> seen;
  for (const auto& entry : search.entries) {
    json message = message_of(entry);
    if (!message.is_object()) continue;
    if (entry.outbound) {
      note_roles(message, player_a);
    } else if (seen.insert(entry.match_id).second) {
      if (auto match = played(message, player_a[entry.match_id])) matches.push_back(*match);
    }
  }
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
                     {"p", pair.p}});
  }
  return {{"matches", all.matches}, {"numbers", all.numbers}, {"tests", tests}, {"pairs", pairs}};
}

void print(const LeagueStatistics& all, const Paint& paint, std::ostream& out) {
  out << all.matches << " matches with a draw\nnumbers 1 to 10:";
  for (std::size_t count : all.numbers) out << ' ' << count;
  out << '\n';
  out.precision(3);
  for (const auto& test : all.tests) {
    std::string verdict = test.is_suspicious() ? paint.red("SUSPICIOUS") : paint.green("fine");
    out << padded(test.name, 36) << verdict << "  p " << test.p << ", sample " << test.sample
        << "; power " << test.power << " to see that " << test.deviation << '\n';
  }
  std::size_t suspicious = 0;
  std::size_t most = 0;
  for (const auto& pair : all.pairs) {
    most = std::max(most, pair.matches);
    if (pair.p >= kSuspicious) continue;
    ++suspicious;
    out << paint.red("SUSPICIOUS") << " pair " << printable(pair.pair, 80) << ": opposite in "
        << pair.opposite << " of " << pair.matches << " matches, by their habits "
        << pair.expected * static_cast<double>(pair.matches) << '\n';
  }
  if (suspicious > 0) return;
  out << (most < 5 ? "no pair met five times: their choices cannot be judged\n"
                   : "no pair chooses differently more or less often than its habits explain\n");
}

}  // namespace

int audit_stats(const std::filesystem::path& directory, AuditOutput options, std::ostream& out,
                std::ostream& err) {
  auto search = audit::search_logs(logs_of(directory), [](const audit::LogEntry& entry) {
    if (entry.agent != "league_manager" || !entry.verdict.empty()) return false;
    return entry.outbound ? entry.message_type == "ROUND_ANNOUNCEMENT"
                          : entry.message_type == "MATCH_RESULT_REPORT";
  });
  auto matches = played_matches(search);
  if (matches.empty()) {
    err << directory.string() << " holds no log of a manager with played matches\n";
    return 2;
  }
  auto all = statistics_of(matches);
  if (options.json) {
    out << json_of(all).dump() << '\n';
  } else {
    print(all, Paint(options.colour), out);
  }
  bool suspicious =
      std::ranges::any_of(all.tests, &TestResult::is_suspicious) ||
      std::ranges::any_of(all.pairs, [](const auto& pair) { return pair.p < kSuspicious; });
  return suspicious ? 1 : 0;
}

}  // namespace league::tools
