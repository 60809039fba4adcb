#include "common/rpc/dialect_search.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

/// Fills in the members of an event that its message contains.
void read_message(const json& message, const std::string& match_id, MatchEvent& event) {
  const std::string& match = text_at(message, "match_id");
  if (!event.outbound && !match.empty() && match != match_id) event.failed = true;
  auto deadline = instant_at(message, "deadline");
  auto sent = instant_at(message, "timestamp");
  if (deadline && sent) event.allowed_us = *deadline - *sent;
  event.accepts = field_at(message, "accept") != json(false);
  const json& details = field_at(field_at(message, "result"), "details");
  event.is_normal = text_at(details, "termination") == "NORMAL";
  event.replays = static_cast<int>(number_at(details, "replays").value_or(0));
}

}  // namespace

/// A third-party referee may report in a conversation of its own: its messages to the manager then
/// belong to the attempt that it played last.
MatchConversation& EvidenceCollector::conversation_of(const std::string& conversation,
                                                      const std::string& match_id,
                                                      bool with_manager) {
  MatchConversation* last = nullptr;
  if (with_manager && !facts_->conversations.contains(conversation)) {
    for (auto& [name, messages] : facts_->conversations) {
      bool is_later =
          last == nullptr || (!messages.events.empty() && !last->events.empty() &&
                              messages.events.back().time_us > last->events.back().time_us);
      if (messages.match_id == match_id && is_later) last = &messages;
    }
  }
  return last != nullptr ? *last : facts_->conversations[conversation];
}

/// An answer belongs to the match and the conversation of its call, whatever the answer names.
void EvidenceCollector::take_event(const json& record, const json& body, const json& message,
                                   const OpenCall* call) {
  const std::string& match_id =
      call != nullptr && !call->match_id.empty() ? call->match_id : text_at(record, "match_id");
  if (!agent_.starts_with("referee:") || match_id.empty()) return;
  MatchEvent event{.mono_ns = number_at(record, "mono_ns").value_or(0),
                   .outbound = text_at(record, "dir") == "out",
                   .request = text_at(record, "kind") == "request",
                   .peer = text_at(record, "peer"),
                   .type = text_at(record, "message_type"),
                   .time_us = time_us_,
                   .allowed_us = {},
                   .place = place_};
  const json& error = field_at(body, "error");
  event.failed =
      text_at(record, "kind") == "failure" || record.contains("verdict") || error.is_object();
  event.unknown_method = number_at(error, "code").value_or(0) == -32601 ||
                         (!event.outbound && rpc::is_search_for_dialect(text_at(record, "fault")));
  bool is_posted = event.request && !event.outbound &&
                   (event.type == "GAME_JOIN_ACK" || event.type == "CHOOSE_PARITY_RESPONSE");
  if (is_posted) event.request = false;  // an answer by a call of its own
  if (is_posted && event.failed) return;  // whose sender is unknown
  if (call != nullptr && !event.request && !call->type.empty() &&
      event.type != reply_type_of(call->type))
    event.type.clear();
  if (message.is_object()) read_message(message, match_id, event);
  const std::string& named =
      call != nullptr ? call->conversation : text_at(record, "conversation_id");
  MatchConversation& messages = conversation_of(named, match_id, event.peer == "league_manager");
  messages.match_id = match_id;
  messages.events.push_back(std::move(event));
}

}  // namespace league::tools::auditor
