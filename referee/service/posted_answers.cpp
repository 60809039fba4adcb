// Answers that players send as calls of their own instead of in the reply.
#include "common/agent/peers/reply_names.h"
#include "referee/service/match_runner.h"

namespace league::referee::service {

using core::Error;
using core::ErrorCode;

std::optional<Side> MatchRunner::side_of(const core::AuthToken& shown) const {
  if (shown.empty()) return std::nullopt;
  for (Side side : kBothSides) {
    const auto one = seat(side);
    // If the hash is missing, the credential is this referee's own token, which both players know.
    if (one->token_hash.empty()) continue;
    if (is_credential_of(*one, shown) || one->credential.matches(shown.reveal())) return side;
  }
  return std::nullopt;
}

envelope::NormaliseDefaults MatchRunner::answer_defaults(const core::AuthToken& shown) const {
  envelope::NormaliseDefaults defaults;
  if (const auto side = side_of(shown)) {
    defaults.player_id = seat(*side)->id;
    defaults.sender = "player:" + defaults.player_id->str();
    defaults.conversation_id = assignment_.conversation_id;
  }
  return defaults;
}

core::Result<void> MatchRunner::compare_names(Side side, const PostedAnswer& posted) const {
  const auto called = seat(side);
  const auto call = agent::peers::call_with({called->endpoint, "player:" + called->id.str()},
                                            envelope_for(posted.envelope.type, called->credential),
                                            std::string(), std::chrono::milliseconds(0));
  envelope::Leniencies taken;
  if (auto names = agent::peers::compare_names(call, posted.envelope, context_.options.mode, taken);
      !names)
    return names;
  if (posted.player_id != called->id) taken.add(envelope::Leniency::kForeignReplyPlayer);
  for (std::string_view name : taken.names()) posted.notes.leniencies.push_back(name);
  // The token identifies the sender, whatever the message says.
  posted.notes.peer = call.peer;
  posted.notes.conversation_id = call.conversation_id;
  return {};
}

core::Result<std::function<void()>> MatchRunner::take_posted(const PostedAnswer& posted) {
  const Reply& answer = posted.answer;
  const auto side = side_of(*posted.envelope.auth_token);
  if (!side) {
    return Error{ErrorCode::kAuthTokenInvalid,
                 "auth_token is neither the token of a player of this match nor the credential "
                 "that the call came with",
                 "/auth_token"};
  }
  posted.notes.said_by = "player:" + seat(*side)->id.str();
  if (auto names = compare_names(*side, posted); !names) return names.error();
  const bool is_join = std::holds_alternative<JoinAnswer>(answer);
  Effects effects;
  {
    std::lock_guard lock(mutex_);
    const CallPlayer& call = calls_[*side];
    const auto now = context_.deps.clock.steady_now();
    const bool is_open = match_ && match_->awaits(call.id) &&
                         is_join == (call.call == Call::kInvitation) &&
                         now - call.deadline <= latest_answer(call.time_limit);
    if (!is_open) {
      return Error{ErrorCode::kMatchNotOpen,
                   "no call that this could answer is open: the first valid answer counts, and it "
                   "must come within the time limit",
                   "/match_id"};
    }
    if (auto fault = match_->fault_of(call.id, answer)) return std::move(*fault);
    effects = match_->on_reply(call.id, answer, now);
  }
  note_answer(seat(*side)->id.str(),
              expected_reply(is_join ? Call::kInvitation : Call::kChooseParity), answer);
  return std::function<void()>(
      [self = shared_from_this(), effects = std::move(effects)] { self->run(effects); });
}

void MatchRunner::await_posted(const CallPlayer& call, const agent::peers::PeerReply& receipt) {
  const auto left = call.deadline - context_.deps.clock.steady_now();
  auto given_up = [self = shared_from_this(), call, sent_at = receipt.sent_at] {
    {
      std::lock_guard lock(self->mutex_);
      if (!self->match_->awaits(call.id)) return;
    }
    agent::peers::PeerReply none;
    none.sent_at = sent_at;
    none.notes = std::make_shared<rpc::MessageNotes>();
    self->on_answer(call, none,
                    Error{ErrorCode::kTimeout,
                          "the player acknowledged the call, but its answer did not come", ""});
  };
  if (left <= Duration::zero()) {
    receipt.write_record();
    return given_up();
  }
  context_.deps.timer.schedule(left, std::move(given_up));
}

}  // namespace league::referee::service
