#include "tools/audit/inspect/explain_truth.h"

#include <algorithm>

#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/rules/accepted_losses.h"
#include "tools/audit/rules/leagues.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

std::string words_of(const std::string& fairness) {
  if (fairness == "both")
    return "fairness: both. Both players were bound before anybody could know the number";
  if (fairness == "one")
    return "fairness: one. One player was bound; a referee that colludes with the other player "
           "could have shown it that choice";
  if (fairness == "hosted")
    return "fairness: hosted. Players were bound, but the manager ran one of them and knew its "
           "choice before it was revealed";
  if (fairness == "none")
    return "fairness: none. No player was bound: whoever knew the seed and the choices knew the "
           "number";
  if (fairness == "disputed") return "fairness: disputed. A player says that the result is false";
  return "fairness: claimed. The report lists commitments, but nothing proves that they were "
         "handed "
         "over, or a finding below contradicts it";
}

bool is_about(const audit::log::LogFault& finding, const std::string& id,
              const MatchEvidence& match) {
  for (const AcceptedReport* report : match.reports) {
    if (finding.line == report->place.line && finding.file == *report->place.file) return true;
  }
  for (std::size_t at = finding.text.find(id); at != std::string::npos;
       at = finding.text.find(id, at + 1)) {
    std::size_t end = at + id.size();
    bool begins = at == 0 || finding.text[at - 1] == ' ';
    bool ends = end == finding.text.size() || finding.text[end] < '0' || finding.text[end] > '9';
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

MatchTruth truth_of(const std::filesystem::path& directory, const std::string& match_id) {
  MatchTruth truth;
  auto schemas = envelope::MessageSchemas::load();
  auto segments = audit::log::find_log_segments(logs_of(directory));
  if (!schemas || segments.empty()) return truth;
  auto logs = read_logs(segments, &*schemas, 0);
  auto groups = group_by_league(logs);
  Findings findings;
  auto kept = read_kept_league(directory / "data");
  if (kept && *kept) AcceptedLosses(&**kept).forget(groups.back().logs, findings);
  LeagueEvidence evidence(groups.back().logs, kept && *kept ? &**kept : nullptr);
  const MatchEvidence* match = evidence.match(match_id);
  if (match == nullptr || match->reports.empty()) return truth;
  truth.fairness =
      sealed_fairness(*match->reports.back(), *match, evidence, kept && *kept ? &**kept : nullptr);
  check_league(groups.back(), {}, findings);
  const bool is_accused = std::ranges::any_of(
      findings.faults, [&](const auto& one) { return is_about(one, match_id, *match); });
  if (is_accused && truth.fairness != "none" && truth.fairness != "disputed")
    truth.fairness = "claimed";
  truth.sentences.push_back(words_of(truth.fairness));
  const bool has_journal = kept && *kept;
  if (has_journal) {
    for (const VoidedMatch& one : (*kept)->voided) {
      if (one.match_id == match_id || one.replay == match_id)
        truth.sentences.push_back("match.voided: " + words_of(one));
    }
  }
  for (const auto* list : {&findings.faults, &findings.missing, &findings.incidents}) {
    for (const auto& one : *list) {
      if (has_journal && one.rule == "match.voided") continue;  // the journal has more details
      if (is_about(one, match_id, *match)) truth.sentences.push_back(one.rule + ": " + one.text);
    }
  }
  return truth;
}

}  // namespace league::tools::auditor
