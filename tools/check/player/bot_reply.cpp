#include "tools/check/player/bot_reply.h"

#include "common/agent/dialects/reply_dialect.h"
#include "common/core/clock.h"
#include "common/core/ids.h"
#include "common/envelope/leniency.h"
#include "tools/check/mock_server.h"

namespace league::tools::check {

using envelope::Leniency;
using nlohmann::json;

std::string BotReply::text(const std::string& field) const {
  return text_at(message, field.c_str());
}

int BotReply::code() const {
  const bool has_code = field_at(error, "code").is_number_integer();
  return has_code ? error["code"].get<int>() : 0;
}

BotReply read_bot_reply(Exchange exchange, const rpc::Id& id) {
  BotReply reply;
  reply.exchange = std::move(exchange);
  reply.document = json::parse(reply.exchange.received, nullptr, false);
  reply.message = nullptr;
  reply.error = nullptr;
  if (!reply.document.is_object()) return reply;
  if (const auto it = reply.document.find("error"); it != reply.document.end()) reply.error = *it;
  auto found = agent::dialects::read_reply(reply.document, id);
  if (!found) return reply;
  if (found->message.is_object() && !found->message.empty()) reply.message = found->message;
  if (found->error && reply.error.is_null())
    reply.error = {{"code", found->error->code}, {"message", found->error->message}};
  const auto names = found->leniencies.names();
  for (std::string_view name : names) {
    reply.leniencies.emplace_back(name);
    if (name == "result_response") reply.place = "/result/response";
    if (name == "result_structured_content") reply.place = "/result/structuredContent";
    if (name == "result_content_text") reply.place = "/result/content/0/text";
    if (name == "reply_as_request") reply.place = "/params";
    if (name == "bare_reply_body") reply.place = "";
  }
  return reply;
}

std::set<std::string> overlooked_in(const BotReply& reply, envelope::MessageType type,
                                    const TestMatch& match, const BotIdentity& bot) {
  std::set<std::string> names(reply.leniencies.begin(), reply.leniencies.end());
  if (!reply.message.is_object()) return names;
  json message = reply.message;
  envelope::Leniencies taken;
  const envelope::NormaliseDefaults defaults{
      .now = core::SystemClock().utc_now(),
      .sender = "player:" + bot.id,
      .conversation_id = core::ConversationId(match.conversation),
      .player_id = core::PlayerId(bot.id),
      .match_id = core::MatchId(match.id)};
  (void)envelope::normalise(message, type, envelope::Mode::kOpen, defaults, taken);
  const auto accepts_another = [&](const char* field, const json& ours, Leniency leniency) {
    if (message.contains(field) && message[field] != ours) taken.add(leniency);
  };
  accepts_another("sender", "player:" + bot.id, Leniency::kForeignReplySender);
  accepts_another("player_id", bot.id, Leniency::kForeignReplyPlayer);
  accepts_another("conversation_id", match.conversation, Leniency::kForeignConversationId);
  accepts_another("league_id", bot.league_id, Leniency::kForeignLeagueId);
  accepts_another("round_id", match.round, Leniency::kForeignRoundId);
  for (std::string_view name : taken.names()) names.emplace(name);
  return names;
}

}  // namespace league::tools::check
