// A bot may answer an invitation and a call for a choice with a receipt, and post the answer back
// as a call of its own.
#include <algorithm>

#include "tools/check/player/player_bench.h"

namespace league::tools::check {

using envelope::MessageType;
using nlohmann::json;

namespace {
constexpr milliseconds kPostedSoon{1000};
}

void PlayerBench::announce(const json& invitation) {
  json message = news(MessageType::kRoundAnnouncement);
  json& match = message["matches"][0];
  // Copy only fields that exist, since some checks omit fields of the invitation.
  const auto copy = [&invitation](const char* field, json& to) {
    if (const auto found = invitation.find(field); found != invitation.end()) to = *found;
  };
  copy("round_id", message["round_id"]);
  copy("match_id", match["match_id"]);
  copy("opponent_id", match["player_B_id"]);
  match["referee_endpoint"] = server->url();
  (void)ask(MessageType::kRoundAnnouncement, message);
}

BotReply PlayerBench::exchange(const json& message, const std::function<BotReply()>& send) {
  const std::string type = text_at(message, "message_type");
  const bool is_invitation = type == envelope::wire_name(MessageType::kGameInvitation);
  const bool is_choice_call = type == envelope::wire_name(MessageType::kChooseParityCall);
  if (server == nullptr || !(is_invitation || is_choice_call)) return send();
  if (is_invitation && posts_back_) announce(message);
  const std::size_t from = server->count();
  BotReply reply = send();
  if (reply.text("status") != "RECEIVED" || reply.message.contains("message_type")) return reply;
  // Wait less once the bot is known to send answers as calls of its own: such a bot may also
  // acknowledge a message that it cannot use, and then no call follows.
  const bool is_known = posts_back_.exchange(true);
  if (is_invitation && !is_known) announce(message);
  const std::string wanted(envelope::wire_name(is_invitation ? MessageType::kGameJoinAck
                                                             : MessageType::kChooseParityResponse));
  auto posted = server->wait_for(
      [&wanted, match = text_at(message, "match_id")](const InboundCall& call) {
        return call.type() == wanted && text_at(call.message, "match_id") == match;
      },
      from, is_known ? std::min(limit(), kPostedSoon) : limit());
  if (!posted) return reply;
  reply.message = posted->message;
  json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"result", posted->message}};
  judge(reply, message, rpc::Id(1), frame.dump(-1, ' ', false, json::error_handler_t::replace));
  note_sent(message, reply);
  reply.place = "/params";
  reply.leniencies.emplace_back("answer_posted_back");
  reply.exchange.received += " and then, as a call of its own: " + posted->bytes;
  return reply;
}

}  // namespace league::tools::check
