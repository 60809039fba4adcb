#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "common/audit/log/conversation.h"
#include "common/rpc/json_text.h"
#include "tools/audit/facts/journal.h"
#include "tools/audit/inspect/explain_text.h"
#include "tools/audit/inspect/explain_truth.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using nlohmann::ordered_json;

std::vector<std::string> conversations_of(const std::vector<LogEntry>& entries) {
  std::set<std::string> found;
  for (const auto& entry : entries) found.insert(entry.conversation_id);
  return {found.begin(), found.end()};
}

std::vector<Explanation> explain_all(const std::vector<LogEntry>& all, const LogEnds& log_ends) {
  std::vector<Explanation> explanations;
  for (const std::string& conversation : conversations_of(all)) {
    std::vector<LogEntry> entries;
    std::ranges::copy_if(all, std::back_inserter(entries),
                         [&](const auto& entry) { return entry.conversation_id == conversation; });
    explanations.push_back(
        explain(conversation, audit::log::merge_records(std::move(entries)), log_ends));
  }
  return explanations;
}

std::string_view winner_text(game::Outcome outcome) {
  switch (outcome) {
    case game::Outcome::kPlayerAWins:
      return "player A wins";
    case game::Outcome::kPlayerBWins:
      return "player B wins";
    case game::Outcome::kDraw:
      return "a draw";
    case game::Outcome::kNoWinner:
      return "nobody wins";
  }
  return "";
}

/// A sentence on how the manager itself ended a match; empty if it did not.
std::string word_of_manager(const std::filesystem::path& directory, const std::string& match) {
  auto kept = read_kept_league(directory / "data");
  if (!kept || !*kept) return {};
  for (const JournalResult& result : (*kept)->results) {
    if (result.match_id != match || !result.by_manager) continue;
    return match + " was ended by the manager itself (" + result.reason +
           "): " + std::string(winner_text(result.outcome)) +
           ". No referee reported it; the journal says so";
  }
  return {};
}

/// Adds to the explanation of the last attempt what all sealed logs together show about the match.
void add_truth(const std::filesystem::path& directory, std::vector<Explanation>& explanations) {
  auto last = std::find_if(explanations.rbegin(), explanations.rend(),
                           [](const auto& one) { return !one.match.empty(); });
  if (last == explanations.rend()) return;
  MatchTruth truth = truth_of(directory, last->match);
  last->fairness = std::move(truth.fairness);
  last->sealed = std::move(truth.sentences);
}

int write_page(const std::filesystem::path& file, const std::string& page, std::ostream& out,
               std::ostream& err) {
  std::ofstream stream(file, std::ios::binary);
  stream << page;
  stream.close();
  if (!stream) {
    err << file.string() << " cannot be written\n";
    return 2;
  }
  out << file.string() << '\n';
  return 0;
}

}  // namespace

int audit_explain(const std::filesystem::path& directory, const std::string& what,
                  const ExplainOptions& options, std::ostream& out, std::ostream& err) {
  LogEnds log_ends;
  auto search = audit::log::search_logs(logs_of(directory), [&](const LogEntry& entry) {
    auto& end = log_ends.try_emplace(entry.agent, entry.time).first->second;
    end = std::max(end, entry.time);
    // What the manager passes on to a seat is in the logs of both ends, or at least of the referee.
    const bool is_passed_on = entry.agent == "league_manager" && entry.via == "seat";
    return !is_passed_on && !entry.conversation_id.empty() &&
           (entry.conversation_id == what || entry.match_id == what);
  });
  for (const auto& problem : search.problems) err << "warning: " << printable(problem, 400) << '\n';
  if (search.files == 0) {
    err << directory.string() << " contains no conversation logs\n";
    return 2;
  }
  std::string by_manager = word_of_manager(directory, what);
  if (search.entries.empty() && by_manager.empty()) {
    err << "there is no match or conversation " << printable(what, 100) << " in "
        << directory.string() << "; match ids look like R1M1\n";
    return 1;
  }
  auto explanations = explain_all(search.entries, log_ends);
  if (!by_manager.empty()) {
    if (explanations.empty()) explanations.emplace_back().match = what;
    explanations.back().outcome.push_back(by_manager);
  }
  add_truth(directory, explanations);
  if (!options.html.empty()) return write_page(options.html, html_of(explanations, what), out, err);
  if (options.output.json) {
    auto all = ordered_json::array();
    for (const auto& one : explanations) all.push_back(json_of_explanation(one));
    out << rpc::ordered_json_text(ordered_json{{"conversations", std::move(all)}}) << '\n';
    return 0;
  }
  for (const auto& one : explanations) print_explanation(one, Paint(options.output.colour), out);
  return 0;
}

}  // namespace league::tools::auditor
