#include "player/core/call_log.h"

#include <utility>

namespace league::player {

void CallLog::expect(const core::MatchId& match) {
  if (!matches_.try_emplace(match).second) return;
  order_.push_back(match);
  if (order_.size() <= kMostMatches) return;
  matches_.erase(order_.front());
  order_.pop_front();
}

void CallLog::add(const core::MatchId& match, envelope::RecordedCall call) {
  const auto found = matches_.find(match);
  if (found == matches_.end() || found->second.size() >= kMostCalls) return;
  found->second.push_back(std::move(call));
}

std::optional<envelope::MatchRecord> CallLog::record_of(const core::MatchId& match,
                                                        const core::PlayerId& self) const {
  const auto found = matches_.find(match);
  if (found == matches_.end()) return std::nullopt;
  return envelope::MatchRecord{.match_id = match, .player_id = self, .calls = found->second};
}

std::optional<std::string> contradiction_of_loss(const envelope::MatchRecord& record,
                                                 const AnswerLimits& limits) {
  if (record.calls.empty()) return "no call of this match arrived with a valid credential";
  const envelope::RecordedCall& last = record.calls.back();
  if (last.is_callers_fault)
    return last.message_type + " was refused for its own fault: " + last.reason.value_or("");
  if (!last.answered_at || !last.answer_ms || last.accept == false) return std::nullopt;
  const auto limit = last.parity_choice ? limits.choice : limits.invitation;
  if (std::chrono::milliseconds(*last.answer_ms) > limit) return std::nullopt;
  return last.message_type + " was answered after " + std::to_string(*last.answer_ms) + " ms" +
         (last.parity_choice ? "" : ", and no call for the choice arrived");
}

}  // namespace league::player
