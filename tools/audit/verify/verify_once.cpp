#include <algorithm>
#include <array>
#include <map>

#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

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
