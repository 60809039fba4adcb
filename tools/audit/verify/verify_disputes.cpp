#include <algorithm>
#include <initializer_list>

#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

/// Whom the records support in a dispute.
enum class Support { kPlayer, kReport, kNobody };

/// Whether a text contains one of these words.
bool has_word(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// Judges one dispute by what the records show about the very claim that the player makes.
class DisputeCheck {
 public:
  DisputeCheck(const Dispute& dispute, const MatchEvidence& match, const LeagueEvidence& evidence,
               const Findings& findings)
      : dispute_(dispute),
        match_(match),
        report_(match.reports.empty() ? nullptr : match.reports.front()),
        evidence_(evidence),
        findings_(findings) {}

  [[nodiscard]] Support support() const {
    if (report_ == nullptr || !match_.is_announced()) return Support::kNobody;
    const std::string& reason = dispute_.reason;
    if (has_word(reason, {"handed over"})) return about_handover();
    if (has_word(reason, {"commitment for us", "commitment that we gave"}))
      return about_own_commitment();
    if (has_word(reason, {"choice for us"})) return about_own_choice();
    if (has_word(reason, {"manager's question", "technical", "no call", "answered"}))
      return about_loss();
    if (has_word(reason, {"draw_proof", "draw_version", "drawn_number", "number_parity", "winner",
                          "choice_nonces", "score"}))
      return about_draw();
    return Support::kNobody;
  }

 private:
  [[nodiscard]] bool has_fault(std::initializer_list<std::string_view> prefixes) const {
    return std::ranges::any_of(findings_.faults, [&](const audit::log::LogFault& fault) {
      return fault.file == *report_->place.file && fault.line == report_->place.line &&
             std::ranges::any_of(
                 prefixes, [&](std::string_view prefix) { return fault.rule.starts_with(prefix); });
    });
  }

  /// Support by whether the report says what the player's own sealed log shows.
  [[nodiscard]] static Support by(bool is_proof, bool is_alike) {
    if (!is_proof) return Support::kNobody;
    return is_alike ? Support::kReport : Support::kPlayer;
  }

  [[nodiscard]] Support about_handover() const {
    const HandedOver handed = handed_to(dispute_.player, *report_, match_, evidence_);
    auto listed =
        value_of(read_report(*report_).claim.commitments, match_.opponent_of(dispute_.player));
    return by(handed.is_proof,
              handed.call != nullptr && handed.call->opponent_commitment == listed.value_or(""));
  }

  [[nodiscard]] Support about_own_commitment() const {
    auto listed = value_of(read_report(*report_).claim.commitments, dispute_.player);
    const LeagueLog* log = evidence_.log_of("player:" + dispute_.player);
    const GameCall* last = nullptr;
    for (const GameCall* call : LeagueEvidence::own_calls(*report_, match_, dispute_.player)) {
      if (call->is_invitation && call->accepts) last = call;
    }
    if (log == nullptr || last == nullptr || !is_sealed(*log->log, last->answer_place))
      return Support::kNobody;
    return by(true, last->commitment == listed.value_or(""));
  }

  [[nodiscard]] Support about_own_choice() const {
    auto reported = value_of(read_report(*report_).claim.choices, dispute_.player);
    const HandedOver own = handed_to(dispute_.player, *report_, match_, evidence_);
    return by(own.is_proof, own.call != nullptr && own.call->choice == reported.value_or(""));
  }

  [[nodiscard]] Support about_draw() const {
    if (has_fault({"draw.", "result.", "commitment.opening"})) return Support::kPlayer;
    const bool is_told_otherwise =
        std::ranges::any_of(findings_.faults, [&](const audit::log::LogFault& fault) {
          return fault.rule == "over.contradicts" &&
                 fault.text.find(report_->match_id + " ") != std::string::npos;
        });
    return is_told_otherwise ? Support::kPlayer : Support::kReport;
  }

  /// Two sealed records that contradict each other show that one is false, not which.
  [[nodiscard]] Support about_loss() const {
    if (has_fault({"loss."})) return Support::kPlayer;
    const LeagueLog* log = evidence_.log_of("player:" + dispute_.player);
    const GameCall* last = nullptr;
    for (const GameCall* call : LeagueEvidence::own_calls(*report_, match_, dispute_.player))
      last = call;
    const bool is_silent = last != nullptr && !last->is_answered && log != nullptr &&
                           is_sealed(*log->log, last->place);
    return is_silent ? Support::kReport : Support::kNobody;
  }

  const Dispute& dispute_;
  const MatchEvidence& match_;
  const AcceptedReport* report_;
  const LeagueEvidence& evidence_;
  const Findings& findings_;
};

std::string words_of(Support support, const std::string& player) {
  if (support == Support::kPlayer) return "the sealed records support " + player;
  if (support == Support::kReport)
    return "the sealed records support the report that the manager accepted";
  return "the records do not decide";
}

}  // namespace

void note_disputes(const LeagueEvidence& evidence, Findings& findings) {
  constexpr std::size_t kMostTold = 200;
  for (const auto& [id, match] : evidence.matches()) {
    for (const Dispute* dispute : match.disputes) {
      const Support support = DisputeCheck(*dispute, match, evidence, findings).support();
      findings.incident(dispute->place, "match.disputed",
                        dispute->player + " says that the result of " + id + " is false (" +
                            dispute->reason.substr(0, kMostTold) + "); " +
                            words_of(support, dispute->player));
    }
  }
}

}  // namespace league::tools::auditor
