// What a referee makes of the bot's answers: they are read by the league's own functions.
#include <algorithm>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/settings.h"
#include "common/core/clock.h"
#include "common/core/ids.h"
#include "common/envelope/leniency.h"
#include "tools/check/change.h"
#include "tools/check/game_truth.h"
#include "tools/check/mock_server.h"
#include "tools/check/player/player_bench.h"

namespace league::tools::check {

using core::Error;
using core::ErrorCode;
using envelope::Leniency;
using envelope::MessageType;
using nlohmann::json;

/// Reads answers as a referee in open mode. It calls nobody.
struct PlayerBench::Judge final : transport::link::Caller {
  void call(transport::link::OutboundCall /*call*/, Completion completion) override {
    completion({});
  }

  core::SystemClock clock;
  envelope::MessageSchemas schemas = std::move(*envelope::MessageSchemas::load());
  agent::peers::PeerClient client{*this, schemas, clock, envelope::Mode::kOpen};
  std::size_t max_reply_bytes = agent::runtime::Settings().calls.max_reply_bytes;
};

namespace {

/// The call of a referee that sent `message`, as far as its answer is compared with it.
agent::peers::PeerCall call_with(const json& message, MessageType type, const BotIdentity& bot) {
  agent::peers::PeerCall call;
  call.endpoint = bot.endpoint;
  call.peer = "player:" + bot.id;
  call.type = type;
  call.conversation_id = text_at(message, "conversation_id");
  call.match_id = text_at(message, "match_id");
  if (const auto& id = text_at(message, "league_id"); !id.empty())
    call.league_id = core::LeagueId(id);
  if (const json& round = field_at(message, "round_id"); round.is_number_integer())
    call.round_id = round.get<int>();
  call.reply_defaults.sender = call.peer;
  call.reply_defaults.conversation_id = core::ConversationId(call.conversation_id);
  call.reply_defaults.player_id = core::PlayerId(bot.id);
  call.reply_defaults.match_id = core::MatchId(call.match_id);
  return call;
}

/// Why the match refuses an answer that can be read.
std::optional<Error> fault_of(const envelope::Received<envelope::AnswerMessage>& answer,
                              const std::string& match_id) {
  if (answer.envelope.match_id && !match_id.empty() && answer.envelope.match_id->str() != match_id)
    return Error{ErrorCode::kMatchIdMismatch,
                 "match_id is \"" + answer.envelope.match_id->str() +
                     "\", but the call was for \"" + match_id + "\"",
                 "/match_id"};
  const auto* choice = std::get_if<envelope::ChooseParityResponse>(&answer.message);
  if (choice != nullptr && !is_game_word(choice->parity_choice))
    return Error{ErrorCode::kInvalidParityChoice, "parity_choice is neither \"even\" nor \"odd\"",
                 "/parity_choice"};
  return std::nullopt;
}

}  // namespace

PlayerBench::PlayerBench(Wire& wire, Options options)
    : wire_(wire), options_(std::move(options)), judge_(std::make_unique<Judge>()) {}

PlayerBench::~PlayerBench() = default;

void PlayerBench::take_registration(InboundCall call) {
  registered = judge_registration(call.bytes, judge_->schemas);
  for (const std::string& name : registered.leniencies) add_leniency(name);
  registration = std::move(call);
}

void PlayerBench::judge(BotReply& reply, const json& message, const rpc::Id& id,
                        std::string answer) const {
  reply.fault.reset();
  reply.has_joined = false;
  const auto type = envelope::message_type_from_wire(text_at(message, "message_type"));
  if (type != kInvite && type != kCall) return;
  if (!reply.has_answer()) {
    reply.fault =
        Error{reply.exchange.has_timed_out ? ErrorCode::kTimeout : ErrorCode::kConnectionError,
              reply.exchange.trouble,
              {}};
    return;
  }
  if (answer.size() > judge_->max_reply_bytes) {
    reply.fault =
        Error{ErrorCode::kReplyTooLarge,
              "the answer is larger than " + std::to_string(judge_->max_reply_bytes) + " bytes",
              {}};
    return;
  }
  transport::link::CallOutcome outcome;
  outcome.bytes = std::move(answer);
  outcome.http_status = reply.exchange.status;
  const auto judged =
      judge_->client.judge(call_with(message, *type, options_.bot), id, std::move(outcome));
  reply.fault = judged.error;
  if (!reply.fault && judged.answer)
    reply.fault = fault_of(*judged.answer, text_at(message, "match_id"));
  if (reply.fault || !judged.answer) return;
  const auto* join = std::get_if<envelope::GameJoinAck>(&judged.answer->message);
  reply.has_joined = join != nullptr && join->accept;
}

void PlayerBench::note_sent(const json& message, const BotReply& reply) {
  const std::string& type = text_at(message, "message_type");
  const std::string& match = text_at(message, "match_id");
  std::lock_guard lock(mutex_);
  if (!type.empty() && !reply.exchange.is_refused) last_sent_ = type;
  if (reply.has_joined) {
    TestMatch& open = open_[match];
    open.id = match;
    open.conversation = text_at(message, "conversation_id");
    open.opponent = text_at(message, "opponent_id");
    const json& round = field_at(message, "round_id");
    if (round.is_number_integer()) open.round = round.get<int>();
  }
  if (type == envelope::wire_name(MessageType::kGameOver)) open_.erase(match);
}

std::string PlayerBench::last_sent() const {
  std::lock_guard lock(mutex_);
  return last_sent_;
}

bool PlayerBench::is_quick() const {
  std::lock_guard lock(mutex_);
  std::vector<std::chrono::nanoseconds> times = answered_in_;
  if (times.empty()) return true;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle < milliseconds(250);
}

void PlayerBench::end_open_matches() {
  std::map<std::string, TestMatch> open;
  {
    std::lock_guard lock(mutex_);
    open.swap(open_);
  }
  for (const auto& [id, match] : open) {
    json message = match_envelope(MessageType::kGameOver, match);
    const std::string reason = "the match was not finished";
    message.update({{"game_type", tested_game()->game_type()},
                    {"reason", reason},
                    {"game_result",
                     {{"status", "TECHNICAL_LOSS"},
                      {"winner_player_id", nullptr},
                      {"drawn_number", nullptr},
                      {"number_parity", nullptr},
                      {"choices", {{options_.bot.id, nullptr}, {match.opponent, nullptr}}},
                      {"reason", reason}}}});
    (void)ask(MessageType::kGameOver, message);
  }
}

std::string BotReply::text(const std::string& field) const {
  return text_at(message, field.c_str());
}

int BotReply::code() const {
  const json& code = field_at(error, "code");
  return code.is_number_integer() ? code.get<int>() : 0;
}

std::optional<rpc::ErrorObject> BotReply::rpc_error() const {
  if (!error.is_object()) return std::nullopt;
  return rpc::ErrorObject{code(), text_at(error, "message"), field_at(error, "data")};
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

namespace {
constexpr milliseconds kPostedSoon{1000};
}

void PlayerBench::announce(const json& invitation) {
  json message = news(MessageType::kRoundAnnouncement);
  json changes = {{"matches/0/referee_endpoint", server->url()}};
  // Copy only fields that exist, since some checks omit fields of the invitation.
  for (const auto& [field, place] :
       {std::pair("round_id", "round_id"), std::pair("match_id", "matches/0/match_id"),
        std::pair("opponent_id", "matches/0/player_B_id")}) {
    if (const auto found = invitation.find(field); found != invitation.end())
      changes[place] = *found;
  }
  change(message, changes, {});
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
