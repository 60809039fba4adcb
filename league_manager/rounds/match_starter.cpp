#include "league_manager/rounds/match_starter.h"

#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::league_manager::rounds {
namespace {

using agent::dialects::CallStyle;
using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// Some third-party referees accept a start only from this sender.
constexpr std::string_view kSender = "league_manager:LM01";

/// A call that some third-party referees accept as the start of a match.
struct StartCall {
  std::string_view method;
  std::string_view message_type;
  CallStyle style = CallStyle::kToolName;
};
constexpr auto kStartCalls = std::to_array<StartCall>({
    {"START_MATCH", "START_MATCH"},
    {"start_match", "START_MATCH"},
    {"assign_match", "MATCH_ASSIGNMENT"},
    {"start_match", "START_MATCH", CallStyle::kToolsCall},
    {"assign_match", "MATCH_ASSIGNMENT", CallStyle::kToolsCall},
});

/// Copies the member `from` of `match` to each of `names`.
void spell(json& match, const char* from, std::initializer_list<const char*> names) {
  auto found = match.find(from);
  if (found == match.end()) return;
  const json value = *found;
  for (const char* name : names) match[name] = value;
}

/// The refusal that an answer without a JSON-RPC error contains, if it does.
std::optional<Error> refusal_in(const json& answer) {
  if (!answer.is_object()) return std::nullopt;
  auto success = answer.find("success");
  auto status = answer.find("status");
  const bool is_no = (success != answer.end() && *success == false) ||
                     (status != answer.end() &&
                      (*status == "ERROR" || *status == "error" || *status == "REJECTED" ||
                       *status == "rejected" || *status == "FAILED" || *status == "failed"));
  if (!is_no) return std::nullopt;
  return Error{ErrorCode::kInvalidReply,
               "the referee answered " + core::shown(rpc::to_json_text(answer), core::kMostEchoed),
               ""};
}

}  // namespace

void add_spellings(json& assignments) {
  if (!assignments.is_array()) return;
  for (auto& match : assignments) {
    spell(match, "player_A_id",
          {"player_a_id", "player1_id", "player_1_id", "player_a", "player_A"});
    spell(match, "player_B_id",
          {"player_b_id", "player2_id", "player_2_id", "player_b", "player_B"});
    spell(match, "player_A_endpoint",
          {"player_a_endpoint", "player1_endpoint", "player_1_endpoint"});
    spell(match, "player_B_endpoint",
          {"player_b_endpoint", "player2_endpoint", "player_2_endpoint"});
  }
}

MatchStarter::MatchStarter(agent::peers::PeerClient& peers,
                           const envelope::EnvelopeBuilder& envelopes,
                           std::chrono::milliseconds time_limit)
    : peers_(peers), envelopes_(envelopes), time_limit_(time_limit) {}

bool MatchStarter::is_known(const transport::link::Endpoint& referee) const {
  auto found = known_.find(referee.url());
  return found != known_.end() && !found->second.is_hopeless;
}

void MatchStarter::doubt(const transport::link::Endpoint& referee) {
  if (auto found = known_.find(referee.url()); found != known_.end())
    found->second.way = (found->second.way + 1) % kStartCalls.size();
}

void MatchStarter::forget(const transport::link::Endpoint& referee) { known_.erase(referee.url()); }

task::Task<std::optional<Error>> MatchStarter::start(Order order) {
  const std::string address = order.referee.url();
  const auto found = known_.find(address);
  const Known known = found != known_.end() ? found->second : Known{};
  const std::size_t most = known.is_hopeless ? 1 : kStartCalls.size();
  for (std::size_t tried = 0; tried < most; ++tried) {
    const std::size_t way = (known.way + tried) % kStartCalls.size();
    const auto answer = co_await call(order, way);
    if (answer) {
      known_[address] = {.way = way};
      co_return refusal_in(*answer);
    }
    if (answer.error().code != ErrorCode::kUnknownMessageType) co_return answer.error();
  }
  known_[address] = {.is_hopeless = true};
  co_return Error{ErrorCode::kUnknownMessageType,
                  "it knows none of the calls that start a match: neither ROUND_ANNOUNCEMENT nor "
                  "START_MATCH, start_match or assign_match",
                  ""};
}

task::Task<core::Result<json>> MatchStarter::call(const Order& order, std::size_t way) const {
  const StartCall& known = kStartCalls[way];
  const auto& conversation = schema::text_at(order.match, "conversation_id");
  const auto& match = schema::text_at(order.match, "match_id");
  const auto envelope = envelopes_.make(envelope::MessageType::kRoundAnnouncement,
                                        {.conversation_id = core::ConversationId(conversation),
                                         .auth_token = order.token,
                                         .round_id = order.round,
                                         .match_id = core::MatchId(match)});
  json message = envelope::encode_envelope(envelope);
  message.update(order.match);
  message["message_type"] = known.message_type;
  message["sender"] = kSender;
  message["round"] = order.round;
  agent::peers::PeerToolCall call;
  call.endpoint = order.referee;
  call.peer = order.peer;
  call.time_limit = time_limit_;
  call.budget = transport::link::Budget::kGame;
  call.is_search = true;
  call.conversation_id = conversation;
  call.match_id = match;
  call.tool = known.method;
  call.style = known.style;
  call.arguments = rpc::to_json_text(message);
  return peers_.call_tool(std::move(call));
}

}  // namespace league::league_manager::rounds
