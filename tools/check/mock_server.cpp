#include "tools/check/mock_server.h"

#include <algorithm>
#include <cctype>
#include <thread>

#include "tools/check/checker_seats.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

std::string style_of(const std::string& method) {
  if (method == "tools/call") return "tools_call";
  if (method == "handle_message" || method == "mcp_message") return "handle_message";
  const bool is_upper = std::ranges::any_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_upper ? "message_type" : "tool_name";
}

std::string answer_bytes(const InboundCall& call, const MockAnswer& answer) {
  if (!answer.raw.empty()) return answer.raw;
  json frame = {{"jsonrpc", "2.0"}, {"id", call.id}};
  if (!answer.error.is_null()) {
    frame["error"] = answer.error;
  } else if (call.style == "tools_call") {
    frame["result"] = {{"content", {{{"type", "text"}, {"text", answer.result.dump()}}}},
                       {"structuredContent", answer.result},
                       {"isError", false}};
  } else {
    frame["result"] = answer.result;
  }
  return frame.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

const json& InboundCall::meta() const {
  const json& player = field_at(message, "player_meta");
  return player.is_null() ? field_at(message, "referee_meta") : player;
}

std::string InboundCall::type() const {
  std::string named = text_at(message, "message_type");
  if (!named.empty()) return named;
  if (method == "register_player") return "LEAGUE_REGISTER_REQUEST";
  if (method == "register_referee") return "REFEREE_REGISTER_REQUEST";
  if (method == "league_query") return "LEAGUE_QUERY";
  if (method == "report_match_result") return "MATCH_RESULT_REPORT";
  std::string upper = method;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

InboundCall read_call(std::string bytes) {
  InboundCall call;
  call.at = std::chrono::steady_clock::now();
  call.document = json::parse(bytes, nullptr, false);
  call.bytes = std::move(bytes);
  call.message = json::object();
  if (!call.document.is_object()) return call;
  call.method = text_at(call.document, "method");
  if (call.document.contains("id")) call.id = call.document["id"];
  call.style = call.method.empty() ? "bare" : style_of(call.method);
  json inner = call.method.empty() ? call.document : call.document.value("params", json::object());
  if (call.method == "tools/call") call.method = text_at(inner, "name");
  for (const char* wrapper : {"message", "arguments"}) {
    if (inner.is_object() && inner.contains(wrapper) && inner[wrapper].is_object()) {
      json message = inner[wrapper];
      inner = std::move(message);
    }
  }
  if (inner.is_object()) call.message = std::move(inner);
  return call;
}

core::Result<std::unique_ptr<MockServer>> MockServer::open(transport::front::HttpRuntime& runtime,
                                                           const std::string& address,
                                                           std::uint16_t port, Script script,
                                                           CheckerSeats* seats) {
  std::unique_ptr<MockServer> mock(new MockServer(seats));
  mock->script_ = std::move(script);
  mock->address_ = address;
  transport::http::HttpServerOptions options;
  options.bind_address = address;
  options.port = port;
  options.allow_hosts = {"*"};
  options.limits.max_body = 16U << 20U;
  auto server = transport::front::HttpServer::start(runtime, options, *mock);
  if (!server) return server.error();
  mock->server_ = std::move(*server);
  return mock;
}

MockServer::~MockServer() {
  if (server_) server_->stop();
}

std::string MockServer::url() const {
  const bool is_any = address_ == "0.0.0.0" || address_.empty();
  return "http://" + (is_any ? std::string("127.0.0.1") : address_) + ":" +
         std::to_string(server_->port()) + "/mcp";
}

void MockServer::set_script(Script script) {
  std::lock_guard lock(script_mutex_);
  script_ = std::move(script);
}

void MockServer::forward(std::function<bool(const InboundCall&)> wants,
                         transport::link::MessageHandler* handler) {
  std::lock_guard lock(script_mutex_);
  wants_ = std::move(wants);
  handler_ = handler;
}

void MockServer::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  if (seats_ != nullptr && seats_->take(message, reply)) return;
  InboundCall call = read_call(message.bytes.str());
  MockAnswer answer;
  {
    // The script runs before the call is stored, because waiting threads see a stored call at once.
    std::lock_guard lock(script_mutex_);
    if (handler_ != nullptr && wants_(call)) {
      {
        std::lock_guard calls_lock(mutex_);
        calls_.push_back(std::move(call));
      }
      changed_.notify_all();
      return handler_->on_message(std::move(message), std::move(reply));
    }
    answer = script_(call);
  }
  transport::link::OutboundReply out;
  out.bytes = answer_bytes(call, answer);
  out.http_status = answer.http_status;
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (answer.delay.count() > 0) {
      late_.emplace_back(
          [slot = std::move(reply), out = std::move(out), delay = answer.delay]() mutable {
            std::this_thread::sleep_for(delay);
            slot.send(std::move(out));
          });
      changed_.notify_all();
      return;
    }
  }
  changed_.notify_all();
  reply.send(std::move(out));
}

void MockServer::on_channel_closed(const transport::link::PeerChannel& channel) {
  if (seats_ != nullptr) seats_->on_channel_closed(channel);
}

std::size_t MockServer::count() const {
  std::lock_guard lock(mutex_);
  return calls_.size();
}

std::vector<InboundCall> MockServer::calls(std::size_t from) const {
  std::lock_guard lock(mutex_);
  return {calls_.begin() + static_cast<std::ptrdiff_t>(std::min(from, calls_.size())),
          calls_.end()};
}

std::optional<InboundCall> MockServer::wait_for(
    const std::function<bool(const InboundCall&)>& wanted, std::size_t from,
    std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + limit;
  std::size_t at = from;
  while (true) {
    for (; at < calls_.size(); ++at) {
      if (wanted(calls_[at])) return calls_[at];
    }
    if (changed_.wait_until(lock, until) == std::cv_status::timeout && at >= calls_.size())
      return std::nullopt;
  }
}

}  // namespace league::tools::check
