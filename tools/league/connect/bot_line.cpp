#include "tools/league/connect/bot_line.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "common/agent/dialects/call_dialects.h"
#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/envelope/message_type.h"
#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "tools/league/up/table_text.h"

namespace league::tools::connection {
namespace {

using agent::dialects::CallStyle;
using core::Error;
using core::ErrorCode;
using nlohmann::json;
using transport::link::CallOutcome;
using transport::link::Endpoint;

/// The longest that a caller waits, by the default limits; an answer after that is of no use.
constexpr std::chrono::seconds kUseful{30};
constexpr std::chrono::milliseconds kShortestPause{100};
constexpr std::chrono::milliseconds kLongestPause{2000};

std::string answer_with(const rpc::Id& id, const char* member, json value) {
  json frame = {{"jsonrpc", "2.0"}, {"id", id}};
  frame[member] = std::move(value);
  return rpc::to_json_text(frame);
}

std::string acknowledgement(const rpc::Id& id) {
  return answer_with(id, "result", {{"status", "ok"}});
}

std::string with_id(const std::string& frame, const rpc::Id& id) {
  auto document = schema::parse_json(frame);
  if (!document || !document->is_object()) return frame;
  (*document)["id"] = id;
  return rpc::to_json_text(*document);
}

/// What the bot has said, as an answer to the request `id`: by that the seat finds the call. Bots
/// that are called over HTTP may leave it out, and the frame as well.
std::string frame_of(const CallOutcome& outcome, const rpc::Id& id) {
  const auto frame = rpc::peek_frame(outcome.bytes);
  if (frame.kind == rpc::FrameKind::kResponse && frame.id == id) return outcome.bytes.str();
  if (frame.kind == rpc::FrameKind::kResponse) return with_id(outcome.bytes.str(), id);
  auto document = schema::parse_json(outcome.bytes);
  const bool is_good = outcome.http_status == 0 || outcome.http_status / 100 == 2;
  if (document && document->is_object() && is_good)
    return answer_with(id, "result", std::move(*document));
  if (is_good && outcome.bytes.empty()) return acknowledgement(id);
  const std::string status = "HTTP status " + std::to_string(outcome.http_status);
  return answer_with(id, "error",
                     {{"code", static_cast<int>(rpc::StandardCode::kInternalError)},
                      {"message", "the bot's answer is no JSON-RPC" +
                                      (outcome.http_status == 0 ? "" : ", with " + status)}});
}

/// A request of a league, taken apart; nothing if it is none.
std::optional<agent::dialects::IncomingRequest> read_request(
    const agent::dialects::RequestReader& reader, const std::string& bytes) {
  auto document = schema::parse_json(bytes);
  if (!document || !document->is_object()) return std::nullopt;
  auto decoded = rpc::decode(std::move(*document), {.refuse_null_id = true});
  auto* frame = std::get_if<rpc::Message>(&decoded.frames.front());
  if (frame == nullptr || !std::holds_alternative<rpc::Request>(*frame)) return std::nullopt;
  auto read = reader.read(std::move(*frame));
  auto* request = std::get_if<agent::dialects::IncomingRequest>(&read);
  return request == nullptr ? std::nullopt : std::optional(std::move(*request));
}

}  // namespace

core::Result<std::unique_ptr<BotLine>> BotLine::open(const Context& context, Say say) {
  transport::caller::EndpointCallerOptions options;
  options.lines.on_stderr = [](std::string_view /*command*/, std::string_view line) {
    std::cerr << "bot: " << safe_text(std::string(line)) << std::endl;
  };
  auto caller = transport::caller::EndpointCaller::create(context.loop, context.timer,
                                                          context.clock, options);
  if (!caller) return caller.error();
  return std::unique_ptr<BotLine>(new BotLine(context, std::move(*caller), std::move(say)));
}

BotLine::BotLine(const Context& context, std::unique_ptr<transport::caller::EndpointCaller> caller,
                 Say say)
    : context_(context),
      say_(std::move(say)),
      reader_{.receiver = envelope::Role::kPlayer,
              .is_tool = [](std::string_view) { return true; }},
      caller_(std::move(caller)),
      sessions_(std::make_unique<agent::peers::PlainMcpSessions>(
          context.loop, context.timer, context.clock,
          transport::line::SubprocessOptions{
              .on_stderr =
                  [](std::string_view /*command*/, std::string_view line) {
                    std::cerr << "bot: " << safe_text(std::string(line)) << std::endl;
                  }})),
      scope_(task::Executor(), agent::runtime::failures_logged("a call of the bot")) {}

BotLine::~BotLine() {
  scope_.stop();
  sessions_->close();
  caller_->close();
}

void BotLine::set_bot(Endpoint bot) {
  scope_.executor().post([this, bot = std::move(bot)] {
    if (bot_ == bot) return;
    bot_ = bot;
    kind_ = Kind::kUnknown;
    named_.open(true);
  });
}

void BotLine::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  auto frame = rpc::peek_frame(message.bytes);
  if (frame.kind != rpc::FrameKind::kRequest || frame.id.is_null()) {
    transport::link::OutboundReply nothing;
    nothing.http_status = 202;
    return reply.send(std::move(nothing));
  }
  auto slot = std::make_shared<transport::link::ReplySlot>(std::move(reply));
  scope_.spawn(pass({.bytes = message.bytes.str(),
                     .id = std::move(frame.id),
                     .until = context_.clock.steady_now() + kUseful},
                    [slot](std::string answer) {
                      transport::link::OutboundReply out;
                      out.bytes = std::move(answer);
                      slot->send(std::move(out));
                    }));
}

void BotLine::tell_registration(const std::string& answer) {
  const auto& row = envelope::spec(envelope::MessageType::kLeagueRegisterResponse);
  const rpc::Id id("connect-registration");
  scope_.spawn(pass({.bytes = rpc::encode_request(id, row.method, answer),
                     .id = id,
                     .until = context_.clock.steady_now() + kUseful},
                    [](const std::string&) {}));
}

task::Task<void> BotLine::pass(Passing call, std::function<void(std::string answer)> answered) {
  while (!bot_) co_await named_.wait();
  const rpc::Id id = call.id;
  // The caller has given up a call with this id, and the bot may still answer that.
  const bool is_taken = !pending_.insert(id).second;
  if (is_taken) {
    call.id = rpc::Id("connect-" + std::to_string(++next_id_));
    call.bytes = with_id(call.bytes, call.id);
    pending_.insert(call.id);
  }
  const rpc::Id used = call.id;
  const auto bot = *bot_;
  auto said = co_await answer(std::move(call), bot);
  pending_.erase(used);
  if (said) note_refusal(*said);
  // Silence is answered with silence.
  answered(!said ? std::string() : is_taken ? with_id(*said, id) : std::move(*said));
}

task::Task<std::optional<std::string>> BotLine::answer(Passing call, Endpoint bot) {
  // A child process is most likely an MCP server, which may ignore messages before the handshake.
  const bool is_tool_first =
      kind_ == Kind::kPlainMcp || (kind_ == Kind::kUnknown && bot.scheme == "stdio");
  if (is_tool_first) {
    auto said = co_await call_tool(call, bot);
    if (kind_ == Kind::kPlainMcp) co_return said;
  }
  const CallOutcome outcome = co_await reach(call, bot, false);
  if (outcome.error) co_return std::nullopt;
  const json answer = schema::parse_json(outcome.bytes).value_or(json());
  const bool has_result = answer.is_object() && answer.contains("result");
  if (has_result) kind_ = Kind::kLeague;
  if (kind_ == Kind::kUnknown && !is_tool_first) {
    const json& error = schema::field_at(answer, "error");
    const rpc::ErrorObject object{
        .code = static_cast<int>(schema::number_at(error, "code").value_or(0)),
        .message = schema::text_at(error, "message"),
        .data = nullptr};
    if (agent::dialects::looks_like_plain_mcp(outcome.http_status,
                                              error.is_object() ? &object : nullptr)) {
      auto said = co_await call_tool(call, bot);
      if (kind_ == Kind::kPlainMcp) co_return said;
    }
  }
  co_return frame_of(outcome, call.id);
}

task::Task<std::optional<std::string>> BotLine::call_tool(Passing call, Endpoint bot) {
  const auto request = read_request(reader_, call.bytes);
  if (!request) co_return std::nullopt;
  if (kind_ == Kind::kPlainMcp && request->method == "ping") co_return acknowledgement(call.id);
  std::vector<agent::dialects::CallDialect> ways{{CallStyle::kMcp, request->method}};
  if (request->type) ways = agent::dialects::call_dialects(*request->type, CallStyle::kMcp);
  std::optional<std::string> refusal;
  for (const auto& way : ways) {
    Passing tool = call;
    tool.bytes = agent::dialects::frame_call(way, call.id, rpc::to_json_text(request->message));
    const CallOutcome outcome = co_await reach(std::move(tool), bot, true);
    if (outcome.error) co_return std::nullopt;
    kind_ = Kind::kPlainMcp;
    auto document = schema::parse_json(outcome.bytes);
    if (!document) co_return std::nullopt;
    const auto reply = agent::dialects::read_reply(std::move(*document), call.id, CallStyle::kMcp);
    if (!reply) co_return frame_of(outcome, call.id);
    if (!reply->error) {
      if (!reply->message.is_object()) co_return acknowledgement(call.id);
      co_return answer_with(call.id, "result", reply->message);
    }
    refusal = answer_with(call.id, "error",
                          {{"code", reply->error->code == 0 ? -32603 : reply->error->code},
                           {"message", reply->error->message},
                           {"data", reply->error->data}});
    // Tools have no codes; -32602 is how MCP says that there is no such tool.
    const bool is_unknown =
        reply->error->code == static_cast<int>(rpc::StandardCode::kInvalidParams) ||
        agent::dialects::says_no_such_method(*reply->error, way, false);
    if (!is_unknown) co_return refusal;
  }
  // A server that only plays has no tools for news.
  const bool is_news = request->type && !envelope::spec(*request->type).reply;
  co_return is_news ? acknowledgement(call.id) : refusal;
}

task::Task<CallOutcome> BotLine::reach(Passing call, Endpoint bot, bool in_session) {
  transport::link::Caller& way = in_session ? sessions_->caller() : *caller_;
  std::chrono::milliseconds pause = kShortestPause;
  while (true) {
    transport::link::OutboundCall out;
    out.bytes = call.bytes;
    out.endpoint = bot;
    out.deadline = call.until;
    out.budget = transport::link::Budget::kGame;
    out.id = call.id;
    out.is_repeatable = true;
    auto outcome = co_await task::called_back<CallOutcome>(
        [&](auto then) { way.call(std::move(out), std::move(then)); });
    const bool is_no_server = in_session && sessions_->refusals()(bot);
    if (!is_no_server) note(outcome, bot.url());
    const bool is_away = outcome.error && outcome.error->code == ErrorCode::kConnectionError;
    if (!is_away || is_no_server || context_.clock.steady_now() + pause >= call.until)
      co_return outcome;
    co_await task::sleep_for(context_.timer, pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

void BotLine::note(const CallOutcome& outcome, const std::string& bot) {
  if (!outcome.error) {
    if (std::exchange(is_missed_, false)) say_("the bot is there again");
    return;
  }
  const bool is_away = outcome.error->code == ErrorCode::kConnectionError;
  if (is_away && !std::exchange(is_missed_, true))
    say_("the bot cannot be reached, so its calls wait: " + outcome.error->message);
  if (outcome.error->code == ErrorCode::kTimeout) say_("no answer of the bot at " + bot);
}

void BotLine::note_refusal(const std::string& answer) {
  if (is_refusing_) return;
  const json document = schema::parse_json(answer).value_or(json());
  const json& error = schema::field_at(document, "error");
  const std::string& code = schema::text_at(schema::field_at(error, "data"), "error_code");
  is_refusing_ = code == core::wire_code(ErrorCode::kAuthTokenInvalid) ||
                 code == core::wire_code(ErrorCode::kAuthTokenMissing) ||
                 schema::number_at(error, "code") ==
                     static_cast<std::int64_t>(rpc::StandardCode::kInvalidRequest);
  if (is_refusing_)
    say_("the bot refuses a call: " + schema::text_at(error, "message") +
         " (a bot that registers itself must do that here: see --listen)");
}

}  // namespace league::tools::connection
