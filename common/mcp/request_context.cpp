#include "common/mcp/request_context.h"

#include <algorithm>
#include <array>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"

namespace league::mcp {
namespace {

using nlohmann::json;

constexpr auto kLevelNames = std::to_array<std::string_view>(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"});

}  // namespace

std::string_view to_string(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> parse_log_level(std::string_view name) {
  const auto* found = std::ranges::find(kLevelNames, name);
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevelNames.begin());
}

RequestContext::RequestContext(Setup setup, transport::link::ReplySlot slot)
    : setup_(std::move(setup)), slot_(std::move(slot)) {}

RequestContext::~RequestContext() {
  if (is_finished_) return;
  if (setup_.ended) setup_.ended();
  transport::link::OutboundReply reply;
  reply.http_status = 500;
  reply.bytes = rpc::encode_error(setup_.id, rpc::StandardCode::kInternalError);
  reply.notes->verdict = core::ErrorCode::kInternalError;
  reply.notes->fault = "the request was not answered";
  slot_.send(std::move(reply));
}

bool RequestContext::push(std::string bytes) {
  if (!setup_.channel) return false;
  {
    std::lock_guard lock(mutex_);
    if (is_finished_) return false;
    if (!is_configured_) setup_.channel->configure(setup_.stream);
    is_configured_ = true;
  }
  return setup_.channel->push(std::make_shared<const std::string>(std::move(bytes)));
}

bool RequestContext::notify(std::string_view method, const json& params) {
  return push(rpc::encode_notification(method, rpc::to_json_text(params)));
}

bool RequestContext::progress(const Progress& progress) {
  if (setup_.progress_token.is_null()) return false;
  json params = {{"progressToken", setup_.progress_token}, {"progress", progress.done}};
  if (progress.total) params["total"] = *progress.total;
  if (!progress.message.empty()) params["message"] = progress.message;
  return notify("notifications/progress", params);
}

bool RequestContext::log(LogLevel level, const std::string& logger, const json& data) {
  if (!setup_.log_threshold || level < *setup_.log_threshold) return false;
  json params = {{"level", to_string(level)}, {"data", data}};
  if (!logger.empty()) params["logger"] = logger;
  return notify("notifications/message", params);
}

bool RequestContext::client_has(const std::string& capability) const {
  const json& known = setup_.client_capabilities;
  return known.is_object() && known.contains(capability) && !known[capability].is_null();
}

void RequestContext::ask_client(const std::string& method, const json& params,
                                std::chrono::milliseconds timeout,
                                ClientRequests::Answered answered) {
  bool can_ask = setup_.dialect == Dialect::kLegacy && setup_.channel && !setup_.scope.empty() &&
                 setup_.client_requests != nullptr;
  if (!can_ask) {
    return answered(core::Error{core::ErrorCode::kUnexpectedMessage,
                                method + " needs a client with a session, and a stream to it", ""});
  }
  {
    std::lock_guard lock(mutex_);
    if (!is_configured_) setup_.channel->configure(setup_.stream);
    is_configured_ = true;
  }
  setup_.client_requests->ask(*setup_.channel, {setup_.scope, method, params, timeout},
                              std::move(answered));
}

void RequestContext::on_cancelled(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (is_finished_ && !is_cancelled_) return;
    if (!is_cancelled_) {
      on_cancelled_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void RequestContext::cancel() {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (is_finished_ || is_cancelled_) return;
    is_cancelled_ = true;
    callbacks.swap(on_cancelled_);
  }
  for (const auto& run : callbacks) run();
  // MCP forbids a response to a cancelled request, but HTTP requires an answer.
  transport::link::OutboundReply nothing;
  nothing.http_status = 202;
  finish(std::move(nothing));
}

void RequestContext::close_stream() {
  if (setup_.channel) setup_.channel->close();
}

void RequestContext::finish(transport::link::OutboundReply reply) {
  {
    std::lock_guard lock(mutex_);
    if (is_finished_) return;
    is_finished_ = true;
    on_cancelled_.clear();
  }
  if (setup_.ended) setup_.ended();
  slot_.send(std::move(reply));
}

void Responder::send(json result) const {
  if (context_->dialect() == Dialect::kModern) {
    bool is_plain = !result.contains("_meta") && !result.contains("resultType");
    if (!is_plain) {
      json tail = json::parse("{" + std::string(result_tail().substr(1)) + "}");
      result.emplace("resultType", tail["resultType"]);
      result["_meta"].update(tail["_meta"]);
      transport::link::OutboundReply reply;
      reply.bytes = rpc::encode_result(id(), rpc::to_json_text(result));
      return context_->finish(std::move(reply));
    }
  }
  send_text(rpc::to_json_text(result));
}

void Responder::send_text(std::string result) const {
  std::string_view tail = result_tail();
  if (!tail.empty()) {
    if (result == "{}") tail.remove_prefix(1);  // the comma
    result.insert(result.size() - 1, tail);
  }
  transport::link::OutboundReply reply;
  reply.bytes = rpc::encode_result(id(), result);
  context_->finish(std::move(reply));
}

void Responder::fail(int code, std::string_view message, const json& data, int http_status) const {
  transport::link::OutboundReply reply;
  std::string data_text = data.is_null() ? std::string() : rpc::to_json_text(data);
  reply.bytes = rpc::encode_error(id(), code, message, data_text);
  reply.http_status = http_status;
  context_->finish(std::move(reply));
}

void Responder::refuse(rpc::StandardCode code, const std::string& why, int http_status,
                       const json& data) const {
  fail(static_cast<int>(code), std::string(rpc::standard_message(code)) + ": " + why, data,
       http_status);
}

transport::link::ReplySlot Responder::take_slot() const {
  return transport::link::ReplySlot(
      [request_context = context_](transport::link::OutboundReply reply) {
        request_context->finish(std::move(reply));
      });
}

}  // namespace league::mcp
