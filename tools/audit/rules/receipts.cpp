#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "common/schema/parse_json.h"
#include "game/receipt.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/facts.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;
using KeysByPlayer = std::map<std::string, std::vector<std::string>>;

/// The receipt keys that the manager has published at the league's end, in a sealed part of its
/// log.
KeysByPlayer published_keys(const std::vector<LeagueLog>& logs,
                            const audit::log::LeagueIdentity& league) {
  KeysByPlayer keys;
  for (const LeagueLog& log : logs) {
    for (const audit::log::LogNote& note : log.log->chain.notes) {
      if (note.name != "receipt_keys" || note.agent != "league_manager" || !note.is_sealed ||
          !is_same_league(note.league, league))
        continue;
      auto content = schema::parse_json(note.content);
      const json& players = content ? field_at(*content, "keys") : json();
      if (!players.is_object()) continue;
      for (const auto& [player, list] : players.items()) {
        for (const json& key : list.is_array() ? list : json::array())
          if (key.is_string()) keys[player].push_back(key.get<std::string>());
      }
    }
  }
  return keys;
}

/// Recomputes the receipts of one accepted report.
class ReceiptCheck {
 public:
  ReceiptCheck(const AcceptedReport& report, const MatchEvidence& match, const std::string& key,
               const KeysByPlayer& keys)
      : report_(report), match_(match), league_key_(key), keys_(keys), read_(read_report(report)) {}

  /// Whether the receipts of `player` are those of what the report says of it.
  [[nodiscard]] bool is_valid(const std::string& player, const JournalReceipts& receipts) const {
    if (!receipts.join.empty() && !is_receipt(player, join_text(player), receipts.join))
      return false;
    return receipts.choice.empty() || is_receipt(player, choice_text(player), receipts.choice);
  }

 private:
  [[nodiscard]] game::ReceiptScope scope() const {
    return {.league_key = league_key_,
            .match_id = report_.match_id,
            .attempt = static_cast<int>(read_.attempt.value_or(1)),
            .play = static_cast<int>(read_.replays),
            .draw_commitment = match_.promised};
  }

  [[nodiscard]] std::string listed(const game::ByPlayer& values, const std::string& player) const {
    return value_of(values, player).value_or("");
  }

  [[nodiscard]] std::string join_text(const std::string& player) const {
    return game::join_receipt_text(scope(), !has_declined(report_, player),
                                   listed(read_.claim.commitments, player));
  }

  [[nodiscard]] std::string choice_text(const std::string& player) const {
    return game::choice_receipt_text(
        scope(),
        {.choice = listed(read_.claim.choices, player),
         .nonce = listed(read_.claim.nonces, player),
         .opponent_commitment = listed(read_.claim.commitments, match_.opponent_of(player))});
  }

  [[nodiscard]] bool is_receipt(const std::string& player, const std::string& text,
                                const std::string& receipt) const {
    auto own = keys_.find(player);
    return own != keys_.end() && std::ranges::any_of(own->second, [&](const std::string& key) {
             return game::is_receipt_of(key, text, receipt);
           });
  }

  const AcceptedReport& report_;
  const MatchEvidence& match_;
  const std::string& league_key_;
  const KeysByPlayer& keys_;
  ReadReport read_;
};

}  // namespace

bool has_declined(const AcceptedReport& report, const std::string& player) {
  const ReadReport read = read_report(report);
  const auto failures = read.failures_of(player);
  return !failures.empty() && failures.back().code == "E037" && read.has_lost(player);
}

bool has_valid_receipts(const std::string& player, const std::string& match_id,
                        const MatchEvidence& match, const JournalLeague* kept) {
  if (kept == nullptr) return false;
  auto result = std::ranges::find(kept->results, match_id, &JournalResult::match_id);
  if (result == kept->results.end() || result->receipts.size() != 2) return false;
  return result->receipts[player == match.player_a ? 0 : 1].state == "valid";
}

void check_receipts(const LeagueCase& league, Findings& findings) {
  const KeysByPlayer keys = published_keys(league.logs, league.league);
  for (const JournalResult& result : league.kept->results) {
    const MatchEvidence* match = league.evidence.match(result.match_id);
    if (match == nullptr || !match->is_announced() || match->reports.empty() ||
        result.receipts.size() != 2)
      continue;
    const AcceptedReport& report = *match->reports.back();
    const ReceiptCheck check(report, *match, league.league.key, keys);
    for (const std::string& player : {match->player_a, match->player_b}) {
      const JournalReceipts& own = result.receipts[player == match->player_a ? 0 : 1];
      if (own.state == "absent" || own.state == "invalid")
        findings.incident(report.place, "receipt.invalid",
                          "the receipts of " + player + " for " + result.match_id + " are " +
                              own.state + ": nobody but its referee says what it answered");
      if (own.state == "valid" && !keys.empty() && !check.is_valid(player, own))
        findings.fault(report.place, "receipt.false",
                       "the manager has accepted receipts of " + player + " for " +
                           result.match_id +
                           " as valid, but they are not those of the reported answers");
    }
  }
}

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

void note_disputes(const LeagueCase& league, Findings& findings) {
  constexpr std::size_t kMostDisputes = 200;
  for (const auto& [id, match] : league.evidence.matches()) {
    for (const Dispute* dispute : match.disputes) {
      const Support support = DisputeCheck(*dispute, match, league.evidence, findings).support();
      findings.incident(dispute->place, "match.disputed",
                        dispute->player + " says that the result of " + id + " is false (" +
                            dispute->reason.substr(0, kMostDisputes) + "); " +
                            words_of(support, dispute->player));
    }
  }
}

}  // namespace league::tools::auditor
