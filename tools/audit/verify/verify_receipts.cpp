#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/schema/parse_json.h"
#include "game/receipt.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"
#include "tools/audit/evidence/verify_merge.h"
#include "tools/audit/verify/verify_rules.h"

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
    const auto play = number_at(field_at(report_.result, "details"), "replays").value_or(0);
    return {.league_key = league_key_,
            .match_id = report_.match_id,
            .attempt = static_cast<int>(read_.attempt.value_or(1)),
            .play = static_cast<int>(play),
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
  const json& failures = field_at(field_at(report.result, "details"), "failures");
  bool is_decline = false;
  for (const json& one : failures.is_array() ? failures : json::array()) {
    if (text_at(one, "player_id") == player) is_decline = text_at(one, "error_code") == "E037";
  }
  return is_decline && read_report(report).has_lost(player);
}

bool has_valid_receipts(const std::string& player, const std::string& match_id,
                        const MatchEvidence& match, const JournalLeague* kept) {
  if (kept == nullptr) return false;
  auto result = std::ranges::find(kept->results, match_id, &JournalResult::match_id);
  if (result == kept->results.end() || result->receipts.size() != 2) return false;
  return result->receipts[player == match.player_a ? 0 : 1].state == "valid";
}

void check_receipts(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                    const audit::log::LeagueIdentity& league, const JournalLeague* kept,
                    Findings& findings) {
  if (kept == nullptr) return;
  const KeysByPlayer keys = published_keys(logs, league);
  for (const JournalResult& result : kept->results) {
    const MatchEvidence* match = evidence.match(result.match_id);
    if (match == nullptr || !match->is_announced() || match->reports.empty() ||
        result.receipts.size() != 2)
      continue;
    const AcceptedReport& report = *match->reports.back();
    const ReceiptCheck check(report, *match, league.key, keys);
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

}  // namespace league::tools::auditor
