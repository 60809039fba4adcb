#include "player/service/dispute_sender.h"

#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/envelope/codec.h"
#include "common/envelope/query_messages.h"

namespace league::player::service {
namespace {

using envelope::MessageType;

/// One query on its way; kept alive by its calls and timers.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  using OnData = std::function<void(const envelope::QueryData&)>;

  /// `purpose`: for the operator, who is told if the manager does not take the query.
  Attempt(const DisputeContext& context, const agent::identity::Identity& identity,
          envelope::LeagueQuery query, const std::string& conversation, std::string purpose,
          OnData on_data)
      : context_(context),
        identity_(identity),
        query_(std::move(query)),
        conversation_(conversation.substr(0, kLongestConversation)),
        purpose_(std::move(purpose)),
        on_data_(std::move(on_data)) {}

  void send() {
    ++attempts_;
    const envelope::EnvelopeBuilder envelopes(envelope::Sender::player(identity_.id),
                                              identity_.league, context_.clock);
    const auto envelope = envelopes.make(
        MessageType::kLeagueQuery,
        {.conversation_id = core::ConversationId(conversation_), .auth_token = identity_.token});
    auto call = agent::peers::call_with({context_.manager, "league_manager"}, envelope, query_,
                                        context_.settings.time_limit(envelope.type));
    if (query_.query_params.match_id) call.match_id = query_.query_params.match_id->str();
    context_.peers.call(
        std::move(call), [self = shared_from_this()](const agent::peers::PeerReply& reply,
                                                     const envelope::LeagueQueryResponse* answer) {
          answer != nullptr ? self->on_answer(*answer) : self->on_failure(*reply.error);
        });
  }

 private:
  static constexpr std::size_t kLongestConversation = 100;

  void on_failure(const core::Error& error) {
    const bool passes = core::error_info(error.code).retryable;
    if (!passes || attempts_ >= context_.settings.retry.max_attempts) return give_up(error.message);
    context_.timer.schedule(context_.settings.retry.delay,
                            [self = shared_from_this()] { self->send(); });
  }

  void on_answer(const envelope::LeagueQueryResponse& answer) const {
    if (!answer.success)
      return give_up(answer.error ? answer.error->error_description : "no reason given");
    if (on_data_) on_data_(answer.data);
  }

  void give_up(const std::string& why) const {
    agent::runtime::log::warn("the league manager has not taken {}: {}", purpose_,
                              why.substr(0, 200));
  }

  const DisputeContext context_;
  const agent::identity::Identity identity_;
  const envelope::LeagueQuery query_;
  const std::string conversation_;
  const std::string purpose_;
  const OnData on_data_;
  int attempts_ = 0;
};

}  // namespace

void send_dispute(const DisputeContext& context, const agent::identity::Identity& identity,
                  const DisputedMatch& match) {
  envelope::LeagueQuery query{.query_type = envelope::QueryType::kDisputeMatch};
  query.query_params.match_id = match.match_id;
  query.query_params.reason = match.reason;
  std::make_shared<Attempt>(context, identity, std::move(query),
                            "convdispute" + identity.id + match.match_id.str(),
                            "the dispute of " + match.match_id.str(), nullptr)
      ->send();
}

void ask_for_results(const DisputeContext& context, const agent::identity::Identity& identity,
                     std::function<void(const std::vector<envelope::PlayedMatchRow>&)> results) {
  std::make_shared<Attempt>(
      context, identity, envelope::LeagueQuery{.query_type = envelope::QueryType::kGetPlayerStats},
      "convresults" + identity.id, "the question for results",
      [results = std::move(results)](const envelope::QueryData& data) {
        if (data.matches) results(*data.matches);
      })
      ->send();
}

}  // namespace league::player::service
