#include <algorithm>

#include "common/rpc/dialect_search.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {

/// What a call of a match says.
struct SaidCall {
  struct Context {
    std::string draw_commitment;
    std::string opponent_commitment;
    std::optional<std::int64_t> attempt;
    std::optional<std::int64_t> play;
  };
  std::string draw_commitment;
  std::optional<std::int64_t> deadline_us;
  std::optional<std::int64_t> sent_us;
  Context context;

  [[nodiscard]] std::optional<std::int64_t> allowed_us() const {
    return deadline_us && sent_us ? std::optional(*deadline_us - *sent_us) : std::nullopt;
  }
};

void describe(schema::Fields& a, SaidCall::Context& context) {
  a.defaulted("draw_commitment", context.draw_commitment, "opponent_commitment",
              context.opponent_commitment, "attempt", context.attempt, "play", context.play);
}

void describe(schema::Fields& a, SaidCall& call) {
  a.defaulted("draw_commitment", call.draw_commitment, "context", call.context);
  instant(a, "deadline", call.deadline_us);
  instant(a, "timestamp", call.sent_us);
}

/// What an answer to one says.
struct SaidAnswer {
  std::string match_id;
  std::optional<bool> accept;
  std::string choice_commitment;
  std::string parity_choice;
  std::string choice;
  std::string choice_nonce;
  std::string receipt;
};

void describe(schema::Fields& a, SaidAnswer& answer) {
  a.defaulted("match_id", answer.match_id, "accept", answer.accept, "choice_commitment",
              answer.choice_commitment, "parity_choice", answer.parity_choice, "choice",
              answer.choice, "choice_nonce", answer.choice_nonce, "receipt", answer.receipt);
}
using nlohmann::json;

std::size_t EvidenceCollector::open_game_call(const Record& record, const json& message) {
  bool by_referee = agent_.starts_with("referee:") && record.is_out;
  bool to_player = agent_.starts_with("player:") && !record.is_out;
  const std::string& peer = record.peer;
  const std::string& referee = by_referee ? agent_ : text_at(message, "sender");
  if ((!by_referee && !to_player) || !referee.starts_with("referee:")) return OpenCall::kNone;
  if (by_referee && !peer.starts_with("player:")) return OpenCall::kNone;
  GameCall call;
  call.match_id = match_in(record.match_id, message);
  call.conversation = record.conversation_id;
  call.player = id_of(by_referee ? peer : agent_);
  call.referee = referee;
  call.is_invitation = type_in(record, message) == "GAME_INVITATION";
  const auto said = schema::read_loosely<SaidCall>(message);
  call.knows_opponent = !call.is_invitation;
  call.opponent_commitment = said.context.opponent_commitment;
  call.attempt = said.context.attempt;
  call.play = said.context.play;
  call.run = run_;
  call.time_us = time_us_;
  call.mono_ns = record.mono_ns;
  call.allowed_us = said.allowed_us();
  if (call.allowed_us) call.stated_us = *said.sent_us;
  call.place = place_;
  call.draw_commitment = call.is_invitation ? said.draw_commitment : said.context.draw_commitment;
  if (!call.draw_commitment.empty())
    facts_->matches.push_back(
        {call.match_id, referee, {}, {}, {}, call.draw_commitment, 0, time_us_, place_});
  facts_->calls.push_back(std::move(call));
  return facts_->calls.size() - 1;
}

void EvidenceCollector::answer(GameCall& call, const Record& record, const json& message) {
  // An answer that names another match does not answer this call.
  auto said = schema::read_loosely<SaidAnswer>(message);
  if (!said.match_id.empty() && said.match_id != call.match_id) return;
  call.is_answered = true;
  call.is_answer_accepted = !record.has_verdict;
  call.accepts = said.accept.value_or(message.is_object() && !message.contains("accept"));
  call.commitment = std::move(said.choice_commitment);
  call.choice = said.parity_choice.empty() ? said.choice : said.parity_choice;
  call.nonce = std::move(said.choice_nonce);
  call.receipt = std::move(said.receipt);
  call.answered_us = time_us_;
  call.answered_mono_ns = record.mono_ns;
  call.answer_place = place_;
}

/// Takes an answer that a bot sends as a call of its own.
void EvidenceCollector::take_posted_answer(const Record& record, const json& message,
                                           const std::string& type) {
  bool is_ack = type == "GAME_JOIN_ACK";
  if (!is_ack && type != "CHOOSE_PARITY_RESPONSE") return;
  auto call = std::find_if(facts_->calls.rbegin(), facts_->calls.rend(), [&](const GameCall& one) {
    return one.is_invitation == is_ack && !one.is_answered &&
           one.match_id == text_at(message, "match_id") && "player:" + one.player == record.peer;
  });
  if (call != facts_->calls.rend()) answer(*call, record, message);
}

namespace {

using nlohmann::json;

/// Fills in the members of an event that its message contains.
void read_message(const json& message, const std::string& match_id, MatchEvent& event) {
  const schema::JsonTree tree(message);
  const auto said = schema::read_loosely<SaidAnswer>(tree.root());
  if (!event.outbound && !said.match_id.empty() && said.match_id != match_id) event.failed = true;
  event.allowed_us = schema::read_loosely<SaidCall>(tree.root()).allowed_us();
  event.accepts = said.accept.value_or(true);
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
void EvidenceCollector::take_event(const Record& record, const json& body, const json& message,
                                   const OpenCall* call) {
  const std::string& match_id =
      call != nullptr && !call->match_id.empty() ? call->match_id : record.match_id;
  if (!agent_.starts_with("referee:") || match_id.empty()) return;
  MatchEvent event{.mono_ns = record.mono_ns,
                   .outbound = record.is_out,
                   .request = record.is_request(),
                   .peer = record.peer,
                   .type = record.message_type,
                   .time_us = time_us_,
                   .allowed_us = {},
                   .place = place_};
  const json& error = field_at(body, "error");
  event.failed = record.kind == Record::Kind::kFailure || record.has_verdict || error.is_object();
  event.unknown_method = number_at(error, "code").value_or(0) == -32601 ||
                         (!event.outbound && rpc::is_search_for_dialect(record.fault));
  bool is_posted = event.request && !event.outbound &&
                   (event.type == "GAME_JOIN_ACK" || event.type == "CHOOSE_PARITY_RESPONSE");
  if (is_posted) event.request = false;  // an answer by a call of its own
  if (is_posted && event.failed) return;  // whose sender is unknown
  if (call != nullptr && !event.request && !call->type.empty() &&
      event.type != reply_type_of(call->type))
    event.type.clear();
  if (message.is_object()) read_message(message, match_id, event);
  const std::string& named = call != nullptr ? call->conversation : record.conversation_id;
  MatchConversation& messages = conversation_of(named, match_id, event.peer == "league_manager");
  messages.match_id = match_id;
  messages.events.push_back(std::move(event));
}

}  // namespace league::tools::auditor
