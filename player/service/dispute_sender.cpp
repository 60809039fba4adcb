#include "player/service/dispute_sender.h"

#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/envelope/codec.h"
#include "common/envelope/query_messages.h"

namespace league::player::service {
namespace {

using envelope::MessageType;

/// The sending of one dispute; kept alive by its calls and timers.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(const DisputeContext& context, const agent::identity::Identity& identity,
          DisputedMatch match)
      : context_(context), identity_(identity), match_(std::move(match)) {}

  void send() {
    ++attempts_;
    const core::ConversationId conversation(
        ("convdispute" + identity_.id + match_.match_id.str()).substr(0, 100));
    const envelope::EnvelopeBuilder envelopes(envelope::Sender::player(identity_.id),
                                              identity_.league, context_.clock);
    const auto envelope =
        envelopes.make(MessageType::kLeagueQuery,
                       {.conversation_id = conversation, .auth_token = identity_.token});
    envelope::LeagueQuery query{.query_type = envelope::QueryType::kDisputeMatch};
    query.query_params.match_id = match_.match_id;
    query.query_params.reason = match_.reason;
    auto call = agent::peers::call_with({context_.manager, "league_manager"}, envelope, query,
                                        context_.settings.time_limit(envelope.type));
    call.match_id = match_.match_id.str();
    context_.peers.call(
        std::move(call), [self = shared_from_this()](const agent::peers::PeerReply& reply,
                                                     const envelope::LeagueQueryResponse* answer) {
          answer != nullptr ? self->on_answer(*answer) : self->on_failure(*reply.error);
        });
  }

 private:
  void on_failure(const core::Error& error) {
    const bool passes = core::error_info(error.code).retryable;
    if (!passes || attempts_ >= context_.settings.retry.max_attempts) return give_up(error.message);
    context_.timer.schedule(context_.settings.retry.delay,
                            [self = shared_from_this()] { self->send(); });
  }

  void on_answer(const envelope::LeagueQueryResponse& answer) const {
    if (!answer.success)
      give_up(answer.error ? answer.error->error_description : "no reason given");
  }

  void give_up(const std::string& why) const {
    agent::runtime::log::warn("the league manager has not taken the dispute of {}: {}",
                              match_.match_id.str(), why.substr(0, 200));
  }

  const DisputeContext context_;
  const agent::identity::Identity identity_;
  const DisputedMatch match_;
  int attempts_ = 0;
};

}  // namespace

void send_dispute(const DisputeContext& context, const agent::identity::Identity& identity,
                  const DisputedMatch& match) {
  std::make_shared<Attempt>(context, identity, match)->send();
}

}  // namespace league::player::service
