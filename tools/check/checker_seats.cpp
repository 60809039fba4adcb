#include "tools/check/checker_seats.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "common/core/clock.h"
#include "common/rpc/frame_peek.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::tools::check {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

namespace {

// A checker calls a bot more often at once than a league does.
constexpr agent::seats::SeatLimits kLimits{.open_calls = 1000, .open_bytes = 64U << 20U};

transport::link::OutboundReply gone() {
  transport::link::OutboundReply out;
  constexpr int kBadGateway = 502;
  out.http_status = kBadGateway;
  return out;
}

}  // namespace

CheckerSeats::CheckerSeats(transport::link::Caller& others)
    : refusal_([this](const Error& error, const rpc::MessageNotes& /*request*/,
                      const core::ConversationId& conversation) {
        return league_error(error, conversation);
      }),
      seats_(timer_, clock_, random_, agent::runtime::failures_logged("a seat"), kLimits),
      caller_(others, &seats_, clock_),
      tools_(seats_, clock_,
             {.token_of = [this](const std::string& player) { return token_of(player); },
              .on_seated = [this](const std::string& /*player*/,
                                  agent::seats::Line /*line*/) { note_session(); }}) {}

std::optional<core::AuthToken> CheckerSeats::token_of(const std::string& player) const {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(player);
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

void CheckerSeats::note_session() {
  {
    const std::lock_guard lock(mutex_);
    ++opened_;
  }
  changed_.notify_all();
}

CheckerSeats::~CheckerSeats() { seats_.stop(); }

json CheckerSeats::league_error(const Error& error,
                                const core::ConversationId& conversation) const {
  return {{"protocol", "league.v2"},
          {"message_type", "LEAGUE_ERROR"},
          {"sender", "league_manager"},
          {"timestamp", clock_.utc_now().to_wire()},
          {"conversation_id", conversation.str()},
          {"error_code", core::wire_code(error.code)},
          {"error_name", core::error_info(error.code).name},
          {"error_description", error.message},
          {"retryable", false}};
}

void CheckerSeats::expect(const std::string& player, core::AuthToken token) {
  const std::lock_guard lock(mutex_);
  tokens_.insert_or_assign(player, std::move(token));
}

bool CheckerSeats::take(transport::link::Inbound& message, transport::link::ReplySlot& reply) {
  const auto frame = rpc::peek_frame(message.bytes);
  // A connection has a channel and no watch.
  const bool is_connection = message.channel && !message.watch;
  if (is_connection && frame.kind == rpc::FrameKind::kResponse) {
    if (loses(message.bytes.str())) {
      message.channel->close();
    } else if (!seats_.take_answer(*message.channel, message.bytes)) {
      return false;
    }
    reply.send({});
    return true;
  }
  if (frame.kind != rpc::FrameKind::kRequest) return false;
  const bool is_wrapped = frame.method == "tools/call";
  if (!is_wrapped && frame.method != "open_seat" && frame.method != "await_calls") return false;
  const auto document = schema::parse_json(message.bytes);
  if (!document) return false;
  const json& params = schema::field_at(*document, "params");
  const std::string method = is_wrapped ? schema::text_at(params, "name") : frame.method;
  if (method != "open_seat" && method != "await_calls") return false;
  serve_tool(method, is_wrapped ? schema::field_at(params, "arguments") : params, message, reply);
  return true;
}

void CheckerSeats::serve_tool(const std::string& method, json arguments,
                              transport::link::Inbound& message,
                              transport::link::ReplySlot& reply) {
  const auto frame = rpc::peek_frame(message.bytes);
  const std::string session = schema::text_at(arguments, "session");
  const bool is_poll = method == "await_calls";
  const json& answers = schema::field_at(arguments, "answers");
  const bool is_lost =
      is_poll && answers.is_array() && !answers.empty() && loses(answers.front().dump());
  bool is_forgotten = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_poll) known_.insert(session);
    if (is_lost) forgotten_.insert(session);
    is_forgotten = forgotten_.contains(session);
    if (!is_poll) connection_ = message.watch ? nullptr : message.channel;
  }
  if (is_lost) return reply.send(gone());
  const auto shape = frame.method == "tools/call" ? agent::dialects::ReplyShape::kToolResult
                                                  : agent::dialects::ReplyShape::kResult;
  agent::host::ToolCall call{
      .arguments = std::move(arguments),
      .context = message.context,
      .reply = agent::peers::Reply(
          std::move(reply), {.id = frame.id, .shape = shape, .request = message.notes}, &refusal_),
      .channel = message.channel,
      .notes = message.notes};
  if (is_forgotten) {
    return call.reply.refuse({ErrorCode::kAuthTokenInvalid,
                              "session is not that of a seat: open one with open_seat",
                              "/session"});
  }
  is_poll ? tools_.await_calls(std::move(call)) : tools_.open_seat(std::move(call));
}

bool CheckerSeats::loses(const std::string& answer) {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_losing_, false)) return false;
    lost_ = answer;
  }
  changed_.notify_all();
  return true;
}

void CheckerSeats::on_channel_closed(const transport::link::PeerChannel& channel) {
  seats_.on_channel_closed(channel);
}

std::size_t CheckerSeats::sessions() const {
  const std::lock_guard lock(mutex_);
  return opened_;
}

bool CheckerSeats::wait_for_session(std::size_t count, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return opened_ > count; });
}

void CheckerSeats::forget_sessions() {
  std::shared_ptr<transport::link::PeerChannel> connection;
  {
    const std::lock_guard lock(mutex_);
    forgotten_.insert(known_.begin(), known_.end());
    connection = std::exchange(connection_, nullptr);
  }
  if (connection) connection->close();
}

void CheckerSeats::lose_next_answer() {
  const std::lock_guard lock(mutex_);
  is_losing_ = true;
  lost_.reset();
}

std::optional<std::string> CheckerSeats::lost_answer() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void CheckerSeats::take_over(const std::string& player) {
  seats_.open(player, seats_.name_session(player), agent::seats::Line::kPoll, nullptr);
}

core::Result<transport::link::Endpoint> place_of(const std::string& contact_endpoint,
                                                 const std::string& player) {
  if (contact_endpoint != agent::seats::kOutward)
    return transport::link::parse_endpoint(contact_endpoint);
  transport::link::Endpoint seat;
  seat.scheme = agent::seats::kSeatScheme;
  seat.path = player;
  return seat;
}

}  // namespace league::tools::check
